"""The tables of the study of adaptation beside those of the papers, and which of the papers' findings hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from benchmarks.studies.adaptation_findings import FINDINGS, verdict
from benchmarks.studies.adaptation_results import SeedResults
from benchmarks.studies.adaptation_runs import PARTS
from leaderboard.evaluation.comparison import Evaluation
from leaderboard.evaluation.learning import LearningCurve
from leaderboard.metrics.bootstrap import Difference
from leaderboard.metrics.learning_curve import CurveModel

NO_VALUE = "-"

# Simianer et al. 2019, Tables 1 and 2 (Autodesk): BLEU, SBLEU, TER, R0, R1, R0+1.
PUBLISHED = {
    "ADAPT-none": (40.3, 49.3, 45.2, 39.3, 44.9, 41.0),
    "ADAPT-bias": (40.4, 49.5, 45.0, 39.3, 45.3, 41.1),
    "ADAPT-full": (47.0, 55.9, 44.0, 35.8, 55.0, 41.6),
    "ADAPT-lasso": (46.3, 54.3, 42.6, 40.3, 48.6, 42.8),
    "ADAPT-fixed": (47.1, 55.5, 41.0, 35.8, 52.3, 40.8),
    "ADAPT-top": (43.2, 54.0, 49.5, 35.6, 50.3, 40.0),
}
# Simianer et al. 2019, Tables 3 and 4: R0, R1, R0+1 of words that the training text lacks, and of subwords.
PUBLISHED_NOVEL = {
    "ADAPT-none": (27.1, 40.7, 29.9),
    "ADAPT-full": (26.1, 63.0, 33.8),
    "ADAPT-lasso": (31.9, 53.1, 36.3),
}
PUBLISHED_SUBWORDS = {
    "ADAPT-none": (44.1, 48.1, 45.5),
    "ADAPT-full": (40.4, 54.6, 45.4),
    "ADAPT-lasso": (43.7, 51.7, 46.5),
}
# Bertoldi et al. 2012, Table 2: the percentage slopes of TER by block and of TER over all blocks so far.
PUBLISHED_SLOPES = {
    "SMT-BG": (100.4, 100.3),
    "SMT-ADAPTING": (96.9, 97.7),
    "SMT-FG-FAIR": (96.2, 96.5),
    "SMT-FG-UNFAIR": (107.2, 107.4),
}

Published = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class StreamResults:
    """The results of all base models on one task."""

    title: str
    seeds: Sequence[SeedResults]


def report(streams: Mapping[str, StreamResults], size: str) -> str:
    """Return all tables as Markdown; ``size`` describes the study."""
    lines = [
        f"Size of this study: {size}. Its numbers are not those of the papers, whose data and models are not public.",
        "",
        "Numbers are means over the base models. Differences are to the first system of a table; their intervals span "
        "the 95 % intervals of all base models.",
        "",
        "## Findings of the papers",
        "",
        "In brackets: for how many base models. What rises or falls does so by more than its 95 % interval.",
        "",
        *_findings_table(streams),
    ]
    for name, stream in streams.items():
        lines += ["", f"## {name}: {stream.title}", "", *_stream_tables(stream.seeds)]
    return "\n".join(lines)


def _findings_table(streams: Mapping[str, StreamResults]) -> list[str]:
    rows = [
        [text, *(verdict(finding, stream.seeds) for stream in streams.values())] for text, finding in FINDINGS.items()
    ]
    return _table(["finding", *streams], rows)


def _stream_tables(seeds: Sequence[SeedResults]) -> list[str]:
    return [
        "Tables 1 and 2 of Simianer et al. 2019, all content words:",
        "",
        *_score_table([one.words for one in seeds], PUBLISHED),
        "",
        "Table 3, content words that the training text lacks:",
        "",
        *_score_table([one.novel for one in seeds], PUBLISHED_NOVEL),
        "",
        "Table 4, subwords:",
        "",
        *_score_table([one.subwords for one in seeds], PUBLISHED_SUBWORDS),
        "",
        "Table 2 of Bertoldi et al. 2012, percentage slopes of TER; 100 is no learning, less is learning. The paper's "
        "adapting system lowers TER by 9.3 % and raises BLEU by 3.9 % of the baseline's:",
        "",
        *_slope_table(seeds),
        "",
        "Figure 5 of Bertoldi et al. 2012, BLEU of the held-out third of each part of the rounds:",
        "",
        *_reliability_table(seeds),
    ]


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rulers = ["---", *["---:"] * (len(heading) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (heading, rulers, *rows)]


def _score_cells(evaluations: Sequence[Evaluation], system: str) -> list[str]:
    """Return a cell for each measure: the mean score, and the difference with its interval."""
    cells = []
    for column in range(len(evaluations[0].measures)):
        scores = [one.scores[system][column] for one in evaluations]
        values = [score.value for score in scores if score.value is not None]
        cell = f"{mean(values):.1f}" if values else NO_VALUE
        shown = _differences([score.difference for score in scores])
        cells.append(f"{cell} ({shown})" if shown else cell)
    return cells


def _differences(found: Sequence[Difference | None]) -> str:
    """Return the mean of differences, and the span of their intervals; nothing without any."""
    known = [one for one in found if one is not None]
    if not known:
        return ""
    low, high = min(one.low for one in known), max(one.high for one in known)
    return f"{mean(one.mean for one in known):+.1f}; {low:+.1f} to {high:+.1f}"


def _published(published: Published, system: str) -> str:
    return " / ".join(f"{value:.1f}" for value in published[system]) if system in published else NO_VALUE


def _score_table(evaluations: Sequence[Evaluation], published: Published) -> list[str]:
    names = [measure.name for measure in evaluations[0].measures]
    rows = [
        [system, *_score_cells(evaluations, system), _published(published, system)] for system in evaluations[0].scores
    ]
    return _table(["system", *names, "paper"], rows)


def _slope_table(seeds: Sequence[SeedResults]) -> list[str]:
    evaluations = [one.statistical for one in seeds]
    rows = [
        [
            system,
            *_score_cells(evaluations, system),
            *(_slope_cell([one.slopes[model] for one in seeds], system) for model in CurveModel),
            _published(PUBLISHED_SLOPES, system),
        ]
        for system in evaluations[0].scores
    ]
    names = [measure.name for measure in evaluations[0].measures]
    return _table(["system", *names, "slope by block", "over all blocks so far", "paper's slopes"], rows)


def _slope_cell(seeds: Sequence[Mapping[str, LearningCurve]], system: str) -> str:
    slopes = [curves[system].slope for curves in seeds if system in curves]
    if not slopes:
        return NO_VALUE
    cell = f"{mean(slope.percentage for slope in slopes):.1f}"
    intervals = [slope.interval for slope in slopes if slope.interval is not None]
    if not intervals:
        return cell
    return f"{cell} ({min(low for low, _ in intervals):.1f} to {max(high for _, high in intervals):.1f})"


def _reliability_table(seeds: Sequence[SeedResults]) -> list[str]:
    rows = []
    for system in seeds[0].reliability:
        found = [one.reliability[system] for one in seeds]
        parts = [part for one in found for part in one.parts.documents]
        rows.append(
            [
                system,
                *(
                    f"{mean(values):.1f}"
                    for values in zip(*((p.baseline, p.adapted, p.final) for p in parts), strict=True)
                ),
                _differences([one.gain for one in found]) or NO_VALUE,
                _differences([one.drift for one in found]) or NO_VALUE,
                f"{mean(len(one.parts.forgotten) for one in found):.1f} of {PARTS}",
            ]
        )
    heading = ["system", "bsln", "ada", "final", "ada - bsln", "final - ada", "parts with final below ada"]
    return _table(heading, rows)
