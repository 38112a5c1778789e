"""Expected loss: sample a translation, and change its probability by its reward.

The objective of BNMT-EL and WNMT-EL (Sokolov et al. 2017, section 5.2; Kreutzer et al. 2017). With ``replay_batch``,
every step also imitates earlier samples that earned more than expected: one reward per sentence is little to learn
from, and a success can be learned from again. A failure says less about what would be better, and is not replayed.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import MAX_DROPOUT, NeuralLearner
from learners.bandit.replay import Experience, ReplayBuffer
from learners.bandit.safeguards import SafeguardConfig, Safeguards
from learners.bandit.schedule import AnnealingSchedule
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.translator import Translator
from learners.settings import check_bounds
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ExpectedLossConfig(GradientConfig):
    """How an expected-loss learner explores and steps."""

    schedule: AnnealingSchedule = field(default_factory=AnnealingSchedule)
    safeguards: SafeguardConfig = field(default_factory=SafeguardConfig)
    batch: int = 1  # rounds with the same parameters before a step along their mean gradient (ibid., section 7)
    dropout: float = 0.0  # while learning, never while sampling
    replay_batch: int = 0  # earlier experiences that each step learns from again
    replay_capacity: int = 4_000  # experiences that are kept for that

    def __post_init__(self) -> None:
        check_bounds(self, batch=(1, None), dropout=(0, MAX_DROPOUT), replay_batch=(0, None), replay_capacity=(1, None))


class ExpectedLossLearner(NeuralLearner):
    """WNMT-EL, BNMT-EL, BNMT-EL-CV and BNMT-EL-VALUE."""

    snapshot_version: ClassVar[int] = 4

    def __init__(
        self, translator: Translator, config: ExpectedLossConfig, control_variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, control_variate, seed=seed)
        self._config = config
        self._safeguards = Safeguards(config.safeguards)
        self._replay = ReplayBuffer(config.replay_capacity)
        self._sample: Sample | None = None

    def _explore(self, source: str) -> Hypothesis:
        schedule = self._config.schedule
        if schedule.is_frozen(self._round):
            self._sample = None
            return self._translator.greedy(source)
        self._sample = self._translator.sample(source, schedule.temperature_at(self._round), self._rng)
        return self._sample

    def _learn(self, source: str, advantage: float) -> None:
        sample, config = self._sample, self._config
        if sample is None:
            return
        self._safeguards.observe(sample)
        weight, entropy = self._safeguards.limit(advantage, source, sample), self._safeguards.entropy_weight
        if sample.is_fallback:
            weight = entropy = 0.0  # the reward is that of another translation
        step_size = config.batch + config.replay_batch  # experiences that a step averages over
        step_is_due = self._round % config.batch == 0
        with self._dropout(config.dropout):
            if weight or entropy:
                self._translator.backward(sample, weight / step_size, entropy=entropy / step_size)
            if step_is_due and (earlier := self._sample_replay()):
                self._add_imitation_gradient(earlier, 1 / step_size)
        if weight > 0 and config.replay_batch:
            self._replay.add(Experience(sample.source_ids, sample.ids, weight))
        if step_is_due:
            self._replay.commit()
            self._optimiser.step(config.schedule.rate_factor(self._round))

    def _sample_replay(self) -> list[Experience]:
        return self._safeguards.without_drift(self._replay.sample(self._config.replay_batch, self._rng))

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("safeguards", self._safeguards.save())
        snapshot.put("memory", self._replay.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._safeguards.load(snapshot.part("safeguards"))
        self._replay.load(snapshot.part("memory"))
