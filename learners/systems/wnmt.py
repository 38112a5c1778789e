"""WNMT: the word-based network."""

from learners.bandit.control_variates import NoControlVariate
from learners.seed_models.catalogue import WNMT
from learners.systems.published import PUBLISHED_SGD, published_expected_loss
from learners.systems.system import TASK_PAPER, BanditSystem

SYSTEMS = (
    BanditSystem(
        name="WNMT-EL",
        description="expected loss on a word model, SGD, unknown words replaced by a dictionary",
        origin=f"{TASK_PAPER}, section 5.2",
        seed_models=(WNMT,),
        learner=published_expected_loss,
        config=PUBLISHED_SGD,
        control_variate=NoControlVariate,
    ),
)
