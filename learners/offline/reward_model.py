"""A model of the reward of any translation, learned from logged ones: what DC, c-DC and DR need.

A linear model over words of the source, words of the translation, pairs of both, and lengths. Features are hashed into
a fixed number of weights. A part of the log that it is not fitted to decides how long it is fitted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from learners.bandit.value import bucket
from learners.offline.logged_round import LogError, LoggedRound, batches, split_by_source
from learners.settings import check_bounds

MIN_ROUNDS = 2


@dataclass(frozen=True, kw_only=True)
class RewardModelConfig:
    """Features and fit of a reward model."""

    buckets: int = 1 << 16  # number of weights that features are hashed into
    max_pairs: int = 400  # pairs of a source word and a target word: a long sentence would have thousands
    learning_rate: float = 0.03  # of Adagrad, which takes smaller steps for frequent features
    batch: int = 64  # rounds per step
    epochs: int = 20  # at most: the one with the lowest held-out error counts
    held_out: float = 0.1  # share of the sources that only measure the error

    def __post_init__(self) -> None:
        check_bounds(
            self, buckets=(1, 1 << 24), max_pairs=(0, None), batch=(1, None), epochs=(0, None), held_out=(0, 1)
        )


class RewardModel:
    """Predicts the reward of a translation of a source."""

    def __init__(self, config: RewardModelConfig, weights: Tensor, mean: float, explained: float) -> None:
        """Create a fitted model; see ``fit``.

        Args:
            config: Its features.
            weights: The weight of each hashed feature [buckets].
            mean: The mean logged reward, which the weights correct.
            explained: Share of the variance of held-out rewards that the model explains, at most 1.
        """
        self._config, self._weights, self._mean, self.explained = config, weights, mean, explained

    def predict(self, source: str, translations: Sequence[str]) -> Tensor:
        """Return the predicted rewards [translations], each between 0 and 1."""
        if not translations:
            return torch.zeros(0, dtype=self._weights.dtype)
        values = [self._weights[_features(source, text, self._config)].sum() for text in translations]
        return (self._mean + torch.stack(values)).clamp(0.0, 1.0)

    @classmethod
    def fit(
        cls, rounds: Sequence[LoggedRound], config: RewardModelConfig | None = None, *, seed: int = 0
    ) -> "RewardModel":
        """Return a model of the logged rewards; raise LogError if there are too few."""
        config = config or RewardModelConfig()
        if len(rounds) < MIN_ROUNDS:
            raise LogError(f"a reward model needs at least {MIN_ROUNDS} logged rounds, but there are {len(rounds)}")
        training, held_out = split_by_source(rounds, config.held_out, seed=seed)
        training, held_out = (training or held_out), (held_out or training)
        mean = sum(each.reward for each in training) / len(training)
        bag = nn.EmbeddingBag(config.buckets, 1, mode="sum", dtype=torch.float64)
        nn.init.zeros_(bag.weight)
        best, best_error = bag.weight.detach().clone(), float("inf")
        encoded, rewards = _encode(training, config), _rewards(training, mean)
        checked, checked_rewards = _encode(held_out, config), _rewards(held_out, mean)
        for error in _fit_epochs(bag, encoded, rewards, checked, checked_rewards, config, seed):
            if error >= best_error:
                break
            best, best_error = bag.weight.detach().clone(), error
        variance = float(checked_rewards.var(correction=0))
        return cls(config, best[:, 0], mean, 1 - best_error / variance if variance else 0.0)


def _fit_epochs(
    bag: nn.EmbeddingBag,
    encoded: Sequence[list[int]],
    rewards: Tensor,
    checked: Sequence[list[int]],
    checked_rewards: Tensor,
    config: RewardModelConfig,
    seed: int,
) -> Iterator[float]:
    """Yield the mean squared held-out error before the first epoch and after each."""
    optimiser = torch.optim.Adagrad(bag.parameters(), lr=config.learning_rate)
    yield _error(bag, checked, checked_rewards)
    for epoch in range(config.epochs):
        order = np.random.default_rng([seed, epoch]).permutation(len(encoded)).tolist()
        for indices in batches(order, config.batch):
            optimiser.zero_grad()
            loss = (_apply(bag, [encoded[index] for index in indices]) - rewards[indices]).square().mean()
            loss.backward()
            optimiser.step()
        yield _error(bag, checked, checked_rewards)


@torch.no_grad()
def _error(bag: nn.EmbeddingBag, encoded: Sequence[list[int]], rewards: Tensor) -> float:
    return float((_apply(bag, encoded) - rewards).square().mean())


def _apply(bag: nn.EmbeddingBag, encoded: Sequence[list[int]]) -> Tensor:
    offsets = np.cumsum([0, *(len(features) for features in encoded[:-1])])
    flat = torch.tensor([feature for features in encoded for feature in features])
    result: Tensor = bag(flat, torch.from_numpy(offsets))[:, 0]
    return result


def _encode(rounds: Sequence[LoggedRound], config: RewardModelConfig) -> list[list[int]]:
    return [_features(each.source, each.translation, config) for each in rounds]


def _rewards(rounds: Sequence[LoggedRound], mean: float) -> Tensor:
    return torch.tensor([each.reward - mean for each in rounds], dtype=torch.float64)


def _features(source: str, translation: str, config: RewardModelConfig) -> list[int]:
    """Return the buckets of a translation's features, each once."""
    words, written = list(dict.fromkeys(source.split())), list(dict.fromkeys(translation.split()))
    source_length, length = len(source.split()), len(translation.split())
    pairs = [f"{word}\t{other}" for word in words for other in written][: config.max_pairs]
    names = (
        f"source length {min(source_length, 20)}",
        f"length ratio {round(4 * length / max(source_length, 1))}",
        f"repeated words {length - len(written)}",
        *(f"source {word}" for word in words),
        *(f"target {word}" for word in written),
        *pairs,
    )
    return sorted({bucket(name, config.buckets) for name in names})
