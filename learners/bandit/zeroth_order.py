"""Learning without gradients: play with perturbed parameters, and go where it paid (card B5, for networks)."""

from dataclasses import dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.parameter_noise import ParameterNoise
from learners.errors import LearnerError
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator


@dataclass(frozen=True, kw_only=True)
class ZerothOrderConfig(GradientConfig):
    """How far a zeroth-order learner looks around, and how it steps."""

    # Unclipped: the gradient is as long as the noise, so a bound would leave nothing but its sign of any reward.
    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(clip_norm=None))
    noise_scale: float = 0.01  # of the noise; 1 as published for 14 weights would drown half a million
    parameter_prefix: str = ""  # the parameters whose names begin like this are perturbed; all of them by default


class ZerothOrderLearner(NeuralLearner):
    """BNMT-SZO-CV: translates greedily with parameters moved at random."""

    def __init__(
        self, translator: Translator, config: ZerothOrderConfig, variate: ControlVariate, *, seed: int
    ) -> None:
        named = translator.model.named_parameters()
        chosen = [parameter for name, parameter in named if name.startswith(config.parameter_prefix)]
        if not chosen:
            raise LearnerError(f"the model has no parameters whose names begin with {config.parameter_prefix!r}")
        parameters = chosen if config.parameter_prefix else [translator.vector]
        super().__init__(translator, config, variate, seed=seed, moved=parameters)
        self._noise = ParameterNoise(parameters, config.noise_scale)

    def _explore(self, source: str) -> Hypothesis:
        self._noise.add((self._seed, self._round))
        try:
            return self._translator.greedy(source)
        finally:
            self._noise.remove()

    def _learn(self, source: str, advantage: float) -> None:  # noqa: ARG002 (noise does not depend on the source)
        self._noise.fill_gradient((self._seed, self._round), advantage)
        self._optimiser.step()
