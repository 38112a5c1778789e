"""Learners of log-linear weights from one reward per sentence (Sokolov et al. 2017, section 5.1)."""

from dataclasses import dataclass, field

import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.objective import log_linear_gradient
from learners.bandit.parameter_noise import ParameterNoise
from learners.bandit.schedule import AnnealingSchedule
from learners.contract import Proposal, Sentence
from learners.settings import check_bounds
from learners.smt.forest import Derivation, Forest, LogLinearTranslator, Vector
from learners.smt.proposals import proposal_text, sampled_proposal


@dataclass(frozen=True, kw_only=True)
class LogLinearConfig(GradientConfig):
    """Initial weights and optimiser of a learner of weights."""

    # Factor on the tuned weights. Tuning cannot set it: the best translations are the same at any scale.
    weight_scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class LogLinearExpectedLossConfig(LogLinearConfig):
    """Sampling and batches. The larger the weight scale, the closer samples are to the best translation."""

    schedule: AnnealingSchedule = field(default_factory=lambda: AnnealingSchedule(start=None))
    # Rounds played with the same weights before one step along their mean gradient. Sokolov et al. 2017, section 7,
    # propose minibatches as future work.
    batch: int = 1

    def __post_init__(self) -> None:
        check_bounds(self, batch=(1, None))


@dataclass(frozen=True, kw_only=True)
class LogLinearZerothOrderConfig(LogLinearConfig):
    """The exploration of a zeroth-order learner."""

    noise_scale: float = 1.0  # as published; its effect depends on the scale of the weights

    def __post_init__(self) -> None:
        check_bounds(self, noise_scale=(1e-9, None))  # the gradient is divided by it


class LogLinearLearner(GradientLearner):
    """Base of the learners: a log-linear translator with its own copy of the weights."""

    def __init__(
        self, translator: LogLinearTranslator, config: LogLinearConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        self._translator = translator
        self._weights: Vector = config.weight_scale * translator.weights
        vector = torch.from_numpy(self._weights)  # shares memory: a step of the optimiser moves the weights
        vector.grad = torch.zeros_like(vector)
        super().__init__(vector, config, variate, seed=seed)


@dataclass(frozen=True, slots=True)
class _SampledDerivation:
    """A sampled derivation, and the distribution that it was drawn from."""

    derivation: Derivation
    forest: Forest
    temperature: float


class LogLinearExpectedLossLearner(LogLinearLearner):
    """SMT-EL-CV-ADADELTA and SMT-EL-CV-ADAM: minimises expected loss; plays samples, also in held-out passes."""

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
        self._sample: _SampledDerivation | None = None

    def propose(self, sentence: Sentence) -> str | Proposal:
        schedule = self._config.schedule
        forest = self._translator.forest(sentence.source, self._weights)
        if schedule.is_frozen(self._round):
            self._sample = None
            return proposal_text(forest.best(self._weights))
        temperature = schedule.temperature_at(self._round)
        weights = self._weights / temperature
        derivation = forest.sample(weights, self._rng)
        self._sample = _SampledDerivation(derivation, forest, temperature)
        return sampled_proposal(derivation, forest.log_probability(derivation.translation, weights))

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (the sample holds the source's forest)
        sample, config = self._sample, self._config
        if sample is None:
            return
        expected = sample.forest.expectation(self._weights / sample.temperature)
        gradient = log_linear_gradient(advantage, sample.derivation.features, expected) / sample.temperature
        assert self._vector.grad is not None, "the constructor allocates the gradient"
        self._vector.grad += torch.from_numpy(gradient / config.batch)
        if self._round % config.batch == 0:
            self._optimiser.step(config.schedule.rate_factor(self._round))


class LogLinearZerothOrderLearner(LogLinearLearner):
    """SMT-SZO-CV-ADAM: plays the best translation under weights with Gaussian noise (Flaxman et al. 2005)."""

    def __init__(
        self, translator: LogLinearTranslator, config: LogLinearZerothOrderConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, variate, seed=seed)
        self._noise = ParameterNoise([self._vector], config.noise_scale)

    def propose(self, sentence: Sentence) -> str:
        self._noise.add((self._seed, self._round))
        try:
            return proposal_text(self._translator.forest(sentence.source, self._weights).best(self._weights))
        finally:
            self._noise.remove()

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (noise does not depend on the source)
        self._noise.fill_gradient((self._seed, self._round), advantage)
        self._optimiser.step()
