"""SMT: the hierarchical phrase-based model, and learners of its log-linear weights."""

from dataclasses import replace

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.value import SourceValue
from learners.oracles.k_best import statistical_k_best_oracle
from learners.oracles.statistical import FullInformationReranker
from learners.seed_models.catalogue import REFERENCES, SMT, SMT_ORACLE
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.sampling_controls import ForestSampling, KBestSampling
from learners.smt.static_log_linear import StaticLogLinear
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.systems.system import (
    NO_STEPS,
    OURS,
    TASK_PAPER,
    BanditSystem,
    Family,
    NonLearningSystem,
    ReferencesSystem,
    SamplingSystem,
)

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

WORDS = TargetNgramConfig()

FAMILY = Family(
    name="SMT",
    static="SMT-static",
    oracle="SMT-oracle",
    k_best_oracle="SMT-k-best-oracle",
    full_information="SMT-full-information",
    post_edits="SMT-ADAPT-full-information",
)

SYSTEMS = (
    NonLearningSystem(
        name="SMT-static",
        description="a hierarchical phrase-based model, with weights tuned on out-of-domain text",
        origin=f"{TASK_PAPER}, section 4.1",
        family=FAMILY,
        seed_models=(SMT,),
        learner=StaticLogLinear,
    ),
    NonLearningSystem(
        name="SMT-oracle",
        description="SMT-static trained on the references as well: full information, not a participant",
        origin=f"{TASK_PAPER}, section 4.3",
        family=FAMILY,
        seed_models=(SMT_ORACLE,),
        learner=StaticLogLinear,
    ),
    ReferencesSystem(
        name="SMT-k-best-oracle",
        description=f"proposes the best of SMT-static's {WORDS.candidates}-best list: all that reranking could gain",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT, REFERENCES),
        learner=statistical_k_best_oracle,
        config=WORDS.candidates,
        stochastic=False,
    ),
    ReferencesSystem(
        name="SMT-full-information",
        description="SMT-EL-WORDS that plays the best candidate, then sees the reference: all candidates teach it",
        origin=OURS,
        family=FAMILY,
        control="SMT-static",
        seed_models=(SMT, REFERENCES),
        learner=FullInformationReranker,
        config=replace(WORDS, weight_scale=WEIGHT_SCALE),
        stochastic=False,
    ),
    SamplingSystem(
        name="SMT-sampling",
        description="samples as the SMT-EL-CV learners do, and does not learn: their control",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT,),
        learner=ForestSampling,
        config=EL_ADAM,
    ),
    SamplingSystem(
        name="SMT-k-best-sampling",
        description="samples as SMT-EL-WORDS does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT,),
        learner=KBestSampling,
        config=WORDS,
    ),
    BanditSystem(
        name="SMT-perturbed",
        description="perturbs the weights as SMT-SZO-CV-ADAM does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(SMT,),
        learner=LogLinearZerothOrderLearner,
        config=replace(SZO_ADAM, optimiser=NO_STEPS),
        control_variate=NoControlVariate,
    ),
    BanditSystem(
        name="SMT-EL-CV-ADADELTA",
        description="expected loss on the weights, Adadelta, running mean of rewards as control variate",
        origin=f"{TASK_PAPER}, section 5.1",
        family=FAMILY,
        control="SMT-sampling",
        seed_models=(SMT,),
        learner=LogLinearExpectedLossLearner,
        config=EL_ADADELTA,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-EL-CV-ADAM",
        description="SMT-EL-CV-ADADELTA with Adam",
        origin=f"{TASK_PAPER}, section 5.1",
        family=FAMILY,
        control="SMT-sampling",
        seed_models=(SMT,),
        learner=LogLinearExpectedLossLearner,
        config=EL_ADAM,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-SZO-CV-ADAM",
        description="one-point zeroth order on the weights: plays the best translation under perturbed weights",
        origin=f"{TASK_PAPER}, section 5.1",
        family=FAMILY,
        control="SMT-perturbed",
        seed_models=(SMT,),
        learner=LogLinearZerothOrderLearner,
        config=SZO_ADAM,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="SMT-EL-WORDS",
        description="expected loss over k-best lists: learns weights of words and word pairs, not the tuned ones",
        origin=OURS,
        family=FAMILY,
        control="SMT-k-best-sampling",
        seed_models=(SMT,),
        learner=TargetNgramLearner,
        config=WORDS,
        control_variate=SourceValue,
    ),
)
