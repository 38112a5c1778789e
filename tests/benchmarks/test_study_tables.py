"""The tables and figures of studies, from runs made by hand."""

from dataclasses import replace

import pytest

from benchmarks.studies.comparison import mean_rewards, ranking
from benchmarks.studies.figures import control_points, gain_points, pass_points, save_figures
from benchmarks.studies.saved_runs import SavedRuns, TaskIdentity
from benchmarks.studies.study_run import RunPart
from benchmarks.studies.summary import read_studies, summary
from benchmarks.studies.table import markdown_table, quality_table, rewards_table
from simulator.competition import RunSpec
from task.layout import Layout
from tests.benchmarks.study_runs import (
    LEARNER,
    NEARLY_RIGHT,
    ORACLE,
    RIGHT,
    SOURCES,
    STATIC,
    TWICE_AS_LONG,
    compare,
    study_run,
)

BLEU_OF_TWICE_AS_LONG = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)
LATE_BLEU_OF_LEARNER = 100 * (14 / 25 * 11 / 22 * 8 / 19 * 5 / 16) ** (1 / 4)


def cells_by_system(markdown):
    """Return a dictionary of cells by column for each row of a table, by the system and its seed."""
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in markdown.splitlines())
    return {tuple(row[:2]): dict(zip(header, row, strict=True)) for row in rows}


def test_held_out_passes_are_scored_by_themselves():
    assert [held_out.length_ratio for held_out in (*LEARNER.passes, *ORACLE.passes)] == [1.0, 2.0, 1.0, 1.0]
    assert LEARNER.passes[0].bleu == pytest.approx(66.874, abs=0.001)
    assert ORACLE.passes[1].bleu == pytest.approx(100)


def test_new_and_repeated_sources_have_separate_means():
    assert LEARNER.means_by_novelty(SOURCES) == (pytest.approx(0.2), pytest.approx(0.5))


def test_the_text_of_a_run_is_measured_as_a_whole_and_in_its_last_quarter():
    references = ["w x y z"] * 6 + ["w"] * 2 + ["w x y z"] * 4
    translations = ["w x y z"] * 4 + ["w"] * 4 + ["w x y z", "w", "w x x x x x", "w x y z"]
    run = study_run("BNMT-EL", [0.2] * 12, translations, references=references)
    whole, late = run.whole.text, run.last_quarter.text
    assert (whole.rounds, whole.length_ratio, whole.single_word_share) == (12, 35 / 42, 3 / 10)
    assert (late.rounds, late.length_ratio, late.single_word_share, late.loop_share) == (3, 11 / 12, 1 / 3, 1 / 3)
    assert late.corpus_bleu == pytest.approx(
        100 * (7 / 11 * 4 / 8 * 2 / 6 * 1 / 4) ** (1 / 4) * 2.718281828 ** (1 - 12 / 11)
    )


def test_the_last_quarter_of_any_run_begins_where_a_block_does():
    for rounds in (13, 199, 200, 203, 1_001):
        run = study_run(
            "BNMT-EL", [0.2] * rounds, ["w"] * rounds, references=["w"] * rounds,
            sources=["a"] * rounds, layout=Layout.plain(rounds),
        )  # fmt: skip
        assert run.whole.text.rounds == rounds
        assert run.last_quarter.text.rounds == len(run.last_quarter.rewards) == rounds - 3 * rounds // 4


def test_a_row_has_the_gain_its_share_of_the_gap_and_the_rewards_by_novelty():
    rows = cells_by_system(rewards_table(compare(STATIC, LEARNER, ORACLE), SOURCES))
    assert list(rows) == [("BNMT-static", "-"), ("BNMT-EL", "1"), ("BNMT-oracle", "-")]
    learner = rows["BNMT-EL", "1"]
    assert learner["minus BNMT-static (95 %)"].startswith("+0.1000 (")
    assert {name: learner[name] for name in list(learner)[2:] if "minus" not in name} == {
        "mean reward": "0.3000",
        "of the gap to BNMT-oracle": "16.7 %",
        "first seen": "0.2000",
        "repeats": "0.5000",
    }
    assert rows["BNMT-static", "-"]["minus BNMT-static (95 %)"] == ""


