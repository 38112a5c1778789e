"""Several random seeds of a system as one row: mean, spread, and what intervals cover."""

import csv
import io
import json
import math
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from lambdas.scoreboard import _hide_held_out, _round_statistics
from leaderboard.exports import to_csv, to_latex
from leaderboard.families import Role, RoleKind, Roles
from leaderboard.metrics.student_t import t_quantile
from leaderboard.seeds import Coverage, cover_seeds, half_width_over_seeds, pool_seeds, seed_in_name
from leaderboard.table import make_board
from tests.leaderboard import boards


@pytest.mark.parametrize(
    ("system", "seed"), [("BNMT-EL.s3", 3), ("a.s12", 12), ("BNMT-EL", None), (".s3", None), ("a.s3x", None)]
)
def test_the_seed_is_the_end_of_a_name(system, seed):
    assert seed_in_name(system) == seed


# Intervals


def test_quantiles_of_student_t():
    assert [t_quantile(freedom) for freedom in (0, 1, 2, 30)] == [12.706, 12.706, 4.303, 2.042]
    assert t_quantile(60) == pytest.approx(2.000, abs=0.005)
    assert t_quantile(10**6) == pytest.approx(1.960, abs=0.001)


def test_half_width_of_one_system_and_of_a_difference():
    # mean 0.2, variance 0.01, three seeds: 4.303 * 0.1 / sqrt(3)
    assert half_width_over_seeds([0.1, 0.2, 0.3]) == pytest.approx(0.24843, abs=1e-5)
    # equal variances and sizes have 2 + 2 degrees of freedom: 2.776 * sqrt(2 * 0.01 / 3)
    assert half_width_over_seeds([0.1, 0.2, 0.3], [0.5, 0.6, 0.7]) == pytest.approx(0.22666, abs=1e-5)
    assert half_width_over_seeds([0.1, 0.2, 0.3], [0.5]) == half_width_over_seeds([0.1, 0.2, 0.3])
    assert half_width_over_seeds([0.4, 0.4]) == 0.0
    assert half_width_over_seeds([0.4], []) is None


def test_intervals_say_what_they_cover():
    seeds = [0.1, 0.2, 0.3]
    half = half_width_over_seeds(seeds) or 0.0
    assert cover_seeds(0.2, None, []) == (None, None)
    assert cover_seeds(0.2, (0.1, 0.4), [0.2]) == ((0.1, 0.4), Coverage.SENTENCES)
    assert cover_seeds(0.2, None, seeds) == ((0.2 - half, 0.2 + half), Coverage.SEEDS)
    both = (0.2 - math.hypot(0.1, half), 0.2 + math.hypot(0.2, half))
    assert cover_seeds(0.2, (0.1, 0.4), seeds) == (pytest.approx(both), Coverage.BOTH)


# The board


def make_rows(summaries, roles=(), phase=None):
    return make_board(phase or boards.dev_phase(), summaries, roles, now=boards.NOW).rows


def hide(board):
    return _hide_held_out(board).rows


@pytest.fixture(scope="module")
def runs():
    baseline = boards.summary("BNMT-static", participant="organiser", start=0.5, seed=3)
    oracle = boards.summary("BNMT-oracle", participant="organiser", start=0.9, seed=1)
    names = ("BNMT-EL", "BNMT-EL.s2", "BNMT-EL.s10")
    seeds = [
        boards.summary(name, start=0.5, end=end, seed=20 + number)
        for number, (name, end) in enumerate(zip(names, (0.7, 0.66, 0.74), strict=True))
    ]
    single = boards.summary("BNMT-EL-CV", start=0.5, end=0.69, seed=7)
    return {"baseline": baseline, "oracle": oracle, "seeds": seeds, "single": single}


@pytest.fixture(scope="module")
def board(runs):
    everyone = [runs["seeds"][2], runs["oracle"], runs["single"], *runs["seeds"][:2], runs["baseline"]]
    return make_board(boards.dev_phase(), everyone, boards.ORGANISER_ROLES, now=boards.NOW)


@pytest.fixture(scope="module")
def row(board):
    [found] = [row for row in board.rows if row.seeds]
    return found


