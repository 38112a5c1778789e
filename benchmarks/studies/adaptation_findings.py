"""The findings of the sister papers, and for each base model whether it has them.

A finding that something rises or falls needs an interval that excludes zero. A finding that something does not change
needs a small difference.
"""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.studies.adaptation_results import ADAPTING, BIAS, FULL, LASSO, SeedResults
from leaderboard.evaluation.comparison import Evaluation
from leaderboard.metrics.bootstrap import Difference, Interval
from leaderboard.metrics.learning_curve import CurveModel

SMALL = 1.0  # points of BLEU or of recall: what "about the same" means here
NO_SLOPE = 2.0  # points of the percentage slope that "about 100" allows

Finding = Callable[[SeedResults], bool | None]  # None if the study is too short to say


def difference(found: Evaluation, system: str, measure: str) -> Difference | None:
    """Return the difference of a system from the first one."""
    column = [each.name for each in found.measures].index(measure)
    return found.scores[system][column].difference


def _rises(found: Difference | None) -> bool | None:
    return None if found is None else found.low > 0


def _falls(found: Difference | None) -> bool | None:
    return None if found is None else found.high < 0


def _is_small(found: Difference | None) -> bool | None:
    return None if found is None else abs(found.mean) <= SMALL


def _lasso_keeps_r0(one: SeedResults) -> bool | None:
    falls = _falls(difference(one.words, LASSO, "R0"))
    return None if falls is None else not falls


def _lasso_keeps_more(one: SeedResults) -> bool | None:
    lasso, full = (difference(one.words, system, "R0") for system in (LASSO, FULL))
    return None if lasso is None or full is None else lasso.mean > full.mean


def _bias_changes_little(one: SeedResults) -> bool | None:
    small = [_is_small(difference(one.words, BIAS, measure)) for measure in ("R0", "R1", "BLEU")]
    return None if None in small else all(small)


def _slope(system: str, holds: Callable[[float, Interval], bool]) -> Finding:
    def check(one: SeedResults) -> bool | None:
        curve = one.slopes[CurveModel.UNIT].get(system)
        if curve is None or curve.slope.interval is None:
            return None
        return holds(curve.slope.percentage, curve.slope.interval)

    return check


FINDINGS: Mapping[str, Finding] = {
    "full raises R1": lambda one: _rises(difference(one.words, FULL, "R1")),
    "full lowers R0": lambda one: _falls(difference(one.words, FULL, "R0")),
    "full raises BLEU": lambda one: _rises(difference(one.words, FULL, "BLEU")),
    "lasso does not lose R0": _lasso_keeps_r0,
    "lasso loses less R0 than full": _lasso_keeps_more,
    "lasso raises BLEU": lambda one: _rises(difference(one.words, LASSO, "BLEU")),
    f"bias changes R0, R1 and BLEU by at most {SMALL:g} point": _bias_changes_little,
    f"the slope of SMT-BG is within {NO_SLOPE:g} points of 100": _slope(
        "SMT-BG", lambda value, _: abs(value - 100) <= NO_SLOPE
    ),
    "the slope of SMT-ADAPTING is below 100": _slope("SMT-ADAPTING", lambda _, interval: interval[1] < 100),
    "the slope of SMT-FG-FAIR is below 100": _slope("SMT-FG-FAIR", lambda _, interval: interval[1] < 100),
    "the slope of SMT-FG-UNFAIR is above 100": _slope("SMT-FG-UNFAIR", lambda _, interval: interval[0] > 100),
    "SMT-ADAPTING lowers TER": lambda one: _falls(difference(one.statistical, ADAPTING, "TER")),
    "SMT-ADAPTING raises BLEU": lambda one: _rises(difference(one.statistical, ADAPTING, "BLEU")),
    f"final is within {SMALL:g} point of BLEU of ada for SMT-ADAPTING": lambda one: _is_small(
        one.reliability[ADAPTING].drift
    ),
}


def verdict(finding: Finding, seeds: Sequence[SeedResults]) -> str:
    """Return in words whether a finding holds, and for how many base models."""
    found = [finding(one) for one in seeds]
    if None in found:
        return "too short to say"
    count = sum(map(bool, found))
    word = "holds" if count == len(found) else "mixed" if count else "does not hold"
    return f"{word} ({count} of {len(found)})"
