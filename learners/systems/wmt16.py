"""A third party's system: the winner of the WMT 2016 news task, which has never seen the task's text."""

from functools import partial

from learners.nmt.static import StaticTranslator
from learners.seed_models.catalogue import WMT16
from learners.systems.system import TASK_PAPER, NonLearningSystem

SYSTEMS = (
    NonLearningSystem(
        name="WMT16-static",
        description="a third party's news model: other text, larger vocabulary, four checkpoints, beam 12",
        origin=f"{TASK_PAPER}, section 4.2",
        seed_models=(WMT16,),
        learner=partial(StaticTranslator, beam=12),
    ),
)
