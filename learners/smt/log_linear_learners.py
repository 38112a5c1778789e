"""Learning the few weights of a log-linear translator from one number per sentence (cards B4 and B5)."""

from dataclasses import dataclass, field

import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.objective import log_linear_gradient
from learners.bandit.parameter_noise import ParameterNoise
from learners.bandit.schedule import AnnealingSchedule
from learners.smt.forest import Derivation, Forest, LogLinearTranslator, Vector
from learners.smt.static_log_linear import proposal_text


@dataclass(frozen=True, kw_only=True)
class LogLinearConfig(GradientConfig):
    """Where a learner of weights starts, and how it steps."""

    scale: float = 1.0  # times the tuned weights; tuning looks at the best translation only, which knows no scale


@dataclass(frozen=True, kw_only=True)
class LogLinearExpectedLossConfig(LogLinearConfig):
    """How samples are drawn. The scale tells how far they stray from the best translation."""

    schedule: AnnealingSchedule = field(default_factory=lambda: AnnealingSchedule(start=None))
    batch: int = 1  # rounds played with the same weights, then one step along their mean gradient (card B14)


@dataclass(frozen=True, kw_only=True)
class LogLinearZerothOrderConfig(LogLinearConfig):
    """How far a zeroth-order learner looks around."""

    noise: float = 1.0  # as published; what it does depends on how large the weights are


class LogLinearLearner(GradientLearner):
    """A log-linear translator with weights of its own."""

    def __init__(
        self, translator: LogLinearTranslator, config: LogLinearConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        self._translator = translator
        self._weights: Vector = config.scale * translator.weights
        vector = torch.from_numpy(self._weights)  # shares memory: a step of the optimiser moves the weights
        vector.grad = torch.zeros_like(vector)
        super().__init__(vector, config, variate, seed=seed)


@dataclass(frozen=True, slots=True)
class _Draw:
    """A derivation, and what it was drawn from."""

    derivation: Derivation
    forest: Forest
    temperature: float


class LogLinearExpectedLossLearner(LogLinearLearner):
    """SMT-EL-CV-ADADELTA, SMT-EL-CV-ADAM and those made from them: plays samples, also in held-out passes."""

    def __init__(
        self,
        translator: LogLinearTranslator,
        config: LogLinearExpectedLossConfig,
        variate: ControlVariate,
        *,
        seed: int,
    ) -> None:
        super().__init__(translator, config, variate, seed=seed)
        self._config = config
        self._draw: _Draw | None = None

    def propose(self, source: str) -> str:
        schedule = self._config.schedule
        forest = self._translator.forest(source, self._weights)
        if schedule.frozen(self._round):
            self._draw = None
            return proposal_text(forest.best(self._weights))
        temperature = schedule.temperature_at(self._round)
        self._draw = _Draw(forest.sample(self._weights / temperature, self._rng), forest, temperature)
        return proposal_text(self._draw.derivation)

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the forest is the source's)
        draw, config = self._draw, self._config
        if draw is None:
            return
        expected = draw.forest.expectation(self._weights / draw.temperature)
        gradient = log_linear_gradient(advantage, draw.derivation.features, expected) / draw.temperature
        assert self._vector.grad is not None, "it was made with the weights"
        self._vector.grad += torch.from_numpy(gradient / config.batch)
        if self._round % config.batch == 0:
            self._optimiser.step(config.schedule.rate_factor(self._round))


class LogLinearZerothOrderLearner(LogLinearLearner):
    """SMT-SZO-CV-ADAM: plays the best translation under weights moved at random."""

    def __init__(
        self, translator: LogLinearTranslator, config: LogLinearZerothOrderConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, variate, seed=seed)
        self._noise = ParameterNoise([self._vector], config.noise)

    def propose(self, source: str) -> str:
        self._noise.add((self._seed, self._round))
        try:
            return proposal_text(self._translator.forest(source, self._weights).best(self._weights))
        finally:
            self._noise.remove()

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (noise does not depend on the source)
        self._noise.fill_gradient((self._seed, self._round), advantage)
        self._optimiser.step()
