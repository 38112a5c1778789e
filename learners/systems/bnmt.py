"""BNMT: the network on subwords, from byte pair encoding."""

from dataclasses import replace
from functools import partial

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.neural_sampling import NeuralSampling
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.token_credit import TokenCreditConfig, TokenCreditLearner
from learners.bandit.value import SourceValue
from learners.bandit.zeroth_order import ZerothOrderConfig, ZerothOrderLearner
from learners.nmt.static import StaticTranslator
from learners.oracles.k_best import neural_k_best_oracle
from learners.oracles.neural import MinimumRiskConfig, MinimumRiskLearner
from learners.seed_models.catalogue import BNMT, BNMT_CONTROL, BNMT_ORACLE, REFERENCES
from learners.systems.published import PUBLISHED_ADAM, published_expected_loss
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

BEAM = 12
SZO = ZerothOrderConfig(optimiser=replace(PUBLISHED_ADAM.optimiser, clip_norm=None))

# Our own learners. Every step learns from three times as many old experiences as new ones: high rewards are rare, and
# worth repeating.
REPLAY_ADAM = OptimiserConfig(Method.ADAM, learning_rate=3e-4)
NEW_ROUNDS, REPLAYED_ROUNDS = 8, 24  # per step
SAFEGUARDS = SafeguardConfig(max_length_ratio=1.1, min_length_ratio=0.9, exclude_loops=True)
EL_VALUE = ExpectedLossConfig(
    optimiser=REPLAY_ADAM,
    # At a low temperature, samples cost little reward, and still differ enough to learn from.
    schedule=AnnealingSchedule(temperature=0.3, start=None),
    safeguards=replace(SAFEGUARDS, min_entropy=0.05, entropy_bonus=0.01, negative_advantage_weight=0.3),
    batch=NEW_ROUNDS,
    replay_batch=REPLAYED_ROUNDS,
    dropout=0.1,
)
IMPUTE = TokenCreditConfig(
    optimiser=EL_VALUE.optimiser,
    schedule=EL_VALUE.schedule,
    safeguards=EL_VALUE.safeguards,
    batch=EL_VALUE.batch,
    replay_batch=EL_VALUE.replay_batch,
    dropout=EL_VALUE.dropout,
)
REPLAY = SelfImitationConfig(
    optimiser=REPLAY_ADAM, safeguards=SAFEGUARDS, batch=NEW_ROUNDS, replay_batch=REPLAYED_ROUNDS
)

FULL_INFORMATION = MinimumRiskConfig(
    optimiser=REPLAY_ADAM,
    candidates=BEAM,
    batch=NEW_ROUNDS,
    replay_batch=REPLAYED_ROUNDS,
    dropout=EL_VALUE.dropout,
)

FAMILY = Family(
    name="BNMT",
    static="BNMT-static",
    oracle="BNMT-oracle",
    k_best_oracle="BNMT-k-best-oracle",
    full_information="BNMT-full-information",
    post_edits="BNMT-ADAPT-full-information",
    continued_training="BNMT-control",
)

