"""What kind of text a task has, beside what the task paper says of its own (card A4)."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from corpora.task import Pair, Task
from task.description import OUT_OF_DOMAIN

Scorer = Callable[[str, str], float]  # of a translation against its reference, in [0, 1]


@dataclass(frozen=True, slots=True)
class Lengths:
    """How many tokens the sentences of one side have."""

    mean: float
    deviation: float
    median: float  # whole numbers, or NaN if there is no sentence
    longest: float

    @classmethod
    def of(cls, counts: Counter[int]) -> "Lengths":
        """From how many sentences there are of each length."""
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
class Statistics:
    """A task in numbers. Shares are in [0, 1]; what needs an out-of-domain side is NaN without one."""

    in_domain_pairs: int  # distinct places in the corpus: held-out sentences count once
    out_of_domain_pairs: int
    in_domain: Lengths  # of sources
    out_of_domain: Lengths
    duplicates: float  # share of pairs that occurred before, in their phase, with the same source and target
    served_duplicates: float  # the same of all rounds: every pass of a held-out block after the first repeats it
    several_targets: float  # share of the distinct sources of a phase that have different targets
    source_oov: float  # share of in-domain tokens that the out-of-domain side does not have
    target_oov: float
    copy_score: float  # mean score of the source, sent in as its translation
    source_vocabulary: int  # distinct in-domain tokens
    target_vocabulary: int

    def flat(self) -> dict[str, float]:
        """Every number under a plain name."""
        numbers: dict[str, float] = {}
        for name, value in asdict(self).items():
            if isinstance(value, dict):
                numbers.update({f"{name}_{part}": number for part, number in value.items()})
            else:
                numbers[name] = value
        return numbers


def measure(task: Task, score: Scorer, *, parts: Iterable[str] | None = None) -> Statistics:
    """Read a task once. ``parts`` limits the in-domain side to some phases."""
    out_of_domain = _Side()
    for pair in task.pairs(OUT_OF_DOMAIN) if OUT_OF_DOMAIN in task.parts else ():
        out_of_domain.add(pair)
    in_domain, rounds = _InDomain(score), 0
    for part in parts or [part for part in task.parts if part != OUT_OF_DOMAIN]:
        in_domain.begin_phase()
        rounds += task.rounds(part)
        for pair in task.distinct_pairs(part):
            in_domain.add(pair)
    return Statistics(
        in_domain_pairs=in_domain.lengths.total(),
        out_of_domain_pairs=out_of_domain.lengths.total(),
        in_domain=Lengths.of(in_domain.lengths),
        out_of_domain=Lengths.of(out_of_domain.lengths),
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
    """Lengths and vocabulary of a stream of pairs."""

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
    """Also what repeats within a phase, which is what one run of a learner sees.

    Texts are kept as hashes of 64 bits: a million pairs hardly ever meet by accident.
    """

    def __init__(self, score: Scorer) -> None:
        super().__init__()
        self._score = score
        self._pairs: set[int] = set()  # of the phase at hand
        self._targets_of: Counter[int] = Counter()  # different targets per source of the phase at hand
        self._several, self._distinct = 0, 0  # sources of the phases before
        self.repeated = 0
        self.copy_scores = 0.0

    def begin_phase(self) -> None:
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
        """How many sources have several targets, and how many there are."""
        several = sum(1 for targets in self._targets_of.values() if targets > 1)
        return self._several + several, self._distinct + len(self._targets_of)


def _share(part: float, whole: int) -> float:
    return part / whole if whole else math.nan


def _oov(tokens: Counter[str], known: Counter[str]) -> float:
    if not known:
        return math.nan
    return _share(sum(count for token, count in tokens.items() if token not in known), tokens.total())


@dataclass(frozen=True, slots=True)
class Target:
    """A number of the paper, and what is near enough to it."""

    paper: float
    lowest: float
    highest: float

    def met_by(self, value: float) -> bool:
        return math.isnan(value) or self.lowest <= value <= self.highest


# The values of the task paper, section 4, with the bounds within which a corpus counts as being like it.
TARGETS: dict[str, Target] = {
    "in_domain_mean": Target(6.6, 6.3, 6.9),
    "in_domain_deviation": Target(4.8, 4.4, 5.2),
    "in_domain_median": Target(8, 7, 8),
    "in_domain_longest": Target(25, 1, 25),
    "out_of_domain_mean": Target(23.0, 21.5, 24.5),
    "out_of_domain_deviation": Target(14.1, 12.6, 15.6),
    "out_of_domain_longest": Target(150, 1, 150),
    "duplicates": Target(0.11, 0.095, 0.125),
    "several_targets": Target(0.04, 0.03, 0.05),
    "source_oov": Target(0.06, 0.05, 0.07),
    "target_oov": Target(0.02, 0.013, 0.027),
    "copy_score": Target(0.050, 0.040, 0.060),
}


def out_of_tolerance(statistics: Statistics) -> list[str]:
    """The names of the numbers that are not like the paper's."""
    numbers = statistics.flat()
    return [name for name, target in TARGETS.items() if not target.met_by(numbers[name])]
