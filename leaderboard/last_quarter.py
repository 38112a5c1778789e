"""The last quarter of a run: what it earned, how it translated, and whether it earned more by translating worse.

Sentence BLEU, the reward, can rise while translations get worse: it rewards a single right word most. Corpus BLEU does
not follow it there. So the last quarter of a phase, by when a learner has learned most, is compared with the same
rounds of a baseline: a run that earned more reward with significantly lower corpus BLEU is marked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from leaderboard.measures import CACHED_RUNS
from leaderboard.metrics.bleu import BleuStatistics
from leaderboard.metrics.bootstrap import CONFIDENCE, MIN_BLOCKS, Difference, Interval, resampled_bleu
from leaderboard.metrics.online import Tally, last_quarter_start
from leaderboard.summaries import Summary

MARK = "reward up, BLEU down"
MARK_MEANING = "earned more than the baseline in the last quarter, but with significantly lower corpus BLEU"


@dataclass(frozen=True, slots=True)
class BaselineDifference:
    """A run minus its baseline, over the rounds of the last quarter that both have played."""

    baseline: str  # the baseline's run
    rounds: int
    reward: float  # per round
    corpus_bleu: float
    interval: Interval | None  # of the difference in corpus BLEU, if the run earned more with lower corpus BLEU
    reward_up_bleu_down: bool | None  # whether the run is marked; None if there are too few blocks to tell


@dataclass(frozen=True, slots=True)
class LastQuarter:
    """The rounds of a run in the last quarter of its phase, as far as it has come."""

    rounds: int
    mean_reward: float
    corpus_bleu: float
    length_ratio: float | None
    single_words: float | None  # share of references of two or more words that were answered with one
    difference: BaselineDifference | None  # None without a baseline, and for the baseline itself

    @property
    def is_marked(self) -> bool:
        """Whether the run earned more than its baseline, but with significantly lower corpus BLEU."""
        return self.difference is not None and bool(self.difference.reward_up_bleu_down)


def last_quarter(summary: Summary, baseline: Summary | None, total: int) -> LastQuarter | None:
    """Return the last quarter of a run in a phase of ``total`` rounds, or None before its first round."""
    tally = summary.record.last_quarter(total)
    if tally is None:
        return None
    return LastQuarter(
        tally.rounds,
        tally.reward / tally.rounds,
        tally.corpus_bleu,
        tally.length_ratio,
        tally.single_word_share,
        None if baseline is None or baseline is summary else _difference(summary, baseline, total),
    )


def _difference(run: Summary, baseline: Summary, total: int) -> BaselineDifference | None:
    """Return the difference over the blocks that both have completed, or None if there are none."""
    ours, theirs = _samples(run, total), _samples(baseline, total)
    shared = sorted(ours.keys() & theirs.keys())
    if len(shared) < 2:
        return None
    mine, yours = (samples[shared[-1]].minus(samples[shared[0]]) for samples in (ours, theirs))
    reward, bleu = (mine.reward - yours.reward) / mine.rounds, mine.corpus_bleu - yours.corpus_bleu
    found = BaselineDifference(baseline.identity.run, mine.rounds, reward, bleu, None, False)
    if reward <= 0 or bleu >= 0:
        return found  # without a test: resampling BLEU is slow, and a board may have hundreds of runs
    tested = _test(bleu, *(_blocks([samples[k] for k in shared]) for samples in (ours, theirs)))
    if tested is None:
        return replace(found, reward_up_bleu_down=None)
    return replace(found, interval=(tested.low, tested.high), reward_up_bleu_down=tested.high < 0)


def _samples(summary: Summary, total: int) -> dict[int, Tally]:
    """Return the tallies where the last quarter begins, at the ends of its blocks, and at the end of a finished run."""
    samples = dict(summary.record.late)
    if not last_quarter_start(total):
        samples[0] = Tally()
    if summary.rounds == total:
        samples[total] = summary.record.total
    return samples


Blocks = tuple[BleuStatistics, ...]


def _blocks(samples: Sequence[Tally]) -> Blocks:
    return tuple(after.minus(before).statistics for before, after in pairwise(samples))


@lru_cache(maxsize=CACHED_RUNS)
def _test(observed: float, ours: Blocks, theirs: Blocks) -> Difference | None:
    """Return the observed difference in corpus BLEU with its interval, or None if there are too few blocks."""
    if len(ours) < MIN_BLOCKS:
        return None
    resampled = [a - b for a, b in zip(resampled_bleu(ours), resampled_bleu(theirs), strict=True)]
    return Difference.from_resamples(observed, resampled, confidence=CONFIDENCE, blocks=len(ours))
