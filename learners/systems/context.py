"""Context-aware systems: they read the sentences of a document before the one that they translate."""

from learners.context.playing import ContextPlayer
from learners.contract import Learner
from learners.seed_models.catalogue import CADEC, CONCAT, CONTEXT_BASE, S_HIER_TO_2_TIED
from learners.seed_models.contextual import ContextModel
from learners.systems.system import Family, NonLearningSystem

CONTEXT_PAPER = "Voita et al. 2019"  # When a Good Translation is Wrong in Context

FAMILY = Family(name="CONTEXT", static="CONTEXT-static")


def _play(model: ContextModel) -> Learner:
    return ContextPlayer(model.translator)


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
)
