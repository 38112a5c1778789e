"""Statistics of the text of a task, and those that Sokolov et al. 2017 report of theirs."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from corpora.task import Pair, Task
from task.description import OUT_OF_DOMAIN

ScoreFunction = Callable[[str, str], float]  # of a translation and its reference, in [0, 1]


@dataclass(frozen=True, slots=True)
class LengthStatistics:
    """The lengths of sentences in tokens."""

    mean: float
    deviation: float
    median: float  # a whole number, or NaN if there is no sentence
    longest: float

    @classmethod
    def of(cls, counts: Counter[int]) -> "LengthStatistics":
        """Return the statistics of lengths, given the number of sentences of each length."""
        number = counts.total()
        if not number:
            return cls(math.nan, math.nan, math.nan, math.nan)
        mean = sum(length * count for length, count in counts.items()) / number
        variance = sum((length - mean) ** 2 * count for length, count in counts.items()) / number
        passed = 0
        for median in sorted(counts):
            passed += counts[median]
            if 2 * passed >= number:
                break
        return cls(mean, math.sqrt(variance), median, max(counts))


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The statistics of a task. Shares are in [0, 1]. What needs an out-of-domain side is NaN without one."""

    in_domain_pairs: int  # without repetitions of the held-out block
    out_of_domain_pairs: int
    in_domain: LengthStatistics  # of sources
    out_of_domain: LengthStatistics
    duplicates: float  # share of pairs whose source and target occurred before in their phase
    served_duplicates: float  # the same share of all rounds, with repetitions of the held-out block
    several_targets: float  # share of the distinct sources of a phase that have several targets
    source_oov: float  # share of in-domain tokens that are not in the out-of-domain vocabulary
    target_oov: float
    copy_score: float  # mean score of the source as its own translation
    source_vocabulary: int  # distinct in-domain tokens
    target_vocabulary: int

    def flat(self) -> dict[str, float]:
        """Return every number under one name, such as ``in_domain_mean``."""
        numbers: dict[str, float] = {}
        for name, value in asdict(self).items():
            if isinstance(value, dict):
                numbers.update({f"{name}_{part}": number for part, number in value.items()})
            else:
                numbers[name] = value
        return numbers


def measure_task(task: Task, score: ScoreFunction, *, parts: Iterable[str] | None = None) -> CorpusStatistics:
    """Return the statistics of a task. ``parts`` limits the in-domain side to some phases."""
    out_of_domain = _Side()
    for pair in task.pairs(OUT_OF_DOMAIN) if OUT_OF_DOMAIN in task.parts else ():
        out_of_domain.add(pair)
    in_domain, rounds = _InDomain(score), 0
    for part in parts or [part for part in task.parts if part != OUT_OF_DOMAIN]:
        in_domain.begin_phase()
        rounds += task.rounds(part)
        for pair in task.distinct_pairs(part):
            in_domain.add(pair)
    return CorpusStatistics(
        in_domain_pairs=in_domain.lengths.total(),
        out_of_domain_pairs=out_of_domain.lengths.total(),
        in_domain=LengthStatistics.of(in_domain.lengths),
        out_of_domain=LengthStatistics.of(out_of_domain.lengths),
        duplicates=_share(in_domain.repeated, in_domain.lengths.total()),
        served_duplicates=_share(in_domain.repeated + rounds - in_domain.lengths.total(), rounds),
        several_targets=_share(*in_domain.several_targets()),
        source_oov=_oov(in_domain.sources, out_of_domain.sources),
        target_oov=_oov(in_domain.targets, out_of_domain.targets),
        copy_score=_share(in_domain.copy_scores, in_domain.lengths.total()),
        source_vocabulary=len(in_domain.sources),
        target_vocabulary=len(in_domain.targets),
    )


