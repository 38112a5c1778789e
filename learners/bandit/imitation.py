"""Learning from one's own best moments: play greedily, and imitate what went better than expected.

Only positive advantages teach. A policy gradient with a weak seed spends most of its steps on pushing bad samples down,
which says nothing about what would be better; imitation cannot do such harm, and it can be repeated from a memory.
"""

from dataclasses import dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientRecipe
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import OptimiserRecipe
from learners.bandit.replay import Experience, ReplayMemory
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class ImitationRecipe(GradientRecipe):
    """How much is learned at once, and from when."""

    optimiser: OptimiserRecipe = field(default_factory=lambda: OptimiserRecipe(rate=1e-4))
    batch: int = 32  # rounds between two steps
    replayed: int = 32  # older experiences that each step learns from again
    memory: int = 4_000  # experiences that are remembered
    dropout: float = 0.1  # while learning: the same experience comes back several times


class ImitationLearner(NeuralLearner):
    """BNMT-REPLAY: maximum likelihood on its own proposals, weighted by max(0, advantage)."""

    def __init__(self, translator: Translator, recipe: ImitationRecipe, variate: ControlVariate, *, seed: int) -> None:
        super().__init__(translator, recipe, variate, seed=seed)
        self._recipe = recipe
        self._memory = ReplayMemory(recipe.memory)
        self._proposed: Hypothesis | None = None

    def _explore(self, source: str) -> Hypothesis:
        self._proposed = self._translator.greedy(source)
        return self._proposed

    def _learn(self, source: str, advantage: float) -> None:
        assert self._proposed is not None, "a reward follows a proposal"
        if advantage > 0 and self._proposed.verbatim:  # else the reward is that of a stand-in
            self._memory.hold(Experience(source, self._proposed.ids, advantage))
        if self._round % self._recipe.batch == 0:
            experiences = [*self._memory.fresh, *self._memory.draw(self._recipe.replayed, self._rng)]
            self._memory.settle()
            if experiences:
                with self._dropout(self._recipe.dropout):
                    self._imitate(experiences, 1 / len(experiences))
                self._optimiser.step()

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("memory", self._memory.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._memory.load(snapshot.part("memory"))
