"""Figures: right numbers, every format, legible with any number of runs."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from leaderboard.figure_points import (
    MAX_CONTESTANTS,
    curve_points,
    difference_points,
    drawn_rows,
    gain_points,
    labels,
    pass_points,
    ter_points,
)
from leaderboard.figures import HEIGHT, LABEL_HEIGHT, figure, labelled_gain_points, save_figures
from leaderboard.palette import LIGHT_REFERENCE, LIGHT_SERIES
from leaderboard.table import make_board
from tests.leaderboard import boards


def test_points_have_the_numbers_of_the_board():
    board = boards.dev_board()
    rows = {row.system: row for row in board.rows}
    points = {(point["system"], point["rounds"]): point for point in curve_points(board)}
    last = points["BNMT-EL", boards.TOTAL]
    assert last["reward"] == pytest.approx(rows["BNMT-EL"].reward, abs=1e-4)
    assert last["regret"] == pytest.approx(rows["BNMT-EL"].regret.value, abs=1e-7)
    passes = [point for point in pass_points(board) if point["system"] == "BNMT-EL"]
    assert [point["rounds"] for point in passes] == board.held_out.ends
    assert [point["corpus_bleu"] for point in passes] == [each.corpus_bleu for each in rows["BNMT-EL"].passes]


def test_gains_have_the_numbers_of_the_board_without_oracles():
    board = boards.dev_board()
    [row] = [row for row in board.rows if row.system == "BNMT-EL"]
    points = [point for point in gain_points(board) if point["system"] == "BNMT-EL"]
    assert points[0]["gain_low"] is None, "below ten blocks there is no interval"
    last = points[-1]
    assert (last["rounds"], last["gain"]) == (boards.TOTAL, pytest.approx(row.reward_gain.value, abs=1e-5))
    low, high = row.reward_gain.interval
    assert (last["gain_low"], last["gain_high"]) == (pytest.approx(low, abs=0.002), pytest.approx(high, abs=0.002))
    assert not {point["system"] for point in gain_points(board)} & {"BNMT-oracle", "SMT-oracle", "BNMT-static"}


def test_curves_and_passes_of_several_seeds_have_their_range():
    board = boards.seeded_board()
    [row] = [row for row in board.rows if row.system == "BNMT-EL"]
    last = [point for point in curve_points(board) if point["system"] == "BNMT-EL"][-1]
    rewards = [seed.reward for seed in row.seeds]
    assert (last["reward_low"], last["reward_high"]) == pytest.approx((min(rewards), max(rewards)), abs=1e-4)
    assert last["regret_low"] < last["regret"] < last["regret_high"]
    held_out = [point for point in pass_points(board) if point["system"] == "BNMT-EL"][-1]
    bleu = [seed.passes[-1].corpus_bleu for seed in row.seeds]
    assert (held_out["corpus_bleu_low"], held_out["corpus_bleu_high"]) == (min(bleu), max(bleu))
    others = [point for point in curve_points(board) if point["system"] != "BNMT-EL"]
    assert {point["reward_low"] for point in others} == {point["regret_high"] for point in others} == {None}


def test_names_at_the_ends_of_lines_do_not_overlap():
    points = labelled_gain_points(boards.dev_board())
    known = [value for point in points for value in (point["gain"], point["gain_low"], point["gain_high"]) if value]
    places = sorted(point["label_at"] for point in points if "label" in point)
    assert len(places) == 7
    assert min(b - a for a, b in pairwise(places)) >= 0.999 * LABEL_HEIGHT * (max(known) - min(known)) / HEIGHT


def test_differences_are_those_of_the_curves_at_the_ends_of_blocks():
    board = boards.post_edit_board()
    rows = {row.system: row for row in board.rows}
    points = {(point["system"], point["rounds"]): point for point in difference_points(board)}
    mine, theirs = rows["BNMT-full"].adaptation.curves, rows["BNMT-static"].adaptation.curves
    assert points["BNMT-full", 1_000]["r1"] == pytest.approx(mine["r1"][-1] - theirs["r1"][-1])
    assert points["BNMT-full", 20]["bleu"] == pytest.approx(mine["bleu"][0] - theirs["bleu"][0])
    systems = {system for system, _ in points}
    assert systems == {row.system for row in board.rows if row.role == "contestant"}, "not baselines with themselves"
    assert max(rounds for system, rounds in points if system == "ELM") == 640


def test_ter_has_dots_for_blocks_and_fitted_curves():
    board = boards.post_edit_board()
    [row] = [row for row in board.rows if row.system == "BNMT-full"]
    points = [point for point in ter_points(board) if point["system"] == "BNMT-full"]
    assert [point["rounds"] for point in points] == list(range(20, 1_001, 20))
    assert [point["ter"] for point in points] == row.adaptation.ter["unit"].errors
    assert points[0]["ter_curve"] == row.adaptation.ter["unit"].first
    assert points[1]["incremental_ter_curve"] == pytest.approx(
        row.adaptation.ter["cumulative"].first * 2 ** row.adaptation.ter["cumulative"].exponent
    )
    assert {point["ter_curve"] for point in ter_points(board) if point["system"] == "CEDAR"} == {None}


def test_a_bandit_phase_has_neither_differences_nor_ter():
    assert difference_points(boards.dev_board()) == ter_points(boards.dev_board()) == []


def test_without_an_oracle_there_is_no_regret():
    board = make_board(boards.dev_phase(), boards.dev_summaries(), now=boards.NOW)
    assert {point["regret"] for point in curve_points(board)} == {None}


def test_labels_are_unique():
    row = boards.dev_board().rows[0]
    several = [
        replace(row, run="1", system="a"),
        replace(row, run="2", system="b", participant="x"),
        replace(row, run="3", system="b", participant="y", attempt=1),
        replace(row, run="4", system="b", participant="y", attempt=2),
    ]
    assert list(labels(several).values()) == ["a", "b (x)", "b (y) #1", "b (y) #2"]


def test_crowded_figure_shows_the_best_runs_and_all_references():
    board = boards.crowded_board(100)
    chosen = drawn_rows(board)
    references = {row.system for row in board.rows if row.role != "contestant"}
    assert len(chosen) == MAX_CONTESTANTS + len(references)
    assert references <= {row.system for row in chosen}
    assert "system-000" in {row.system for row in chosen}  # which is as good as an oracle


def chart_of(name, board):
    chart = figure(name, board)
    assert chart is not None
    return chart


def encoding(name, board, channel):
    """Return the encoding of one channel of a figure's lines."""
    found: Any = chart_of(name, board).to_dict()
    while "encoding" not in found:
        found = (found.get("vconcat") or found.get("hconcat") or found.get("layer"))[0]
    return found["encoding"][channel]


