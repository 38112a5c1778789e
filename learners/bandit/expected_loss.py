"""Expected loss: sample a translation, and make it more or less probable by how good it turned out (card B8)."""

from dataclasses import dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import Optimiser, OptimiserRecipe
from learners.bandit.safeguards import SafeguardRecipe, Safeguards
from learners.bandit.schedule import Schedule
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ExpectedLossRecipe:
    """How an expected-loss learner explores and steps."""

    optimiser: OptimiserRecipe = field(default_factory=OptimiserRecipe)
    schedule: Schedule = field(default_factory=Schedule)
    safeguards: SafeguardRecipe = field(default_factory=SafeguardRecipe)
    batch: int = 1  # rounds played with the same parameters, then one step along their mean gradient (card B14)
    dropout: float = 0.0  # while learning, never while sampling


class ExpectedLossLearner(NeuralLearner):
    """WNMT-EL, BNMT-EL and those made from them."""

    def __init__(
        self, translator: Translator, recipe: ExpectedLossRecipe, variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, Optimiser([translator.vector], recipe.optimiser), variate, seed=seed)
        self._recipe = recipe
        self._safeguards = Safeguards(recipe.safeguards)
        self._sample: Sample | None = None

    def _explore(self, source: str) -> Hypothesis:
        schedule = self._recipe.schedule
        if schedule.frozen(self._round):
            self._sample = None
            return self._translator.greedy(source)
        self._sample = self._translator.sample(source, schedule.temperature_at(self._round), self._rng)
        return self._sample

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the sample knows its source)
        sample, batch = self._sample, self._recipe.batch
        if sample is None:
            return
        lengths = {"source": len(sample.source_ids), "output": len(sample.ids)}
        self._safeguards.observe(**lengths, log_probability=sample.log_probability)
        weight = self._safeguards.allowed(advantage, **lengths)
        with self._dropout(self._recipe.dropout):
            self._translator.backward(sample, weight / batch, entropy=self._safeguards.entropy_weight / batch)
        if self._round % batch == 0:
            self._optimiser.step(self._recipe.schedule.rate_factor(self._round))

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("safeguards", self._safeguards.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._safeguards.load(snapshot.part("safeguards"))
