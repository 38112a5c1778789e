"""Safeguards of a policy gradient: outputs must neither grow without end nor lose their diversity.

Sentence BLEU forgives length: a learner can earn more by saying everything twice, until corpus BLEU halves. And a
policy that has stopped exploring cannot recover.
"""

from dataclasses import dataclass

from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SafeguardConfig:
    """When the safeguards step in; by default, never."""

    max_length_ratio: float | None = None  # of mean output length to that of the first rounds; None for no limit
    anchor_rounds: int = 500  # first rounds, which the lengths of later outputs are compared with
    min_entropy: float = 0.0  # nats per token below which samples have become too predictable
    entropy_bonus: float = 0.0  # reward per nat of entropy while they are
    negative_advantage_weight: float = 1.0  # less than 1: a bad sample says little about what would be better
    running_mean_decay: float = 0.99


class Safeguards:
    """Watches the length and the entropy of samples."""

    def __init__(self, config: SafeguardConfig = SafeguardConfig()) -> None:  # noqa: B008 (cannot be changed)
        self._config = config
        self._rounds = 0
        self._anchor = 0.0  # mean length ratio of output to source in the first rounds
        self._ratio = 0.0  # running mean of the length ratio
        self._entropy = 0.0  # running mean of -log p per token, which estimates the entropy

    def observe(self, *, source_length: int, output_length: int, log_probability: float) -> None:
        """Take a sample into account; lengths are in tokens."""
        ratio, entropy = output_length / max(source_length, 1), -log_probability / max(output_length, 1)
        self._rounds += 1
        weight = max(1 - self._config.running_mean_decay, 1 / self._rounds)  # a plain mean at first
        self._ratio += weight * (ratio - self._ratio)
        self._entropy += weight * (entropy - self._entropy)
        if self._rounds <= self._config.anchor_rounds:
            self._anchor += (ratio - self._anchor) / self._rounds

    def limit(self, advantage: float, *, source_length: int, output_length: int) -> float:
        """Return the advantage to learn from.

        A negative advantage is weighted down. A positive one is 0 if outputs are too long on average, and this one is
        longer than those of the first rounds.
        """
        if advantage <= 0:
            return self._config.negative_advantage_weight * advantage
        if self._config.max_length_ratio is None or self._rounds <= self._config.anchor_rounds:
            return advantage
        outputs_are_long = self._ratio > self._config.max_length_ratio * self._anchor
        this_is_long = output_length / max(source_length, 1) > self._anchor
        return 0.0 if outputs_are_long and this_is_long else advantage

    @property
    def entropy_weight(self) -> float:
        """The current reward per nat of entropy."""
        return self._config.entropy_bonus if self._entropy < self._config.min_entropy else 0.0

    def save(self) -> Snapshot:
        return Snapshot(values={"state": [self._rounds, self._anchor, self._ratio, self._entropy]})

    def load(self, snapshot: Snapshot) -> None:
        self._rounds, self._anchor, self._ratio, self._entropy = snapshot.values["state"]
