"""LIMSI's systems: a regression of the reward rescores what the seed system found, and UCB1 chooses between both.

A reconstruction of what the task paper tells in a paragraph (section 5.4, card B12). Not told there, and decided here:
the regression is ridge regression with penalty 1, and sees the decoder's features and a constant; the adapted system
searches the seed's forest for the derivation with the highest predicted reward, and is the seed system while there is
nothing to predict from; every round teaches the regression, whichever system played it, but in UCB1-select rounds teach
the regression and the choice in turn; UCB1-sampling draws a system in proportion to its index; old rewards count as
much as new ones. The seed system is our Hiero, where LIMSI's was Moses.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from learners.bandit.ridge import OnlineRidge
from learners.bandit.ucb import SamplingUcb1, Ucb1
from learners.contract import Learner, check_reward
from learners.errors import SnapshotError
from learners.smt.forest import Derivation, LogLinearTranslator, Vector
from learners.smt.static_log_linear import proposal_text
from learners.snapshot import Snapshot

SEED, ADAPTED = 0, 1  # the arms
KIND = "LIMSI 1"


class LimsiVariant(StrEnum):
    """How the playing system is chosen."""

    UCB1 = "UCB1"
    SAMPLING = "UCB1-sampling"  # draws it, for more exploration
    SELECT = "UCB1-select"  # a round teaches the regression or the choice, never both


@dataclass(frozen=True, kw_only=True)
class LimsiConfig:
    """How a system chooses, and how bold its regression is."""

    variant: LimsiVariant = LimsiVariant.UCB1
    penalty: float = 1.0  # of the regression: as if it had seen this many rounds that earned nothing


class LimsiLearner(Learner):
    """LIMSI-UCB1, LIMSI-UCB1-SAMPLING and LIMSI-UCB1-SELECT."""

    def __init__(self, translator: LogLinearTranslator, config: LimsiConfig, *, seed: int) -> None:
        self._translator = translator
        self._config = config
        self._regression = OnlineRidge(np.zeros(len(translator.weights) + 1), config.penalty)
        self._choice = SamplingUcb1(2) if config.variant is LimsiVariant.SAMPLING else Ucb1(2)
        self._rng = np.random.default_rng(seed)
        self._rounds = 0
        self._arm = SEED
        self._played: Derivation | None = None

    def propose(self, source: str) -> str:
        self._arm = self._choice.choose(self._rng)
        tuned = self._translator.weights
        predicting = self._regression.weights[:-1]  # the constant is the same for all derivations
        adapted = self._arm == ADAPTED and bool(predicting.any())
        self._played = self._translator.forest(source, tuned).best(predicting if adapted else tuned)
        return proposal_text(self._played)

    def update(self, source: str, translation: str, reward: float) -> None:  # noqa: ARG002 (it knows what it proposed)
        assert self._played is not None, "a reward follows a proposal"
        teaching, choosing = self._uses()
        if teaching:
            self._regression.observe(with_constant(self._played.features), check_reward(reward))
        if choosing:
            self._choice.observe(self._arm, check_reward(reward))
        self._rounds += 1

    def _uses(self) -> tuple[bool, bool]:
        """Does this round teach the regression, and does it teach the choice?"""
        if self._config.variant is not LimsiVariant.SELECT:
            return True, True
        return self._rounds % 2 == 0, self._rounds % 2 == 1

    def save(self) -> Snapshot:
        snapshot = Snapshot(values={"kind": self._kind(), "rounds": self._rounds, "rng": self._rng.bit_generator.state})
        snapshot.put("regression", self._regression.save())
        snapshot.put("choice", self._choice.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if snapshot.values.get("kind") != self._kind():
            raise SnapshotError(f"the snapshot is of {snapshot.values.get('kind')}, not of {self._kind()}")
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._regression.load(snapshot.part("regression"))
        self._choice.load(snapshot.part("choice"))

    def _kind(self) -> str:
        return f"{KIND} {self._config.variant}"


def with_constant(features: Vector) -> Vector:
    """The features of a derivation, and a constant for what they leave unexplained."""
    return np.append(features, 1.0)
