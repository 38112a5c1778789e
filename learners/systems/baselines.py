"""Baselines without a translation model."""

from learners.baselines import CopySource, WordForWord
from learners.seed_models.catalogue import DICTIONARY
from learners.systems.system import TASK_PAPER, NonLearningSystem

SYSTEMS = (
    NonLearningSystem(
        name="copy-source",
        description="proposes the source: the floor",
        origin=f"{TASK_PAPER}, Table 3",
        learner=CopySource,
    ),
    NonLearningSystem(
        name="word-for-word",
        description="translates word by word with a dictionary, and copies unknown words",
        origin=f"the code of {TASK_PAPER} (bandit-neuralmonkey)",
        seed_models=(DICTIONARY,),
        learner=WordForWord,
    ),
)
