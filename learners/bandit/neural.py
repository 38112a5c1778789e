"""What all learners with a neural translator have in common besides their gradients: hypotheses, imitation, dropout."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientLearner
from learners.bandit.optimiser import Optimiser
from learners.bandit.replay import Experience
from learners.nmt.hypothesis import Hypothesis
from learners.nmt.translator import Translator


class NeuralLearner(GradientLearner):
    """A neural translator that learns from rewards."""

    def __init__(self, translator: Translator, optimiser: Optimiser, variate: ControlVariate, *, seed: int) -> None:
        super().__init__(translator.vector, optimiser, variate, seed=seed)
        self._translator = translator

    def propose(self, source: str) -> str:
        return self._explore(source).text

    @abstractmethod
    def _explore(self, source: str) -> Hypothesis:
        """What to propose, remembered until its reward is known."""

    def _imitate(self, experiences: Sequence[Experience], share: float, dropout: float) -> None:
        """Add the gradient of ``-share * sum of advantage * log p``, of the model itself at temperature 1."""
        sources = [self._translator.encode_source(experience.source) for experience in experiences]
        with self._dropout(dropout):
            each = self._translator.log_probabilities(sources, [one.target for one in experiences]).sum(1)
            weights = each.new_tensor([experience.advantage for experience in experiences])
            (-share * (weights * each).sum()).backward()

    @contextmanager
    def _dropout(self, probability: float) -> Iterator[None]:
        """Learn with dropout, drawn from the seed and the round, so that there is no state of it to save."""
        if not probability:
            yield
            return
        model = self._translator.model
        usual, model.dropout.p = model.dropout.p, probability
        model.train()
        try:
            with torch.random.fork_rng():
                torch.manual_seed(self._seed * 1_000_003 + self._rounds)
                yield
        finally:
            model.eval()
            model.dropout.p = usual
