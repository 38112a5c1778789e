"""Zeroth-order learning of networks: translate with perturbed parameters, and move them where that earned reward.

One-point stochastic zeroth order (Sokolov et al. 2017, section 5.1, for SMT; Flaxman et al. 2005).
"""

from dataclasses import dataclass, field

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig
from learners.bandit.neural import NeuralLearner
from learners.bandit.optimiser import OptimiserConfig
from learners.bandit.parameter_noise import ParameterNoise
from learners.errors import LearnerError
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator
from learners.settings import check_bounds


@dataclass(frozen=True, kw_only=True)
class ZerothOrderConfig(GradientConfig):
    """How a zeroth-order learner explores and steps."""

    # Not clipped: the gradient is as long as the noise, so that a bound would leave only the sign of the advantage.
    optimiser: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(clip_norm=None))
    noise_scale: float = 0.01  # 1, as published for 14 weights, would drown half a million parameters
    parameter_prefix: str = ""  # only parameters whose names start like this are perturbed; all by default

    def __post_init__(self) -> None:
        check_bounds(self, noise_scale=(1e-9, None))  # the gradient is divided by it


class ZerothOrderLearner(NeuralLearner):
    """BNMT-SZO-CV: translates greedily with randomly perturbed parameters."""

    def __init__(
        self, translator: Translator, config: ZerothOrderConfig, control_variate: ControlVariate, *, seed: int
    ) -> None:
        prefix = config.parameter_prefix
        named = translator.model.named_parameters()
        chosen = [parameter for name, parameter in named if name.startswith(prefix)]
        if not chosen:
            raise LearnerError(f"the model has no parameters whose names start with {prefix!r}")
        parameters = chosen if prefix else [translator.vector]
        super().__init__(translator, config, control_variate, seed=seed, trainable=parameters)
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
