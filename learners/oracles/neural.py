"""Full information for networks: the rewards of all candidates in place of one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from learners.bandit.control_variates import NoControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import MAX_DROPOUT, NeuralLearner
from learners.bandit.objective import Vector
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.replay import Experience, ReplayBuffer
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.references import PhaseReferences
from learners.settings import check_bounds
from learners.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class MinimumRiskConfig(GradientConfig):
    """Candidates, and steps as in BNMT-EL-VALUE."""

    optimiser: OptimiserConfig = field(default_factory=OptimiserConfig)
    candidates: int = 12  # the size of the beam
    batch: int = 8  # rounds with the same parameters before a step along their mean gradient
    dropout: float = 0.1  # while learning
    replay_batch: int = 24  # earlier experiences that each step learns from again
    replay_capacity: int = 4_000  # experiences that are kept for that

    def __post_init__(self) -> None:
        check_bounds(
            self,
            candidates=(1, None),
            batch=(1, None),
            dropout=(0, MAX_DROPOUT),
            replay_batch=(0, None),
            replay_capacity=(1, None),
        )


class MinimumRiskLearner(NeuralLearner):
    """BNMT-full-information: plays greedily, and lowers the expected loss over all candidates (Shen et al. 2016).

    Like BNMT-EL-VALUE, every step also imitates earlier successes: the best candidates of earlier rounds.
    """

    def __init__(
        self, translator: Translator, references: PhaseReferences, config: MinimumRiskConfig, *, seed: int
    ) -> None:
        super().__init__(translator, config, NoControlVariate(), seed=seed)
        self._references = references
        self._config = config
        self._replay = ReplayBuffer(config.replay_capacity)
        self._proposed: Hypothesis | None = None

    def _explore(self, source: str) -> Hypothesis:
        self._proposed = self._translator.greedy(source)
        return self._proposed

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the rewards of all candidates tell more)
        config = self._config
        candidates = self._candidates(source)
        rewards = np.array(self._references.rewards(self._rounds, source, [one.text for one in candidates]))
        probabilities = list_probabilities(np.array([one.log_probability for one in candidates]))
        advantages = rewards - probabilities @ rewards
        step_size = config.batch + config.replay_batch  # experiences that a step averages over
        step_is_due = self._round % config.batch == 0
        with self._dropout(config.dropout):
            self._add_risk_gradient(candidates, probabilities * advantages / step_size)
            if step_is_due and (earlier := self._replay.sample(config.replay_batch, self._rng)):
                self._add_imitation_gradient(earlier, 1 / step_size)
        self._remember_best(candidates, advantages)
        if step_is_due:
            self._replay.commit()
            self._optimiser.step()

    def _candidates(self, source: str) -> list[Hypothesis]:
        """Return the greedy translation and those of the beam, each once, without texts that are not the model's."""
        assert self._proposed is not None, "feedback follows a proposal"
        found = {one.text: one for one in (*self._translator.k_best(source, self._config.candidates), self._proposed)}
        return [one for one in found.values() if not one.is_fallback]

    def _add_risk_gradient(self, candidates: Sequence[Hypothesis], weights: Vector) -> None:
        """Add the gradient of minus the expected reward, whose derivatives by log-probabilities are the weights."""
        taught = [(one, weight) for one, weight in zip(candidates, weights.tolist(), strict=True) if weight]
        if taught:
            self._translator.backward_likelihood(
                [one.source_ids for one, _ in taught], [one.ids for one, _ in taught], [weight for _, weight in taught]
            )

    def _remember_best(self, candidates: Sequence[Hypothesis], advantages: Vector) -> None:
        best = max(range(len(candidates)), key=lambda place: advantages[place], default=None)
        if best is not None and advantages[best] > 0:
            one = candidates[best]
            self._replay.add(Experience(one.source_ids, one.ids, float(advantages[best])))

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("replay", self._replay.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._replay.load(snapshot.part("replay"))


def list_probabilities(log_probabilities: Vector) -> Vector:
    """Return the distribution over a list of candidates: the model's, given that it is one of them."""
    unnormalised = np.exp(log_probabilities - log_probabilities.max(initial=-np.inf))
    probabilities: Vector = unnormalised / unnormalised.sum()
    return probabilities
