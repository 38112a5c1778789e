"""The schedule of MIXER (Ranzato et al. 2016): from cross-entropy to policy gradient, from the last token to the first.

In epoch e, the first ``max_tokens - delta * e`` tokens are trained by cross-entropy and the rest by policy gradient. A
bandit task has no references, so that cross-entropy runs on out-of-domain pairs.
"""

from dataclasses import dataclass

from learners.settings import check_bounds


@dataclass(frozen=True, kw_only=True)
class MixerSchedule:
    """How fast policy gradient takes over."""

    max_tokens: int = 20  # that are trained by cross-entropy in the first epoch; most sentences have fewer
    delta: int = 4  # tokens by which cross-entropy shrinks in each epoch
    epoch_rounds: int = 1_000  # rounds of an epoch: a run has no passes over a text that could be counted
    pairs: int = 4  # out-of-domain pairs that each step learns from, while cross-entropy lasts

    def __post_init__(self) -> None:
        check_bounds(self, max_tokens=(0, None), delta=(1, None), epoch_rounds=(1, None), pairs=(1, None))

    def cross_entropy_tokens(self, epoch: int) -> int:
        """Return the number of first tokens that are trained by cross-entropy in an epoch, from 0."""
        return max(0, self.max_tokens - self.delta * epoch)

    def tokens_at(self, k: int) -> int:
        """Return the same for round ``k``, from 1."""
        return self.cross_entropy_tokens((k - 1) // self.epoch_rounds)
