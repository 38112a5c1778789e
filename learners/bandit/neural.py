"""The common part of all learners with a neural translator: proposals, imitation, dropout."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from learners.bandit.control_variates import ControlVariate
from learners.bandit.gradient import GradientConfig, GradientLearner
from learners.bandit.optimiser import l2_norm
from learners.bandit.replay import Experience
from learners.contract import Proposal, Sentence
from learners.nmt.hypothesis import Hypothesis, Sample
from learners.nmt.model import with_dropout
from learners.nmt.translator import Translator

MAX_DROPOUT = 0.9  # with more, hardly a unit is left to learn from
MAX_NORM_GROWTH = 10  # a network whose parameters have grown tenfold translates nothing, long before they overflow


class NeuralLearner(GradientLearner):
    """A neural translator that learns from rewards."""

    def __init__(
        self,
        translator: Translator,
        config: GradientConfig,
        control_variate: ControlVariate,
        *,
        seed: int,
        trainable: Sequence[Tensor] = (),
    ) -> None:
        max_norm = MAX_NORM_GROWTH * l2_norm([translator.vector])
        super().__init__(translator.vector, config, control_variate, seed=seed, trainable=trainable, max_norm=max_norm)
        self._translator = translator

    def propose(self, sentence: Sentence) -> str | Proposal:
        hypothesis = self._explore(sentence.source)
        if isinstance(hypothesis, Sample):
            return Proposal(hypothesis.text, hypothesis.text_log_probability)
        return hypothesis.text

    @abstractmethod
    def _explore(self, source: str) -> Hypothesis:
        """Return what to propose, and remember it until its reward arrives."""

    def _add_imitation_gradient(self, experiences: Sequence[Experience], share: float) -> None:
        """Add the gradient of ``-share * sum of advantage * log p``, of the model itself at temperature 1."""
        self._translator.backward_likelihood(
            [experience.source for experience in experiences],
            [experience.target for experience in experiences],
            [share * np.asarray(experience.advantage) for experience in experiences],
        )

    @contextmanager
    def _dropout(self, probability: float) -> Iterator[None]:
        """Learn with dropout. Its seed is the learner's and the round's, so that it has no state to save.

        Use it once per round: a second time, it would drop the same units again.
        """
        if not probability:
            yield
            return
        model = self._translator.model
        with with_dropout(model, probability), torch.random.fork_rng():
            generator = torch.cuda if model.device.type == "cuda" else torch.default_generator
            generator.manual_seed(self._seed * 1_000_003 + self._rounds)  # torch.manual_seed takes a millisecond
            yield