def test_seeds_of_a_system_are_one_row_with_the_mean(board, row):
    assert sorted(each.system for each in board.rows) == ["BNMT-EL", "BNMT-EL-CV", "BNMT-oracle", "BNMT-static"]
    assert [seed.system for seed in row.seeds] == ["BNMT-EL", "BNMT-EL.s2", "BNMT-EL.s10"]
    assert row.run == "seeds:acme/BNMT-EL/1"
    means = [seed.mean_reward for seed in row.seeds]
    assert row.mean_reward == pytest.approx(fmean(means), abs=1e-12)
    assert row.reward == pytest.approx(fmean(seed.reward for seed in row.seeds), abs=1e-9)
    assert row.seed_deviation == pytest.approx(stdev(means))
    assert row.curve[-1] == pytest.approx(fmean(seed.curve[-1] for seed in row.seeds), abs=1e-4)
    assert row.gap_closed == pytest.approx(fmean(seed.gap_closed for seed in row.seeds))


def test_counts_of_all_seeds_are_pooled(row):
    for name in ("corpus_bleu", "sentence_bleu"):
        values = [getattr(seed.passes[-1], name) for seed in row.seeds]
        assert min(values) < getattr(row.passes[-1], name) < max(values)
    assert row.measures["bleu"].value == pytest.approx(fmean(seed.measures["bleu"].value for seed in row.seeds), abs=1)
    assert row.last_quarter.corpus_bleu == pytest.approx(fmean(s.last_quarter.corpus_bleu for s in row.seeds), abs=1)


def test_intervals_of_a_row_cover_both_and_those_of_a_run_only_sentences(board, row):
    assert (row.interval_covers, row.reward_gain.covers, row.regret.covers) == (Coverage.BOTH,) * 3
    assert row.measures["bleu"].covers is Coverage.SEEDS, "corpus BLEU of a bandit phase has no interval of sentences"
    for single in (*row.seeds, *(each for each in board.rows if not each.seeds)):
        assert single.interval_covers is Coverage.SENTENCES
    assert all(row.interval[1] - row.interval[0] > seed.interval[1] - seed.interval[0] for seed in row.seeds)
    low, high = row.reward_gain.interval
    assert low < row.reward_gain.value < high


def test_ranks_are_of_systems_and_significance_covers_seeds(board, row, runs):
    assert [(each.system, each.rank) for each in board.rows if each.rank] == [("BNMT-EL", 1), ("BNMT-EL-CV", 2)]
    assert all(seed.rank is None for seed in row.seeds)
    assert board.lead.covers is Coverage.BOTH
    assert board.lead.value == pytest.approx(abs(row.mean_reward - _mean(runs["single"])))
    low, high = board.lead.interval
    groups = {each.group for each in board.rows if each.rank}
    assert len(groups) == (2 if low > 0 or high < 0 else 1)


def _mean(summary):
    return summary.record.total.mean_reward


def test_the_band_of_the_gain_curve_covers_seeds_and_ends_at_the_gain(row):
    curve = row.gain_curve
    assert curve.rounds[-1] == boards.TOTAL
    assert curve.values[-1] == pytest.approx(row.reward_gain.value, abs=1e-5)
    assert curve.half_widths[0] is None, "below ten blocks there is no interval"
    low, high = row.reward_gain.interval
    assert curve.half_widths[-1] == pytest.approx((high - low) / 2, rel=0.2)
    assert curve.half_widths[-1] > max(seed.gain_curve.half_widths[-1] for seed in row.seeds)


def test_unfinished_seeds_are_a_row_of_their_own_as_far_as_all_have_come(runs):
    done, *_ = runs["seeds"]
    running = [boards.summary("BNMT-EL.s2", 900, start=0.5), boards.summary("BNMT-EL.s3", 1_210, start=0.5)]
    finished, unfinished = make_rows([done, *running])
    assert (finished.system, finished.seeds) == ("BNMT-EL", [])
    assert ([seed.rounds for seed in unfinished.seeds], unfinished.rounds) == ([900, 1_210], 900)
    at_900 = fmean(each.curve[900] for each in running) / 1e12
    assert unfinished.reward == pytest.approx(at_900, abs=1e-9)


def test_a_seed_that_was_played_alone_keeps_its_name(runs):
    rows = make_rows([runs["seeds"][1]])
    assert [(row.system, row.seeds, row.seed_deviation) for row in rows] == [("BNMT-EL.s2", [], None)]


def test_seeds_of_two_participants_are_not_mixed(runs):
    mine, theirs = runs["seeds"][0], boards.summary("BNMT-EL.s2", participant="uni-x", start=0.6)
    assert all(not row.seeds for row in make_rows([mine, theirs]))


