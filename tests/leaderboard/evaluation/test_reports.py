"""Reports of an evaluation: JSON, CSV and LaTeX of the same cells."""

import json

import pytest

from leaderboard.evaluation.comparison import difference_curves, evaluate
from leaderboard.evaluation.figures import (
    difference_figure,
    learning_figure,
    reliability_figure,
    repetition_figure,
    save_figure,
)
from leaderboard.evaluation.learning import learning_curves
from leaderboard.evaluation.measures import ter_measure
from leaderboard.evaluation.reports import (
    Cell,
    reliability_report,
    repetition_report,
    score_report,
    slope_report,
)
from leaderboard.metrics.bootstrap import Difference
from leaderboard.metrics.learning_curve import CurveModel, ErrorRate
from leaderboard.metrics.reliability import DocumentScores, backward_reliability
from leaderboard.metrics.repetition import repetition_counts
from tests.leaderboard.evaluation.test_comparison import made_up

SYSTEMS, REFERENCES = {"=a_b": ["x y"], "second": ["x z"]}, ["x y"]


def test_a_cell_shows_its_interval_or_its_difference():
    difference = Difference(-1.25, -2.0, -0.5, 0.01, 0.95, 30)
    assert Cell("TER", None).text() == "-"
    assert Cell("TER", 41.04).text() == "41.0"
    assert Cell("TER", 41.04, (40.0, 42.0)).text() == "41.0 [40.0, 42.0]"
    assert Cell("S", 96.5, (95.0, 98.0), difference, digits=2).text() == "96.50 (-1.25 [-2.00, -0.50])"


def test_scores_as_json():
    report = score_report(evaluate(SYSTEMS, REFERENCES, [ter_measure()])).as_dict()
    assert json.loads(json.dumps(report)) == {
        "rows": [
            {"system": "=a_b", "TER": {"value": 0.0, "interval": None, "difference": None}},
            {"system": "second", "TER": {"value": 50.0, "interval": None, "difference": None}},
        ],
        "signatures": {"TER": "TER|nrefs:1|case:mixed|tok:none|norm:no|punct:yes|asian:no|v:1"},
        "lower_is_better": ["TER"],
        "notes": ["no intervals: they need at least 10 sentences, and there are 1"],
    }


def test_scores_as_csv_hold_no_formulas():
    header, first, second = score_report(evaluate(SYSTEMS, REFERENCES, [ter_measure()])).to_csv().splitlines()
    assert header == "system,TER,TER_low,TER_high,TER_difference,TER_difference_low,TER_difference_high,TER_p_value"
    assert (first, second) == ("'=a_b,0.0,,,,,,", "second,50.0,,,,,,")


def test_scores_as_latex_are_escaped():
    table = score_report(evaluate(SYSTEMS, REFERENCES, [ter_measure()])).to_latex()
    assert r"=a\_b & 0.0 \\" in table
    assert r"\begin{tabular}{lr}" in table


def test_a_latex_table_says_in_a_comment_what_is_missing():
    table = score_report(evaluate(SYSTEMS, REFERENCES, [ter_measure()])).to_latex()
    assert "% no intervals: they need at least 10 sentences, and there are 1\n" in table


def test_a_slope_says_why_it_has_no_interval():
    references, weak, _ = made_up(200)
    few = learning_curves({"weak": weak}, references, block_words=400)
    assert slope_report(few, "S|v:1").notes == (
        "no interval of weak: an interval needs at least 10 blocks, and there are 3",
    )
    perfect = [*references[:20], *weak[20:]]
    without_errors = learning_curves({"weak": weak, "other": perfect}, references, block_words=100)
    assert slope_report(without_errors, "S|v:1").notes == (
        "no interval of other: 1 of 14 blocks have no errors, whose logarithm would be needed",
    )


def test_a_text_without_a_repetition_rate_says_why():
    report = repetition_report({"short": repetition_counts(["a b c", "a"])}, "RR|v:1")
    assert report.notes == ("no rate of short: it has no sentence of 4 words",)


def test_a_slope_tells_its_blocks():
    references, weak, _ = made_up(200)
    report = slope_report(learning_curves({"weak": weak}, references, block_words=400), "S|v:1")
    assert report.columns == ["S", "standard error", "blocks", "without errors"]
    assert report.lower_is_better == ("S",)


def test_reliability_has_a_row_for_each_document_and_their_mean():
    reliability = backward_reliability([DocumentScores("d1", 20, 30, 25), DocumentScores("d2", 10, 20, 20)])
    report = reliability_report(reliability, "BLEU", "BLEU|v:1")
    assert [(name, [cell.value for cell in cells]) for name, cells in report.rows] == [
        ("d1", [20, 30, 25, 10, -5]),
        ("d2", [10, 20, 20, 10, 0]),
        ("mean", [15, 25, 22.5, 10, -2.5]),
    ]


def test_repetition_is_told_in_percent():
    report = repetition_report({"text": repetition_counts(["a b c d a b c d"])}, "RR|v:1")
    assert report.rows[0][1][0].value == pytest.approx(100 * (4 / 4 * 3 / 4 * 2 / 4 * 1 / 4) ** 0.25)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_figures_are_drawn_in_the_format_of_their_name(tmp_path, suffix):
    references, weak, strong = made_up(60)
    systems = {"weak": weak, "strong": strong}
    curves = {"TER": difference_curves(systems, references, ter_measure())}
    save_figure(difference_figure(curves, "weak"), tmp_path / f"difference{suffix}")
    learning = learning_curves(systems, references, block_words=100)
    save_figure(learning_figure(learning, CurveModel.UNIT, ErrorRate.TER), tmp_path / f"learning{suffix}")
    reliability = backward_reliability([DocumentScores("d1", 20, 30, 25), DocumentScores("d2", 10, 20, 20)])
    save_figure(reliability_figure(reliability, "BLEU"), tmp_path / f"reliability{suffix}")
    rates = {"text": repetition_counts(["a b c d a b c d"]), "short": repetition_counts(["a b"])}
    save_figure(repetition_figure(rates), tmp_path / f"repetition{suffix}")
    assert len(list(tmp_path.iterdir())) == 4
    assert all(file.stat().st_size > 1_000 for file in tmp_path.iterdir())


def test_another_format_is_refused(tmp_path):
    references, weak, _ = made_up(60)
    learning = learning_curves({"weak": weak}, references, block_words=100)
    with pytest.raises(ValueError, match=r"written as .svg, .png, .pdf, but got figure.gif"):
        save_figure(learning_figure(learning, CurveModel.UNIT, ErrorRate.TER), tmp_path / "figure.gif")
