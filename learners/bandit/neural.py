"""What all learners with a neural translator have in common besides their gradients: hypotheses, imitation, dropout."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.optimiser import euclidean
from learners.bandit.replay import Experience
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.model import with_dropout
from learners.nmt.translator import Translator

RUNAWAY = 10  # a network whose parameters have grown tenfold translates nothing, long before they overflow


class NeuralLearner(GradientLearner):
    """A neural translator that learns from rewards."""

    def __init__(
        self,
        translator: Translator,
        config: GradientConfig,
        variate: ControlVariate,
        *,
        seed: int,
        moved: Sequence[Tensor] = (),
    ) -> None:
        bound = RUNAWAY * euclidean([translator.vector])
        super().__init__(translator.vector, config, variate, seed=seed, moved=moved, bound=bound)
        self._translator = translator

    def propose(self, source: str) -> str:
        return self._explore(source).text

    @abstractmethod
    def _explore(self, source: str) -> Hypothesis:
        """What to propose, remembered until its reward is known."""

    def _imitate(self, experiences: Sequence[Experience], share: float) -> None:
        """Add the gradient of ``-share * sum of advantage * log p``, of the model itself at temperature 1."""
        self._translator.imitate(
            [self._translator.encode_source(one.source) for one in experiences],
            [one.target for one in experiences],
            [share * one.advantage for one in experiences],
        )

    @contextmanager
    def _dropout(self, probability: float) -> Iterator[None]:
        """Learn with dropout, drawn from the seed and the round, so that there is no state of it to save.

        Once a round: a second time, the same would be dropped again.
        """
        if not probability:
            yield
            return
        model = self._translator.model
        with with_dropout(model, probability), torch.random.fork_rng():
            generator = torch.cuda if model.device.type == "cuda" else torch.default_generator
            generator.manual_seed(self._seed * 1_000_003 + self._rounds)  # torch.manual_seed takes a millisecond
            yield
