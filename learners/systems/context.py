"""Context-aware systems: they read the sentences of a document before the one that they translate."""

from dataclasses import replace

from learners.bandit.control_variates import ControlVariate, NoControlVariate
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.value import SourceValue
from learners.context.expected_loss import ContextExpectedLossConfig, ContextExpectedLossLearner
from learners.context.playing import ContextPlayer
from learners.contract import Learner
from learners.seed_models.catalogue import CADEC, CONCAT, CONTEXT_BASE, S_HIER_TO_2_TIED
from learners.seed_models.contextual import ContextModel
from learners.systems.system import NO_STEPS, OURS, BanditSystem, Family, NonLearningSystem

CONTEXT_PAPER = "Voita et al. 2019"  # When a Good Translation is Wrong in Context

FAMILY = Family(name="CONTEXT", static="CONTEXT-static")
EL_VALUE = ContextExpectedLossConfig(optimiser=OptimiserConfig(Method.ADAM, learning_rate=3e-4))
SAMPLING = replace(EL_VALUE, optimiser=NO_STEPS)


def _play(model: ContextModel) -> Learner:
    return ContextPlayer(model.translator)


def _learn(
    model: ContextModel, config: ContextExpectedLossConfig, control_variate: ControlVariate, *, seed: int
) -> Learner:
    return ContextExpectedLossLearner(model.translator, config, control_variate, seed=seed)


SYSTEMS = (
    NonLearningSystem(
        name="CONTEXT-static",
        description="a Transformer without context, beam 4: the base model of CONTEXT-cadec",
        origin=f"{CONTEXT_PAPER}, section 6.1",
        family=FAMILY,
        seed_models=(CONTEXT_BASE,),
        learner=_play,
    ),
    NonLearningSystem(
        name="CONTEXT-concat",
        description="a Transformer that reads and writes a group of up to four sentences",
        origin=f"{CONTEXT_PAPER}, section 6.1",
        family=FAMILY,
        seed_models=(CONCAT,),
        learner=_play,
    ),
    NonLearningSystem(
        name="CONTEXT-s-hier-to-2.tied",
        description="a recurrent network with attention to the previous sentence, too",
        origin=f"{CONTEXT_PAPER}, section 6.1; Bawden et al. 2018",
        family=FAMILY,
        seed_models=(S_HIER_TO_2_TIED,),
        learner=_play,
    ),
    NonLearningSystem(
        name="CONTEXT-cadec",
        description="a second decoder that corrects the draft of CONTEXT-static in context",
        origin=f"{CONTEXT_PAPER}, section 4",
        family=FAMILY,
        seed_models=(CADEC,),
        learner=_play,
    ),
    BanditSystem(
        name="CONTEXT-concat-sampling",
        description="CONTEXT-concat that samples at a low temperature, and does not learn: a control",
        origin=OURS,
        family=FAMILY,
        seed_models=(CONCAT,),
        learner=_learn,
        config=SAMPLING,
        control_variate=NoControlVariate,
    ),
    BanditSystem(
        name="CONTEXT-concat-EL-VALUE",
        description="CONTEXT-concat that learns from single rewards: expected loss, with a value of each source",
        origin=OURS,
        family=FAMILY,
        control="CONTEXT-concat-sampling",
        seed_models=(CONCAT,),
        learner=_learn,
        config=EL_VALUE,
        control_variate=SourceValue,
    ),
    BanditSystem(
        name="CONTEXT-cadec-sampling",
        description="CONTEXT-cadec that samples at a low temperature, and does not learn: a control",
        origin=OURS,
        family=FAMILY,
        seed_models=(CADEC,),
        learner=_learn,
        config=SAMPLING,
        control_variate=NoControlVariate,
    ),
    BanditSystem(
        name="CONTEXT-cadec-EL-VALUE",
        description="CONTEXT-cadec whose second decoder learns from single rewards as CONTEXT-concat-EL-VALUE does",
        origin=OURS,
        family=FAMILY,
        control="CONTEXT-cadec-sampling",
        seed_models=(CADEC,),
        learner=_learn,
        config=EL_VALUE,
        control_variate=SourceValue,
    ),
)
