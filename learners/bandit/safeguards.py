"""What keeps a policy gradient from running away: outputs must neither grow without end nor freeze into one habit.

Sentence BLEU forgives length: a learner can earn more by saying everything twice, until corpus BLEU halves. And a
policy that has stopped exploring cannot come back.
"""

from dataclasses import dataclass

from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class SafeguardConfig:
    """When the guards step in; as it stands, never."""

    max_length_ratio: float | None = None  # how much longer than at the start outputs may get, as a ratio; None for any
    anchor_rounds: int = 500  # rounds that tell how long outputs were at the start
    min_entropy: float = 0.0  # nats per token below which samples have become too predictable
    entropy_bonus: float = 0.0  # reward per nat of entropy while they are
    negative_advantage_weight: float = (
        1.0  # weight of negative advantages: a bad sample says little about what would be better
    )
    running_mean_decay: float = 0.99  # of the running means


class Safeguards:
    """Watches the length and the surprise of what is proposed."""

    def __init__(self, config: SafeguardConfig = SafeguardConfig()) -> None:  # noqa: B008 (cannot be changed)
        self._config = config
        self._rounds = 0
        self._anchor = 0.0  # mean length ratio of the first rounds
        self._ratio = 0.0  # running mean of the length ratio
        self._surprise = 0.0  # running mean of -log p per token, an estimate of the entropy

    def observe(self, *, source: int, output: int, log_probability: float) -> None:
        """Take a proposal into account: its length and that of its source in tokens, and its log-probability."""
        ratio, surprise = output / max(source, 1), -log_probability / max(output, 1)
        self._rounds += 1
        new = max(1 - self._config.running_mean_decay, 1 / self._rounds)  # a plain mean at first
        self._ratio += new * (ratio - self._ratio)
        self._surprise += new * (surprise - self._surprise)
        if self._rounds <= self._config.anchor_rounds:
            self._anchor += (ratio - self._anchor) / self._rounds

    def allowed(self, advantage: float, *, source: int, output: int) -> float:
        """The advantage to learn from: none for an output longer than they used to be, while all grow too long."""
        if advantage <= 0:
            return self._config.negative_advantage_weight * advantage
        if self._config.max_length_ratio is None or self._rounds <= self._config.anchor_rounds:
            return advantage
        overlong = self._ratio > self._config.max_length_ratio * self._anchor and output / max(source, 1) > self._anchor
        return 0.0 if overlong else advantage

    @property
    def entropy_weight(self) -> float:
        """What a nat of entropy is worth now."""
        return self._config.entropy_bonus if self._surprise < self._config.min_entropy else 0.0

    def save(self) -> Snapshot:
        return Snapshot(values={"state": [self._rounds, self._anchor, self._ratio, self._surprise]})

    def load(self, snapshot: Snapshot) -> None:
        self._rounds, self._anchor, self._ratio, self._surprise = snapshot.values["state"]
