"""Learning from one's own best moments: play greedily, and imitate what went better than expected.

Only positive advantages teach. A policy gradient with a weak seed spends most of its steps on pushing bad samples down,
which says nothing about what would be better; imitation cannot do such harm, and it can be repeated from a memory.
"""

from dataclasses import asdict, dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import Optimiser, OptimiserRecipe
from learners.bandit.replay import Experience, ReplayMemory
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ImitationRecipe:
    """How much is learned at once, and from when."""

    optimiser: OptimiserRecipe = field(default_factory=lambda: OptimiserRecipe(rate=1e-4))
    batch: int = 32  # rounds between two steps
    replayed: int = 32  # older experiences that each step learns from again
    memory: int = 4_000  # experiences that are remembered
    dropout: float = 0.1  # while learning: the same experience comes back several times
    temperature: float = 0.0  # 0 plays greedily; more explores


class ImitationLearner(NeuralLearner):
    """BNMT-REPLAY: maximum likelihood on its own proposals, weighted by max(0, advantage)."""

    def __init__(self, translator: Translator, recipe: ImitationRecipe, variate: ControlVariate, *, seed: int) -> None:
        super().__init__(translator, Optimiser([translator.vector], recipe.optimiser), variate, seed=seed)
        self._recipe = recipe
        self._memory = ReplayMemory(recipe.memory)
        self._fresh: list[Experience] = []  # of the batch that is being played
        self._proposed: Hypothesis | None = None

    def _explore(self, source: str) -> Hypothesis:
        temperature = self._recipe.temperature
        if temperature:
            self._proposed = self._translator.sample(source, temperature, self._rng)
        else:
            self._proposed = self._translator.greedy(source)
        return self._proposed

    def _learn(self, source: str, advantage: float) -> None:
        assert self._proposed is not None, "a reward follows a proposal"
        if advantage > 0:
            self._fresh.append(Experience(source, self._proposed.ids, advantage))
        if self._round % self._recipe.batch == 0:
            self._imitate([*self._fresh, *self._memory.draw(self._recipe.replayed, self._rng)])
            for experience in self._fresh:
                self._memory.add(experience)
            self._fresh = []

    def _imitate(self, experiences: list[Experience]) -> None:
        """One step along the mean of ``advantage * grad log p``."""
        if not experiences:
            return
        sources = [self._translator.encode_source(experience.source) for experience in experiences]
        with self._dropout(self._recipe.dropout):
            each = self._translator.log_probabilities(sources, [one.target for one in experiences]).sum(1)
            weights = each.new_tensor([experience.advantage for experience in experiences])
            (-(weights * each).mean()).backward()
        self._optimiser.step()

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("memory", self._memory.save())
        snapshot.values["fresh"] = [asdict(experience) for experience in self._fresh]
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._memory.load(snapshot.part("memory"))
        self._fresh = [Experience(**one) for one in snapshot.values["fresh"]]
