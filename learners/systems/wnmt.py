"""WNMT: the word-based network."""

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.neural_sampling import NeuralSampling
from learners.seed_models.catalogue import WNMT
from learners.systems.published import PUBLISHED_SGD, published_expected_loss
from learners.systems.system import OURS, TASK_PAPER, BanditSystem, Family, SamplingSystem

FAMILY = Family(name="WNMT")

SYSTEMS = (
    SamplingSystem(
        name="WNMT-sampling",
        description="samples as WNMT-EL does, and does not learn: its control",
        origin=OURS,
        family=FAMILY,
        seed_models=(WNMT,),
        learner=NeuralSampling,
        config=PUBLISHED_SGD.schedule,
    ),
    BanditSystem(
        name="WNMT-EL",
        description="expected loss on a word model, SGD, unknown words replaced by a dictionary",
        origin=f"{TASK_PAPER}, section 5.2",
        family=FAMILY,
        control="WNMT-sampling",
        seed_models=(WNMT,),
        learner=published_expected_loss,
        config=PUBLISHED_SGD,
        control_variate=NoControlVariate,
    ),
)