def test_a_system_looks_the_same_in_all_figures_and_dashes_show_its_role():
    board, adapting = boards.dev_board(), boards.post_edit_board()
    strokes = [encoding(name, board, "stroke")["scale"] for name in ("regret", "reward", "held-out")]
    assert strokes[0] == strokes[1] == strokes[2]
    strokes = [encoding(name, adapting, "stroke")["scale"] for name in ("reward", "difference", "ter")]
    assert strokes[0] == strokes[1] == strokes[2]
    coloured = dict(zip(strokes[0]["domain"], strokes[0]["range"], strict=True))
    assert (coloured["BNMT-static"], coloured["BNMT-full"]) == (LIGHT_REFERENCE, LIGHT_SERIES[0])
    dashes = encoding("reward", board, "strokeDash")["scale"]
    drawn_with = dict(zip(dashes["domain"], dashes["range"], strict=True))
    assert (drawn_with["BNMT-oracle"], drawn_with["SMT-static"], drawn_with["BNMT-EL"]) == ([7, 4], [2, 2], [1, 0])
    assert drawn_with["BNMT-static"] == [4, 4], "the second grey line of a role has longer dashes"


def test_legend_names_only_drawn_runs():
    board = boards.dev_board()
    assert "BNMT-oracle" in encoding("reward", board, "stroke")["legend"]["values"]
    assert "BNMT-oracle" not in encoding("regret", board, "stroke")["legend"]["values"]
    assert "BNMT-EL" in encoding("regret", board, "stroke")["legend"]["values"]


def test_regret_of_the_first_rounds_of_a_long_phase_is_left_out():
    assert {point["rounds"] for point in curve_points(boards.dev_board()) if point["regret"] is None} == set(
        range(1, 10)
    )


def test_file_names_and_contents(tmp_path):
    written = save_figures(boards.dev_board(), tmp_path / "new" / "folder", ["svg"])
    assert [path.name for path in written] == ["dev-gain.svg", "dev-regret.svg", "dev-reward.svg", "dev-held-out.svg"]
    for path in written:
        text = "".join(ET.parse(path).getroot().itertext())
        assert "BNMT-EL-CV" in text


def test_files_of_a_post_edit_phase(tmp_path):
    written = save_figures(boards.post_edit_board(), tmp_path, ["svg"])
    assert [path.name for path in written] == ["dev-gain.svg", "dev-reward.svg", "dev-difference.svg", "dev-ter.svg"]
    texts = ["".join(ET.parse(path).getroot().itertext()) for path in written]
    assert all("BNMT-full" in text for text in texts), "the legend names the systems"
    assert all(f"{label} above the baseline" in texts[2] for label in ("R0", "R1", "R0+1", "BLEU"))
    assert "TER of a block" in texts[3]


def test_every_format(tmp_path):
    board = make_board(boards.dev_phase(), [boards.summary("x", 100, start=0.5)], now=boards.NOW)
    begins = {path.suffix: path.read_bytes()[:4] for path in save_figures(board, tmp_path)}
    assert begins == {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF"}


def test_hostile_names_are_drawn_as_text(tmp_path):
    chart_of("reward", boards.hostile_board()).save(tmp_path / "hostile.svg")
    drawing = ET.parse(tmp_path / "hostile.svg").getroot()
    assert "<script>alert('x')</script>" in "".join(drawing.itertext())
    assert not list(drawing.iter("{http://www.w3.org/2000/svg}script"))


def test_an_empty_board_draws_nothing(tmp_path):
    assert save_figures(boards.empty_board(), tmp_path) == []
