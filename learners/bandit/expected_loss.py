"""Expected loss: sample a translation, and make it more or less probable by how good it turned out (card B8).

With ``replayed`` experiences, every step also imitates earlier samples that went better than expected. One reward per
sentence is little to learn from, and what was good once can be learned from again; what was bad says less of what would
be better, and is forgotten.
"""

from dataclasses import dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import NeuralLearner
from learners.bandit.replay import Experience, ReplayBuffer
from learners.bandit.safeguards import SafeguardConfig, Safeguards
from learners.bandit.schedule import AnnealingSchedule
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ExpectedLossConfig(GradientConfig):
    """How an expected-loss learner explores and steps."""

    schedule: AnnealingSchedule = field(default_factory=AnnealingSchedule)
    safeguards: SafeguardConfig = field(default_factory=SafeguardConfig)
    batch: int = 1  # rounds played with the same parameters, then one step along their mean gradient (card B14)
    dropout: float = 0.0  # while learning, never while sampling
    replay_batch: int = 0  # earlier experiences that each step learns from again
    replay_capacity: int = 4_000  # experiences that are remembered for that


class ExpectedLossLearner(NeuralLearner):
    """WNMT-EL, BNMT-EL and those made from them."""

    def __init__(
        self, translator: Translator, config: ExpectedLossConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, variate, seed=seed)
        self._config = config
        self._safeguards = Safeguards(config.safeguards)
        self._memory = ReplayBuffer(config.replay_capacity)
        self._sample: Sample | None = None

    def _explore(self, source: str) -> Hypothesis:
        schedule = self._config.schedule
        if schedule.frozen(self._round):
            self._sample = None
            return self._translator.greedy(source)
        self._sample = self._translator.sample(source, schedule.temperature_at(self._round), self._rng)
        return self._sample

    def _learn(self, source: str, advantage: float) -> None:
        sample, config = self._sample, self._config
        if sample is None:
            return
        lengths = {"source": len(sample.source_ids), "output": len(sample.ids)}
        self._safeguards.observe(**lengths, log_probability=sample.log_probability)
        weight, entropy = self._safeguards.allowed(advantage, **lengths), self._safeguards.entropy_weight
        if not sample.verbatim:
            weight = entropy = 0.0  # the reward is that of another translation
        together = config.batch + config.replay_batch
        due = self._round % config.batch == 0
        with self._dropout(config.dropout):
            if weight or entropy:
                self._translator.backward(sample, weight / together, entropy=entropy / together)
            if due and (earlier := self._memory.draw(config.replay_batch, self._rng)):
                self._imitate(earlier, 1 / together)
        if weight > 0 and config.replay_batch:
            self._memory.hold(Experience(source, sample.ids, weight))
        if due:
            self._memory.settle()
            self._optimiser.step(config.schedule.rate_factor(self._round))

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("safeguards", self._safeguards.save())
        snapshot.put("memory", self._memory.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._safeguards.load(snapshot.part("safeguards"))
        self._memory.load(snapshot.part("memory"))