def test_a_learner_is_compared_with_its_own_control_of_the_same_seed():
    controls = [
        study_run("BNMT-sampling", [reward] * 12, [NEARLY_RIGHT] * 12, seed=seed)
        for seed, reward in ((1, 0.1), (2, 0.15))
    ]
    learners = [study_run("BNMT-EL-VALUE", [0.3] * 12, [NEARLY_RIGHT] * 12, seed=seed) for seed in (1, 2, 3)]
    greedy = study_run("BNMT-REPLAY", [0.3] * 12, [NEARLY_RIGHT] * 12)
    rows = cells_by_system(rewards_table(compare(STATIC, *controls, *learners, greedy, ORACLE), SOURCES))
    gains = {key: (row["its control"], row["minus its control (95 %)"]) for key, row in rows.items()}
    assert gains == {
        ("BNMT-static", "-"): ("", ""),
        ("BNMT-sampling", "1"): ("", ""),
        ("BNMT-sampling", "2"): ("", ""),
        ("BNMT-EL-VALUE", "1"): ("BNMT-sampling", "+0.2000 (+0.2000 to +0.2000)"),
        ("BNMT-EL-VALUE", "2"): ("BNMT-sampling", "+0.1500 (+0.1500 to +0.1500)"),
        ("BNMT-EL-VALUE", "3"): ("BNMT-sampling", "+0.2000 (+0.2000 to +0.2000)"),  # the control has no such seed
        ("BNMT-REPLAY", "1"): ("BNMT-static", "+0.1000 (+0.1000 to +0.1000)"),
        ("BNMT-oracle", "-"): ("", ""),
    }


def test_a_gain_is_a_share_of_each_yardstick():
    k_best = study_run("BNMT-k-best-oracle", [0.4] * 12, [RIGHT] * 12)
    informed = [
        study_run("BNMT-full-information", [reward] * 12, [RIGHT] * 12, seed=seed)
        for seed, reward in ((1, 0.3), (2, 0.34))
    ]
    post_edited = study_run("BNMT-ADAPT-full-information", [0.6] * 12, [RIGHT] * 12)
    runs = (STATIC, LEARNER, k_best, *informed, post_edited, ORACLE)
    rows = cells_by_system(rewards_table(compare(*runs), SOURCES))
    shares = {
        "of the gap to BNMT-oracle": "16.7 %",
        "of the gap to BNMT-k-best-oracle": "50.0 %",
        "of the gain of BNMT-full-information": "83.3 %",  # 0.1 of 0.12, the mean over seeds
        "of the gain of BNMT-ADAPT-full-information": "25.0 %",
    }
    assert {name: rows["BNMT-EL", "1"][name] for name in shares} == shares


def test_there_is_no_share_of_a_gain_that_may_be_none():
    informed = study_run("BNMT-full-information", [0.1, 0.35] * 6, [RIGHT] * 12)
    rows = cells_by_system(rewards_table(compare(STATIC, LEARNER, informed, ORACLE), SOURCES))
    assert "of the gain of BNMT-full-information" not in rows["BNMT-EL", "1"]


def test_columns_that_no_row_fills_are_left_out():
    assert markdown_table(["a", "b", "c"], [["1", "", "3"], ["", "", "4"]]) == (
        "| a | c |\n| --- | --- |\n| 1 | 3 |\n|  | 4 |"
    )


def test_a_row_has_the_quality_of_the_whole_run_and_of_its_last_quarter():
    rows = cells_by_system(quality_table(compare(STATIC, LEARNER, ORACLE)))
    assert rows["BNMT-EL", "1"] == {
        "system": "BNMT-EL",
        "seed": "1",
        "corpus BLEU": f"{100 * (50 / 70 * 38 / 58 * 26 / 46 * 14 / 34) ** (1 / 4):.1f}",
        "corpus BLEU, last quarter": f"{LATE_BLEU_OF_LEARNER:.1f}",
        "length ratio": "1.17",
        "length ratio, last quarter": "1.67",
        "single words": "0.0 %",
        "single words, last quarter": "0.0 %",
        "loops, last quarter": "66.7 %",
        "held-out BLEU, first to last pass": f"66.9 to {BLEU_OF_TWICE_AS_LONG:.1f}",
        "length ratio, last pass": "2.00",
    }


