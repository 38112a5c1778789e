"""LIMSI: a regression predicts rewards, and UCB1 chooses between the seed system and the adapted one."""

from dataclasses import dataclass

from learners.contract import Learner
from learners.seed_models.catalogue import SMT
from learners.seed_models.store import ModelStore
from learners.smt.limsi import LimsiConfig, LimsiLearner, LimsiVariant
from learners.systems.smt import FAMILY
from learners.systems.system import TASK_PAPER, System

ORIGIN = f"{TASK_PAPER}, section 5.4 (a reconstruction)"


@dataclass(frozen=True, kw_only=True)
class LimsiSystem(System):
    """One variant of the LIMSI submission."""

    config: LimsiConfig

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        (translator,) = self._load_seed_models(store)
        return LimsiLearner(translator, self.config, seed=seed)


SYSTEMS = (
    LimsiSystem(
        name="LIMSI-UCB1",
        description="a regression of the reward rescores the seed system's forest; UCB1 chooses which of both plays",
        origin=ORIGIN,
        family=FAMILY,
        control="SMT-static",
        seed_models=(SMT,),
        config=LimsiConfig(variant=LimsiVariant.UCB1),
        stochastic=False,
    ),
    LimsiSystem(
        name="LIMSI-UCB1-SAMPLING",
        description="LIMSI-UCB1 that samples which of both plays",
        origin=ORIGIN,
        family=FAMILY,
        control="SMT-static",
        seed_models=(SMT,),
        config=LimsiConfig(variant=LimsiVariant.SAMPLING),
        stochastic=True,
    ),
    LimsiSystem(
        name="LIMSI-UCB1-SELECT",
        description="LIMSI-UCB1 that chooses by rounds from which the regression did not learn",
        origin=ORIGIN,
        family=FAMILY,
        control="SMT-static",
        seed_models=(SMT,),
        config=LimsiConfig(variant=LimsiVariant.SELECT),
        stochastic=False,
    ),
)
