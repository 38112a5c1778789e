"""The tables of the study of adaptation, beside those of the papers."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from leaderboard.evaluation.comparison import evaluate
from leaderboard.evaluation.documents import score_documents
from leaderboard.evaluation.learning import learning_curves
from leaderboard.evaluation.measures import (
    Measure,
    bleu_measure,
    recall_measures,
    sentence_bleu_measure,
    ter_measure,
)
from leaderboard.metrics.learning_curve import CurveModel, LearningCurveError
from leaderboard.metrics.reliability import Reliability, held_out_from

PARTS = 6  # of the stream, for backward reliability
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

Texts = Mapping[str, Sequence[str]]  # by system


@dataclass(frozen=True)
class StudyTexts:
    """What the systems of one base-model seed have translated."""

    references: Sequence[str]
    shuffled_references: Sequence[str]
    networks: Texts  # in natural order; the first is the baseline
    statistical: Texts  # in random order
    reliability: Mapping[str, Texts]  # of the held-out parts, by system: baseline, adapted, final
    subwords: Callable[[str], str]  # returns a text as the base model reads it


def report(seeds: Sequence[StudyTexts], language: str, known: Collection[str], size: str) -> str:
    """Return all tables as Markdown; ``known`` are the words of the training text, ``size`` describes the study."""
    traditional = [bleu_measure(), sentence_bleu_measure(), ter_measure()]
    words, novel, every = (
        recall_measures(language),
        recall_measures(language, known=known),
        recall_measures(None),
    )
    chosen = list(PUBLISHED_NOVEL)
    lines = [
        f"Size of this study: {size}. Its numbers are not those of the papers, whose data and models are not public.",
        "",
        "Differences are to ADAPT-none; the interval of a difference is the widest of the base models' 95 % intervals.",
        "",
        "Tables 1 and 2 of Simianer et al. 2019, all content words:",
        "",
        *_score_table([(one.networks, one.references) for one in seeds], [*traditional, *words], PUBLISHED),
        "",
        "Table 3, content words that the training text lacks:",
        "",
        *_score_table([(_only(one.networks, chosen), one.references) for one in seeds], novel, PUBLISHED_NOVEL),
        "",
        "Table 4, subwords:",
        "",
        *_score_table([_as_subwords(one, chosen) for one in seeds], every, PUBLISHED_SUBWORDS),
        "",
        "Table 2 of Bertoldi et al. 2012, percentage slopes of TER; 100 is no learning, less is learning:",
        "",
        *_slope_table(seeds),
        "",
        "Figure 5 of Bertoldi et al. 2012, BLEU of the held-out third of each part of the stream:",
        "",
        *_reliability_table(seeds),
    ]
    return "\n".join(lines)


def _only(texts: Texts, names: Sequence[str]) -> dict[str, Sequence[str]]:
    return {name: texts[name] for name in names}


def _as_subwords(one: StudyTexts, names: Sequence[str]) -> tuple[Texts, Sequence[str]]:
    texts = {name: [one.subwords(line) for line in one.networks[name]] for name in names}
    return texts, [one.subwords(line) for line in one.references]


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rulers = ["---", *["---:"] * (len(heading) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (heading, rulers, *rows)]


def _score_table(
    seeds: Sequence[tuple[Texts, Sequence[str]]],
    measures: Sequence[Measure],
    published: Mapping[str, Sequence[float]],
) -> list[str]:
    """Return a row for each system: mean scores, differences with their intervals, and the paper's scores."""
    evaluations = [evaluate(texts, references, measures) for texts, references in seeds]
    rows = []
    for name in seeds[0][0]:
        cells = []
        for column in range(len(measures)):
            scores = [one.scores[name][column] for one in evaluations]
            values = [score.value for score in scores if score.value is not None]
            cell = f"{mean(values):.1f}" if values else NO_VALUE
            differences = [score.difference for score in scores if score.difference is not None]
            if differences:
                low, high = min(one.low for one in differences), max(one.high for one in differences)
                cell += f" ({mean(one.mean for one in differences):+.1f}; {low:+.1f} to {high:+.1f})"
            cells.append(cell)
        paper = " / ".join(f"{value:.1f}" for value in published[name]) if name in published else NO_VALUE
        rows.append([name, *cells, paper])
    return _table(["system", *(measure.name for measure in measures), "paper"], rows)


def _slope_table(seeds: Sequence[StudyTexts]) -> list[str]:
    rows = []
    for name in seeds[0].statistical:
        cells = []
        for model in (CurveModel.UNIT, CurveModel.CUMULATIVE):
            slopes = [_slope(one.statistical[name], one.shuffled_references, name, model) for one in seeds]
            known = [slope for slope in slopes if slope is not None]
            if not known:
                cells.append(NO_VALUE)
                continue
            low, high = min(one[1] for one in known), max(one[2] for one in known)
            cells.append(f"{mean(one[0] for one in known):.1f} ({low:.1f} to {high:.1f})")
        paper = " / ".join(f"{value:.1f}" for value in PUBLISHED_SLOPES[name]) if name in PUBLISHED_SLOPES else NO_VALUE
        rows.append([name, *cells, paper])
    return _table(["system", "by block", "over all blocks so far", "paper"], rows)


def _slope(
    texts: Sequence[str], references: Sequence[str], name: str, model: CurveModel
) -> tuple[float, float, float] | None:
    """Return the percentage slope with its interval; None if there are too few blocks."""
    try:
        slope = learning_curves({name: texts}, references, model=model)[name].slope
    except LearningCurveError:
        return None
    low, high = slope.interval or (slope.percentage, slope.percentage)
    return slope.percentage, low, high


def _reliability_table(seeds: Sequence[StudyTexts]) -> list[str]:
    rows = []
    for name in seeds[0].reliability:
        found = [_reliability(one, name) for one in seeds]
        gains, drifts = mean(one.mean_gain for one in found), mean(one.mean_drift for one in found)
        forgotten = mean(len(one.forgotten) for one in found)
        rows.append([name, f"{gains:+.1f}", f"{drifts:+.1f}", f"{forgotten:.1f} of {PARTS}"])
    return _table(["system", "ada - bsln", "final - ada", "parts with final below ada"], rows)


def _reliability(one: StudyTexts, name: str) -> Reliability:
    references, parts = held_out_references(one.references)
    return score_documents(one.reliability[name], references, parts, bleu_measure())


def held_out_references(references: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the references of the last third of each part of a stream, and the part of each."""
    found, parts = list[str](), list[str]()
    size, extra = divmod(len(references), PARTS)
    start = 0
    for part in range(PARTS):
        end = start + size + (part < extra)
        cut = held_out_from(end - start)
        found += references[start + cut : end]
        parts += [f"part {part + 1}"] * (end - start - cut)
        start = end
    return found, parts