def test_a_run_of_an_earlier_version_has_empty_cells():
    old = replace(LEARNER, whole=RunPart(LEARNER.rewards, []))
    rows = cells_by_system(quality_table(compare(STATIC, old, ORACLE)))
    assert {name for name, cell in rows["BNMT-EL", "1"].items() if not cell} == {
        "corpus BLEU",
        "corpus BLEU, last quarter",
        "length ratio",
        "length ratio, last quarter",
        "single words",
        "single words, last quarter",
        "loops, last quarter",
    }


LONG = 400  # rounds: fifty blocks in the last quarter
LONG_SOURCES = [str(number % 300) for number in range(LONG)]


def long_run(system, rewards, translations, seed=1):
    """Return a run whose first three quarters and whose last quarter have each one reward and one translation."""
    early, late = 3 * LONG // 4, LONG // 4
    return study_run(
        system,
        [rewards[0]] * early + [rewards[1]] * late,
        [translations[0]] * early + [translations[1]] * late,
        seed=seed,
        references=[RIGHT] * LONG,
        layout=Layout(blocks=2, block=2, gap=LONG - 4),
        sources=LONG_SOURCES,
    )  # fmt: skip


LONG_STATIC = long_run("BNMT-static", (0.2, 0.2), (NEARLY_RIGHT, NEARLY_RIGHT))


@pytest.mark.parametrize(
    ("rewards", "translations", "marks"),
    [
        ((0.3, 0.3), ("w", "w"), ["reward up, BLEU down against BNMT-static"]),
        ((0.2, 0.3), (NEARLY_RIGHT, "w"), ["reward up, BLEU down against BNMT-static"]),
        ((0.2, 0.3), (RIGHT, "w x"), ["reward up, BLEU down against BNMT-static in the last quarter"]),
        ((0.1, 0.1), ("w", "w"), []),  # it does not earn more
        ((0.3, 0.3), (RIGHT, RIGHT), []),
        ((0.3, 0.3), (NEARLY_RIGHT, NEARLY_RIGHT), []),
    ],
)
def test_a_run_that_earns_more_with_worse_translations_is_marked(rewards, translations, marks):
    run = long_run("BNMT-REPLAY", rewards, translations)
    comparison = compare(LONG_STATIC, run)
    assert comparison.marks(run) == marks
    note = cells_by_system(rewards_table(comparison, LONG_SOURCES))["BNMT-REPLAY", "1"].get("note", "")
    assert note == "; ".join(marks)


def test_a_learner_is_marked_against_its_control_and_the_static_system():
    control = long_run("BNMT-sampling", (0.1, 0.1), (NEARLY_RIGHT, NEARLY_RIGHT))
    above_both = long_run("BNMT-EL-VALUE", (0.3, 0.3), ("w", "w"))
    above_control = long_run("BNMT-EL-VALUE", (0.15, 0.15), ("w", "w"))
    against_control = "reward up, BLEU down against BNMT-sampling"
    assert compare(LONG_STATIC, control, above_control).marks(above_control) == [against_control]
    assert compare(LONG_STATIC, control, above_both).marks(above_both) == [
        against_control,
        "reward up, BLEU down against BNMT-static",
    ]


def test_a_run_whose_translations_were_not_counted_is_not_marked():
    run = long_run("BNMT-REPLAY", (0.3, 0.3), ("w", "w"))
    old = replace(run, whole=RunPart(run.rewards, []))
    assert compare(LONG_STATIC, old).marks(old) == []


def test_the_difference_in_corpus_bleu_is_that_of_the_last_quarter():
    run = long_run("BNMT-REPLAY", (0.3, 0.3), ("w", RIGHT))
    cells = cells_by_system(quality_table(compare(LONG_STATIC, run)))["BNMT-REPLAY", "1"]
    assert cells["minus its control, or else the static system (95 %)"] == "+33.1 (+33.1 to +33.1)"


def test_systems_are_ordered_by_the_mean_over_their_seeds():
    again = study_run("BNMT-EL", [0.1] * 12, [NEARLY_RIGHT] * 12)
    assert mean_rewards([STATIC, LEARNER, again]) == pytest.approx({"BNMT-static": 0.2, "BNMT-EL": 0.2})
    assert ranking(mean_rewards([STATIC, ORACLE])) == "BNMT-oracle 0.8000 > BNMT-static 0.2000"