class _Side:
    """The lengths and the vocabulary of a stream of pairs."""

    def __init__(self) -> None:
        self.lengths: Counter[int] = Counter()
        self.sources: Counter[str] = Counter()
        self.targets: Counter[str] = Counter()

    def add(self, pair: Pair) -> None:
        tokens = pair.source.split()
        self.lengths[len(tokens)] += 1
        self.sources.update(tokens)
        self.targets.update(pair.target.split())


class _InDomain(_Side):
    """Also counts repetitions within a phase, which one run of a learner sees.

    Texts are stored as 64-bit hashes, whose collisions are negligible among a million pairs.
    """

    def __init__(self, score: ScoreFunction) -> None:
        super().__init__()
        self._score = score
        self._pairs: set[int] = set()  # of the current phase
        self._targets_of: Counter[int] = Counter()  # number of targets of each source of the current phase
        self._several, self._distinct = 0, 0  # sources of earlier phases
        self.repeated = 0
        self.copy_scores = 0.0

    def begin_phase(self) -> None:
        """Start counting the repetitions of another phase."""
        self._several, self._distinct = self.several_targets()
        self._pairs.clear()
        self._targets_of.clear()

    def add(self, pair: Pair) -> None:
        super().add(pair)
        self.copy_scores += self._score(pair.source, pair.target)
        before = len(self._pairs)
        self._pairs.add(hash(pair[:2]))
        if len(self._pairs) == before:
            self.repeated += 1
        else:
            self._targets_of[hash(pair.source)] += 1

    def several_targets(self) -> tuple[int, int]:
        """Return the number of sources with several targets, and the number of sources."""
        several = sum(1 for targets in self._targets_of.values() if targets > 1)
        return self._several + several, self._distinct + len(self._targets_of)


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan


def _oov(tokens: Counter[str], known: Counter[str]) -> float:
    if not known:
        return math.nan
    return _share(sum(count for token, count in tokens.items() if token not in known), tokens.total())


@dataclass(frozen=True, slots=True)
class PaperValue:
    """A number of the paper, and the range of accepted values."""

    paper: float
    lowest: float
    highest: float

    def accepts(self, value: float) -> bool:
        """Return whether a value is in the range, or is not known (NaN)."""
        return math.isnan(value) or self.lowest <= value <= self.highest


# Sokolov et al. 2017: lengths in Table 2, shares in section 2, the copy score from Table 3 (64,481.8 / 1,297,974). The
# bounds are ours: within them, a corpus counts as similar.
PAPER_VALUES: dict[str, PaperValue] = {
    "in_domain_mean": PaperValue(6.6, 6.3, 6.9),
    "in_domain_deviation": PaperValue(4.8, 4.4, 5.2),
    "in_domain_median": PaperValue(8, 7, 8),
    "in_domain_longest": PaperValue(25, 1, 25),
    "out_of_domain_mean": PaperValue(23.0, 21.5, 24.5),
    "out_of_domain_deviation": PaperValue(14.1, 12.6, 15.6),
    "out_of_domain_longest": PaperValue(150, 1, 150),
    "duplicates": PaperValue(0.11, 0.095, 0.125),
    "several_targets": PaperValue(0.04, 0.03, 0.05),
    "source_oov": PaperValue(0.06, 0.05, 0.07),
    "target_oov": PaperValue(0.02, 0.013, 0.027),
    "copy_score": PaperValue(0.050, 0.040, 0.060),
}


def out_of_tolerance(statistics: CorpusStatistics) -> list[str]:
    """Return the names of the statistics outside their accepted range."""
    numbers = statistics.flat()
    return [name for name, value in PAPER_VALUES.items() if not value.accepts(numbers[name])]


def statistics_record(statistics: CorpusStatistics, *, with_paper: bool = False) -> dict[str, float | list[str] | None]:
    """Return the statistics for JSON: unknown numbers are None.

    ``with_paper`` adds the names of those outside the range of Sokolov et al. 2017 as ``out_of_tolerance``.
    """
    numbers = {name: None if math.isnan(value) else value for name, value in statistics.flat().items()}
    return {**numbers, **({"out_of_tolerance": out_of_tolerance(statistics)} if with_paper else {})}
