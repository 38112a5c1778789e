"""Policies whose parameters offline learning changes: a network, and the weights of a log-linear model."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from learners.nmt.translator import Translator
from learners.offline.logged_round import LoggedRound
from learners.offline.reward_model import RewardModel
from learners.settings import check_bounds
from learners.smt.forest import LogLinearTranslator
from learners.temperature import MIN_TEMPERATURE


@dataclass(frozen=True, kw_only=True)
class PolicyConfig:
    """The distribution over translations that is optimised."""

    # Divides the logits. Propensities can be reweighted only by a policy at a similar temperature: that of our own
    # samplers is 0.3.
    temperature: float = 1.0
    length_normalised: bool = False  # take the geometric mean of the token probabilities for that of a translation
    samples: int = 5  # translations over which a network's expected reward is averaged
    candidates: int = 50  # of a log-linear model, which the search with the seed's weights found
    weight_scale: float = 30.0  # times the tuned weights of a log-linear model, which tuning leaves without a scale

    def __post_init__(self) -> None:
        check_bounds(self, temperature=(MIN_TEMPERATURE, None), samples=(1, None), candidates=(1, None))


class Policy(ABC):
    """A distribution over translations, with parameters that follow a gradient."""

    vector: Tensor  # all parameters; ``vector.grad`` holds the gradient

    @abstractmethod
    def prepare(self, logged: LoggedRound) -> Any | None:
        """Return what ``log_probabilities`` needs of a round; None if the policy cannot produce its translation."""

    @abstractmethod
    def log_probabilities(self, prepared: Sequence[Any]) -> Tensor:
        """Return the log-probability of each logged translation [rounds], with torch's graph."""

    @abstractmethod
    def expected_rewards(self, prepared: Sequence[Any], model: RewardModel, rng: np.random.Generator) -> Tensor:
        """Return the reward that the model expects of this policy [rounds], with torch's graph."""

    @abstractmethod
    def zero_gradient(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _EncodedRound:
    source: str
    source_ids: list[int]
    target_ids: list[int]


class NeuralPolicy(Policy):
    """A network. Its expected reward is averaged over samples, with the score-function gradient."""

    def __init__(self, translator: Translator, config: PolicyConfig) -> None:
        self.translator, self._config = translator, config
        self.vector = translator.vector

    def prepare(self, logged: LoggedRound) -> _EncodedRound:
        translator = self.translator
        return _EncodedRound(
            logged.source, translator.encode_source(logged.source), translator.encode_target(logged.translation)
        )

    def log_probabilities(self, prepared: Sequence[_EncodedRound]) -> Tensor:
        sources, targets = [each.source_ids for each in prepared], [each.target_ids for each in prepared]
        total = self._sequence_log_probabilities(sources, targets)
        if not self._config.length_normalised:
            return total
        return total / torch.tensor([len(target) for target in targets], dtype=total.dtype, device=total.device)

    def expected_rewards(
        self, prepared: Sequence[_EncodedRound], model: RewardModel, rng: np.random.Generator
    ) -> Tensor:
        count, temperature = self._config.samples, self._config.temperature
        drawn = [[self.translator.sample(each.source, temperature, rng) for _ in range(count)] for each in prepared]
        sources = [each.source_ids for each in prepared for _ in range(count)]
        targets = [sample.ids for samples in drawn for sample in samples]
        log_pi = self._sequence_log_probabilities(sources, targets).view(len(prepared), count)
        rewards = torch.stack(
            [
                model.predict(each.source, [sample.text for sample in samples])
                for each, samples in zip(prepared, drawn, strict=True)
            ]
        ).to(log_pi)
        # The value is the mean. The gradient compares each sample with the mean of the others: it stays unbiased.
        advantages = (rewards - rewards.mean(1, keepdim=True)) * (count / max(count - 1, 1))
        return (rewards + advantages * (log_pi - log_pi.detach())).mean(1)

    def _sequence_log_probabilities(self, sources: Sequence[list[int]], targets: Sequence[list[int]]) -> Tensor:
        return self.translator.log_probabilities(sources, targets, self._config.temperature).sum(1)

    def zero_gradient(self) -> None:
        self.translator.zero_gradient()


@dataclass(frozen=True, slots=True)
class CandidateList:
    """The candidates of a source, and which of them was logged."""

    source: str
    translations: list[str]
    features: Tensor  # [candidates, features]
    logged: int


class LogLinearPolicy(Policy):
    """Weights of a log-linear model: a softmax over the candidates that the seed's weights find.

    Each candidate has the features of its best derivation. A logged translation that is not among them has no
    probability, and its round cannot be learned from.
    """

    def __init__(self, translator: LogLinearTranslator, config: PolicyConfig) -> None:
        self.translator, self._config = translator, config
        self._seed_weights = config.weight_scale * translator.weights
        self.vector = torch.tensor(self._seed_weights, requires_grad=True)
        self.vector.grad = torch.zeros_like(self.vector)
        self._lists: dict[str, tuple[list[str], Tensor]] = {}

    def prepare(self, logged: LoggedRound) -> CandidateList | None:
        if logged.source not in self._lists:
            forest = self.translator.forest(logged.source, self._seed_weights)
            found = forest.k_best(self._seed_weights, self._config.candidates)
            features = torch.from_numpy(np.array([derivation.features for derivation in found]))
            self._lists[logged.source] = [derivation.translation for derivation in found], features
        translations, features = self._lists[logged.source]
        if logged.translation not in translations:
            return None
        return CandidateList(logged.source, translations, features, translations.index(logged.translation))

    def log_probabilities(self, prepared: Sequence[CandidateList]) -> Tensor:
        return torch.stack([self._log_probabilities(each)[each.logged] for each in prepared])

    def expected_rewards(
        self,
        prepared: Sequence[CandidateList],
        model: RewardModel,
        rng: np.random.Generator,  # noqa: ARG002
    ) -> Tensor:
        expected = [
            self._log_probabilities(each).exp() @ model.predict(each.source, each.translations) for each in prepared
        ]
        return torch.stack(expected)

    def _log_probabilities(self, each: CandidateList) -> Tensor:
        return (each.features @ self.vector / self._config.temperature).log_softmax(0)

    def zero_gradient(self) -> None:
        assert self.vector.grad is not None, "the constructor allocates the gradient"
        self.vector.grad.zero_()
