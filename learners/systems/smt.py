"""SMT: the hierarchical phrase-based model, and learners of its log-linear weights."""

from learners.bandit.control_variates import RunningMean
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.value import SourceValue
from learners.seed_models.catalogue import SMT, SMT_ORACLE
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.static_log_linear import StaticLogLinear
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.systems.system import OURS, TASK_PAPER, BanditSystem, NonLearningSystem

# Times the tuned weights, whose absolute values sum to 1. At 10, samples lose much reward; at 100, they hardly differ.
WEIGHT_SCALE = 30.0
EL_ADADELTA = LogLinearExpectedLossConfig(
    optimiser=OptimiserConfig(Method.ADADELTA, learning_rate=1.0, clip_norm=None), weight_scale=WEIGHT_SCALE
)
EL_ADAM = LogLinearExpectedLossConfig(
    optimiser=OptimiserConfig(Method.ADAM, learning_rate=0.01, clip_norm=None), weight_scale=WEIGHT_SCALE
)
SZO_ADAM = LogLinearZerothOrderConfig(
    optimiser=OptimiserConfig(Method.ADAM, learning_rate=0.003, clip_norm=None), weight_scale=WEIGHT_SCALE
)

SYSTEMS = (
    NonLearningSystem(
        name="SMT-static",
        description="a hierarchical phrase-based model, with weights tuned on out-of-domain text",
        origin=f"{TASK_PAPER}, section 4.1",
        seed_models=(SMT,),
        learner=StaticLogLinear,
    ),
    NonLearningSystem(
        name="SMT-oracle",
        description="SMT-static trained on the references as well: full information, not a participant",
        origin=f"{TASK_PAPER}, section 4.3",
        seed_models=(SMT_ORACLE,),
        learner=StaticLogLinear,
    ),
    BanditSystem(
        name="SMT-EL-CV-ADADELTA",
        description="expected loss on the weights, Adadelta, running mean of rewards as control variate",
        origin=f"{TASK_PAPER}, section 5.1",
        seed_models=(SMT,),
        learner=LogLinearExpectedLossLearner,
        config=EL_ADADELTA,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-EL-CV-ADAM",
        description="SMT-EL-CV-ADADELTA with Adam",
        origin=f"{TASK_PAPER}, section 5.1",
        seed_models=(SMT,),
        learner=LogLinearExpectedLossLearner,
        config=EL_ADAM,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-SZO-CV-ADAM",
        description="one-point zeroth order on the weights: plays the best translation under perturbed weights",
        origin=f"{TASK_PAPER}, section 5.1",
        seed_models=(SMT,),
        learner=LogLinearZerothOrderLearner,
        config=SZO_ADAM,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-EL-WORDS",
        description="expected loss over k-best lists: learns weights of words and word pairs, not the tuned ones",
        origin=OURS,
        seed_models=(SMT,),
        learner=TargetNgramLearner,
        config=TargetNgramConfig(),
        control_variate=SourceValue,
    ),
)