def test_all_seeds_have_the_role_of_their_system():
    roles = Roles([Role("acme", "best", RoleKind.ORACLE), Role("acme", "other.s3", RoleKind.BASELINE)])
    assert roles.of("acme", "best.s7").kind is RoleKind.ORACLE
    assert roles.of("acme", "other.s3").kind is RoleKind.BASELINE
    assert roles.of("acme", "other.s4").kind is RoleKind.CONTESTANT
    assert roles.of("uni-x", "best.s7").kind is RoleKind.CONTESTANT


def test_a_baseline_with_seeds_is_compared_by_its_mean_and_not_with_itself(runs):
    seeds = [boards.summary(name, participant="organiser", start=0.5, seed=s) for s, name in enumerate(("B", "B.s2"))]
    rows = make_rows([*seeds, runs["single"]], [Role("organiser", "B", RoleKind.BASELINE)])
    [mean] = [row for row in rows if row.role is RoleKind.BASELINE]
    [learner] = [row for row in rows if row.role is RoleKind.CONTESTANT]
    assert (mean.reward_gain, [seed.reward_gain for seed in mean.seeds]) == (None, [None, None])
    assert learner.reward_gain.baseline == mean.run
    assert learner.reward_gain.value == pytest.approx(learner.mean_reward - mean.mean_reward)


def test_post_edit_measures_are_pooled():
    seeds = [boards.post_edit_summary(name, start=0.5, seed=s) for s, name in enumerate(("B", "B.s2"))]
    [row] = make_rows(seeds, phase=boards.post_edit_phase())
    ter = [seed.measures["ter"].value for seed in row.seeds]
    assert row.measures["ter"].value == pytest.approx(fmean(ter), abs=0.05)
    assert row.measures["ter"].covers is Coverage.BOTH
    assert len(row.adaptation.curves["bleu"]) == len(row.seeds[0].adaptation.curves["bleu"])


def test_pooling_needs_no_common_end():
    seeds = [boards.summary("a", 10, start=0.5), boards.summary("a.s2", 7, start=0.5)]
    pooled = pool_seeds(seeds)
    assert pooled.rounds == 7
    assert pooled.curve[7] == round((seeds[0].curve[7] + seeds[1].curve[7]) / 2)


def test_what_is_hidden_of_a_row_is_hidden_of_its_seeds(board):
    [mean] = [row for row in hide(_round_statistics(board)) if row.seeds]
    for row in (mean, *mean.seeds):
        assert row.length_ratio == round(row.length_ratio, 3)
        assert row.measures["bleu"].value == round(row.measures["bleu"].value, 1)
        assert all(each.corpus_bleu == round(each.corpus_bleu, 1) for each in row.passes)
    early = replace(mean, rounds=1, seeds=[replace(seed, rounds=1) for seed in mean.seeds])
    [bare] = hide(replace(board, rows=[early]))
    assert (bare.passes, [seed.passes for seed in bare.seeds]) == ([], [[], [], []])


# Exports


def test_json_has_seeds_without_curves(board):
    found = json.loads(json.dumps(board.as_dict()))
    [row] = [row for row in found["rows"] if row["seeds"]]
    assert [(seed["system"], seed["curve"]) for seed in row["seeds"]] == [
        ("BNMT-EL", []),
        ("BNMT-EL.s2", []),
        ("BNMT-EL.s10", []),
    ]
    assert set(row["seeds"][0]) == set(row)
    assert (row["interval_covers"], row["measures"]["bleu"]["covers"]) == ("both", "seeds")


def test_csv_has_one_line_for_a_system_and_more_on_demand(board):
    [line] = [line for line in csv.DictReader(io.StringIO(to_csv(board))) if line["system"] == "BNMT-EL"]
    assert (line["seeds"], line["interval_covers"], line["reward_gain_covers"]) == ("3", "both", "both")
    assert float(line["seed_deviation"]) > 0
    lines = list(csv.DictReader(io.StringIO(to_csv(board, each_seed=True))))
    start = [line["run"] for line in lines].index("seeds:acme/BNMT-EL/1")
    assert [line["system"] for line in lines[start + 1 : start + 4]] == ["BNMT-EL", "BNMT-EL.s2", "BNMT-EL.s10"]
    assert lines[start + 1]["seed_deviation"] == ""


def test_latex_has_the_spread_and_says_what_intervals_cover(board, row):
    text = to_latex(board)
    assert "& seeds & s.d. &" in text
    assert "cover sentences and seeds, all others sentences only" in text
    [line] = [line for line in text.splitlines() if " BNMT-EL &" in line]
    assert f"& 3 & {row.seed_deviation:.4f} &" in line
    assert " BNMT-EL.s10 &" in to_latex(board, each_seed=True)
    assert "s.d." not in to_latex(boards.dev_board())