def test_a_summary_has_a_row_for_each_system_and_a_range_over_its_seeds():
    again = study_run("BNMT-EL", [0.1] * 12, [NEARLY_RIGHT] * 12, seed=2)
    text = summary({"shop": compare(STATIC, LEARNER, again, ORACLE), "news": compare(STATIC, ORACLE)})
    title, shop, other_title, news = text.split("\n\n")
    assert (title, other_title) == ("shop:", "news:")
    rows = cells_by_system(shop)
    assert [system for system, _ in rows] == ["BNMT-oracle", "BNMT-static", "BNMT-EL"]
    assert rows["BNMT-EL", "0.2000"] == {
        "system": "BNMT-EL",
        "reward": "0.2000",
        "of the gap to BNMT-oracle": "-16.7 to 16.7 %",
        "BLEU, last quarter": f"{LATE_BLEU_OF_LEARNER:.1f} to 66.9",
        "length, last quarter": "1.00 to 1.67",
        "single words": "0.0 %",
        "loops, last quarter": "0.0 to 66.7 %",
        "held-out BLEU": f"{BLEU_OF_TWICE_AS_LONG:.1f} to 66.9",
        "held-out length": "1.00 to 2.00",
    }
    assert [system for system, _ in cells_by_system(news)] == ["BNMT-oracle", "BNMT-static"]


def test_a_summary_says_how_many_seeds_are_marked():
    worse = [long_run("BNMT-REPLAY", (0.3, 0.3), ("w", "w"), seed=seed) for seed in (1, 2)]
    better = long_run("BNMT-REPLAY", (0.3, 0.3), (RIGHT, RIGHT), seed=3)
    mark = "reward up, BLEU down against BNMT-static"
    assert f"| {mark} (2 of 3 seeds) |" in summary({"shop": compare(LONG_STATIC, *worse, better)})
    assert f"| {mark} |" in summary({"shop": compare(LONG_STATIC, *worse)})


def test_a_summary_needs_a_static_system(tmp_path):
    task, saved = TaskIdentity({}, "a digest"), SavedRuns(tmp_path / "shop" / "runs")
    saved.save([ORACLE], task, {})
    with pytest.raises(SystemExit, match="shop has no run of BNMT-static or SMT-static: all others are compared with"):
        read_studies([tmp_path / "shop"])
    saved.save([STATIC, ORACLE], task, {})
    comparison = read_studies([tmp_path / "shop"])["shop"]
    assert (comparison.static.spec, len(comparison.runs)) == (RunSpec("BNMT-static"), 2)


def test_a_curve_has_the_gain_per_round_so_far():
    points = list(gain_points([LEARNER], STATIC))
    assert points == [{"system": "BNMT-EL", "seed": 1, "rounds": 12, "gain": 0.1}]  # too short for more than its end


def test_a_curve_over_the_control_has_intervals_and_averages_seeds():
    learners = [
        long_run("BNMT-REPLAY", rewards, ("w", "w"), seed) for seed, rewards in ((1, (0.2, 0.4)), (2, (0.3, 0.3)))
    ]
    (point,) = control_points(compare(LONG_STATIC, *learners, study_run("BNMT-oracle", [0.8] * 12, [RIGHT] * 12)))
    assert (point["system"], point["rounds"]) == ("BNMT-REPLAY", LONG)
    assert point["gain"] == pytest.approx((0.05 + 0.1) / 2)
    assert point["low"] < point["gain"] < point["high"]


def test_every_held_out_pass_is_a_point():
    bleu = [point["bleu"] for point in pass_points([ORACLE, LEARNER])]
    assert bleu == [100.0, 100.0, 66.874, round(BLEU_OF_TWICE_AS_LONG, 3)]


def test_figures_show_the_systems_near_each_other_only(tmp_path):
    learner = study_run("BNMT-REPLAY", [0.3] * 12, [TWICE_AS_LONG] * 12)
    gain, held_out, over_control = save_figures(compare(STATIC, learner, ORACLE), tmp_path)
    for path in (gain, held_out):
        drawing = path.read_text()
        assert all(name in drawing for name in ("BNMT-static", "BNMT-REPLAY"))
        assert "BNMT-oracle" not in drawing
    assert "BNMT-REPLAY" in over_control.read_text()
    assert "BNMT-oracle" not in over_control.read_text()
