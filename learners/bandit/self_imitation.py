"""Self-imitation: translate greedily, and imitate what earned more than expected (after Oh et al. 2018).

Only positive advantages teach. A policy gradient with a weak seed model spends most of its steps on making bad samples
less probable, which says nothing about what would be better. Imitation cannot do such harm, and it can be repeated from
a replay buffer.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import MAX_DROPOUT, NeuralLearner
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.replay import Experience, ReplayBuffer
from learners.bandit.safeguards import SafeguardConfig, Safeguards
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.settings import check_bounds
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class SelfImitationConfig(GradientConfig):
    """How many experiences a step learns from."""

    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(learning_rate=1e-4))
    safeguards: SafeguardConfig = field(default_factory=SafeguardConfig)  # of length and loops: it does not sample
    batch: int = 32  # rounds between two steps
    replay_batch: int = 32  # earlier experiences that each step learns from again
    replay_capacity: int = 4_000  # experiences that are kept
    dropout: float = 0.1  # while learning: the same experience comes back several times

    def __post_init__(self) -> None:
        check_bounds(self, batch=(1, None), dropout=(0, MAX_DROPOUT), replay_batch=(0, None), replay_capacity=(1, None))


class SelfImitationLearner(NeuralLearner):
    """BNMT-REPLAY: maximum likelihood of its own proposals, weighted by max(0, advantage)."""

    snapshot_version: ClassVar[int] = 4

    def __init__(
        self, translator: Translator, config: SelfImitationConfig, control_variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, control_variate, seed=seed)
        self._config = config
        self._safeguards = Safeguards(config.safeguards)
        self._replay = ReplayBuffer(config.replay_capacity)
        self._proposed: Hypothesis | None = None

    def _explore(self, source: str) -> Hypothesis:
        self._proposed = self._translator.greedy(source)
        return self._proposed

    def _learn(self, source: str, advantage: float) -> None:
        proposed = self._proposed
        assert proposed is not None, "a reward follows a proposal"
        self._safeguards.observe(proposed)
        weight = self._safeguards.limit(advantage, source, proposed)
        if weight > 0 and not proposed.is_fallback:  # the reward of a fallback is not that of these tokens
            self._replay.add(Experience(proposed.source_ids, proposed.ids, weight))
        if self._round % self._config.batch == 0:
            earlier = self._replay.sample(self._config.replay_batch, self._rng)
            experiences = [*self._replay.pending, *self._safeguards.without_drift(earlier)]
            self._replay.commit()
            if experiences:
                with self._dropout(self._config.dropout):
                    self._add_imitation_gradient(experiences, 1 / len(experiences))
                self._optimiser.step()

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("safeguards", self._safeguards.save())
        snapshot.put("memory", self._replay.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._safeguards.load(snapshot.part("safeguards"))
        self._replay.load(snapshot.part("memory"))