SYSTEMS = (
    NonLearningSystem(
        name="BNMT-static",
        description="the subword model as pre-trained, greedy: where the BNMT learners start",
        origin=f"{TASK_PAPER}, section 4.2",
        family=FAMILY,
        seed_models=(BNMT,),
        learner=partial(StaticTranslator, beam=1),
    ),
    NonLearningSystem(
        name="BNMT-beam",
        description="BNMT-static with beam 12: what search alone is worth",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT,),
        learner=partial(StaticTranslator, beam=BEAM),
    ),
    NonLearningSystem(
        name="BNMT-control",
        description="BNMT-static after continued training on its own text: what training without feedback is worth",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT_CONTROL,),
        learner=partial(StaticTranslator, beam=1),
    ),
    NonLearningSystem(
        name="BNMT-oracle",
        description="BNMT-static after continued training on the references: full information, not a participant",
        origin=f"{TASK_PAPER}, section 4.3",
        family=FAMILY,
        seed_models=(BNMT_ORACLE,),
        learner=partial(StaticTranslator, beam=1),
    ),
    ReferencesSystem(
        name="BNMT-k-best-oracle",
        description=f"proposes the best of BNMT-static's beam of {BEAM}: all that reranking could gain",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT, REFERENCES),
        learner=neural_k_best_oracle,
        config=BEAM,
        stochastic=False,
    ),
    ReferencesSystem(
        name="BNMT-full-information",
        description="plays greedily, sees each reference after its round, and learns from the rewards of a whole beam",
        origin=OURS,
        family=FAMILY,
        control="BNMT-static",
        seed_models=(BNMT, REFERENCES),
        learner=MinimumRiskLearner,
        config=FULL_INFORMATION,
        stochastic=True,
    ),
    SamplingSystem(
        name="BNMT-sampling",
        description="samples at a low temperature as BNMT-EL-VALUE does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT,),
        learner=NeuralSampling,
        config=EL_VALUE.schedule,
    ),
    SamplingSystem(
        name="BNMT-sampling-T1",
        description="samples at temperature 1 as BNMT-EL does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT,),
        learner=NeuralSampling,
        config=PUBLISHED_ADAM.schedule,
    ),
    BanditSystem(
        name="BNMT-perturbed",
        description="perturbs the parameters as BNMT-SZO-CV does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(BNMT,),
        learner=ZerothOrderLearner,
        config=replace(SZO, optimiser=NO_STEPS),
        control_variate=NoControlVariate,
    ),
    BanditSystem(
        name="BNMT-EL",
        description="expected loss on the subword model, Adam, no control variate",
        origin=f"{TASK_PAPER}, section 5.2",
        family=FAMILY,
        control="BNMT-sampling-T1",
        seed_models=(BNMT,),
        learner=published_expected_loss,
        config=PUBLISHED_ADAM,
        control_variate=NoControlVariate,
    ),
    BanditSystem(
        name="BNMT-EL-CV",
        description="BNMT-EL with the running mean of rewards as control variate",
        origin=f"{TASK_PAPER}, section 5.2",
        family=FAMILY,
        control="BNMT-sampling-T1",
        seed_models=(BNMT,),
        learner=published_expected_loss,
        config=PUBLISHED_ADAM,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="BNMT-SZO-CV",
        description="one-point zeroth order on all parameters: plays perturbed models, needs no backpropagation",
        origin=f"{TASK_PAPER}, section 5.1 (there for SMT only)",
        family=FAMILY,
        control="BNMT-perturbed",
        seed_models=(BNMT,),
        learner=ZerothOrderLearner,
        config=SZO,
        control_variate=RunningMean,
    ),
    BanditSystem(
        name="BNMT-EL-VALUE",
        description="expected loss at a low temperature, with a learned value of each source as baseline, replay and "
        "safeguards",
        origin=OURS,
        family=FAMILY,
        control="BNMT-sampling",
        seed_models=(BNMT,),
        learner=ExpectedLossLearner,
        config=EL_VALUE,
        control_variate=SourceValue,
    ),
    BanditSystem(
        name="BNMT-IMPUTE",
        description="BNMT-EL-VALUE with an advantage for each token, from rewards decoded into n-gram matches",
        origin=OURS,
        family=FAMILY,
        control="BNMT-sampling",
        seed_models=(BNMT,),
        learner=TokenCreditLearner,
        config=IMPUTE,
        control_variate=SourceValue,
    ),
    BanditSystem(
        name="BNMT-REPLAY",
        description="plays greedily and imitates its translations that earned more than expected, repeatedly",
        origin=OURS,
        family=FAMILY,
        control="BNMT-static",
        seed_models=(BNMT,),
        learner=SelfImitationLearner,
        config=REPLAY,
        control_variate=SourceValue,
    ),
)
