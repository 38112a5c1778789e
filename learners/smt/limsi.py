"""The LIMSI systems: a regression of the reward rescores the seed system's forest, and UCB1 chooses between the two.

A reconstruction: Sokolov et al. 2017, section 5.4, describe the systems in one paragraph. Decided here, because the
paper does not say:

- The regression is ridge regression with penalty 1 on the decoder's features and a constant.
- The adapted system searches the seed's forest for the derivation with the highest predicted reward. It equals the seed
  system while there is nothing to predict from.
- Every round trains the regression, whichever system played it. In UCB1-select, rounds alternate between training the
  regression and updating the bandit.
- UCB1-sampling draws a system with probability proportional to its index.
- Old rewards count as much as new ones.
- The seed system is our Hiero decoder; LIMSI's was Moses.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from learners.bandit.ridge import OnlineRidge
from learners.bandit.ucb import SamplingUcb1, Ucb1
from learners.contract import Feedback, Learner, Proposal, Sentence, check_reward
from learners.errors import SnapshotError
from learners.settings import FIXED, check_bounds
from learners.smt.forest import Derivation, LogLinearTranslator, Vector
from learners.smt.proposals import proposal_text, sampled_proposal
from learners.snapshot import Snapshot

SEED_ARM, ADAPTED_ARM = 0, 1
SNAPSHOT_KIND = "LIMSI 1"


class LimsiVariant(StrEnum):
    """How the system that plays is chosen."""

    UCB1 = "UCB1"
    SAMPLING = "UCB1-sampling"  # samples it, to explore more
    SELECT = "UCB1-select"  # a round trains the regression or updates the bandit, never both


@dataclass(frozen=True, kw_only=True)
class LimsiConfig:
    """The choice of the arm, and the regularisation of the regression."""

    variant: LimsiVariant = field(default=LimsiVariant.UCB1, metadata=FIXED)
    ridge_penalty: float = 1.0  # as strong as this many observed rounds with reward 0

    def __post_init__(self) -> None:
        check_bounds(self, ridge_penalty=(1e-9, None))  # without any, the first regression has no solution


class LimsiLearner(Learner):
    """LIMSI-UCB1, LIMSI-UCB1-SAMPLING and LIMSI-UCB1-SELECT."""

    def __init__(self, translator: LogLinearTranslator, config: LimsiConfig, *, seed: int) -> None:
        self._translator = translator
        self._config = config
        self._regression = OnlineRidge(np.zeros(len(translator.weights) + 1), config.ridge_penalty)
        self._bandit = SamplingUcb1(2) if config.variant is LimsiVariant.SAMPLING else Ucb1(2)
        self._rng = np.random.default_rng(seed)
        self._rounds = 0
        self._arm = SEED_ARM
        self._played: Derivation | None = None

    def propose(self, sentence: Sentence) -> str | Proposal:
        probabilities = self._bandit.probabilities()
        self._arm = self._bandit.choose(self._rng)
        forest = self._translator.forest(sentence.source, self._translator.weights)
        played = self._played = forest.best(self._weights_of(self._arm))
        if probabilities is None:
            return proposal_text(played)
        other = forest.best(self._weights_of(1 - self._arm))
        both_propose_it = other.translation == played.translation
        return sampled_proposal(played, 0.0 if both_propose_it else float(np.log(probabilities[self._arm])))

    def _weights_of(self, arm: int) -> Vector:
        """Return the weights that an arm translates with."""
        predicting = self._regression.weights[:-1]  # the constant is the same for all derivations
        return predicting if arm == ADAPTED_ARM and predicting.any() else self._translator.weights

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002 (it proposed it)
        assert self._played is not None, "a reward follows a proposal"
        reward = check_reward(feedback.reward)
        trains_regression, updates_bandit = self._uses_of_round()
        if trains_regression:
            self._regression.observe(with_constant(self._played.features), reward)
        if updates_bandit:
            self._bandit.observe(self._arm, reward)
        self._rounds += 1

    def _uses_of_round(self) -> tuple[bool, bool]:
        """Return whether this round trains the regression, and whether it updates the bandit."""
        if self._config.variant is not LimsiVariant.SELECT:
            return True, True
        return self._rounds % 2 == 0, self._rounds % 2 == 1

    def save(self) -> Snapshot:
        snapshot = Snapshot(
            values={"kind": self._snapshot_kind(), "rounds": self._rounds, "rng": self._rng.bit_generator.state}
        )
        snapshot.put("regression", self._regression.save())
        snapshot.put("choice", self._bandit.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        kind = snapshot.values.get("kind")
        if kind != self._snapshot_kind():
            raise SnapshotError(f"the snapshot is of {kind}, not of {self._snapshot_kind()}")
        self._rounds = snapshot.values["rounds"]
        self._rng.bit_generator.state = snapshot.values["rng"]
        self._regression.load(snapshot.part("regression"))
        self._bandit.load(snapshot.part("choice"))

    def _snapshot_kind(self) -> str:
        return f"{SNAPSHOT_KIND} {self._config.variant}"


def with_constant(features: Vector) -> Vector:
    """Return the features of a derivation with a constant 1 appended, the intercept of the regression."""
    return np.append(features, 1.0)
