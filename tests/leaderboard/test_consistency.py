"""Consistency as a column: of the systems that were measured, on the board and in its exports."""

import csv
import io

import pytest

from leaderboard.consistency import mean_accuracy
from leaderboard.exports import to_csv, to_latex
from leaderboard.measures import Estimate
from leaderboard.profiles import Profiles, SystemProfile
from leaderboard.table import make_board
from task.public_texts import PublicTextError
from tests.leaderboard import boards


def test_the_mean_of_the_sets_has_the_interval_of_independent_sets():
    found = mean_accuracy({"deixis": [80.0, 77.0, 83.0], "cohesion": [60.0, 56.0, 64.0]})
    assert found == Estimate.over_sentences(70.0, (67.5, 72.5))  # half the root of 3 squared and 4 squared
    assert mean_accuracy({"deixis": [80.0], "cohesion": [60.0, 56.0, 64.0]}) == Estimate(70.0, None)
    assert mean_accuracy(None) is None


@pytest.mark.parametrize("numbers", [[101.0], [-1], [True], [50.0, 40.0], ["50"], 50.0, [float("nan")], []])
def test_what_is_no_percentage_is_refused(numbers):
    with pytest.raises(PublicTextError, match="the accuracy on deixis is a percentage"):
        SystemProfile("acme", "X", consistency={"deixis": numbers})


COUNT = 60  # rounds of each run: enough for a row


def board_with(*profiles, systems=("X", "Y")):
    summaries = [boards.summary(system, COUNT, start=0.5, seed=number) for number, system in enumerate(systems)]
    return make_board(boards.dev_phase(), summaries, profiles=Profiles(systems=profiles), now=boards.NOW)


def test_without_a_measured_system_there_is_no_column():
    board = board_with(SystemProfile("acme", "X", description="a system"))
    assert [measure.name for measure in board.measures] == ["slope", "bleu"]
    assert all(set(row.measures) == {"slope", "bleu"} for row in board.rows)
    assert "consistency" not in to_csv(board)


def test_a_measured_system_gets_a_column_in_all_exports():
    board = board_with(SystemProfile("acme", "X", consistency={"deixis": [80.0, 77.0, 83.0]}))
    assert board.measures[-1].name == "consistency"
    assert board.signatures["consistency"] == board.measures[-1].signature
    rows = {row["system"]: row for row in csv.DictReader(io.StringIO(to_csv(board)))}
    assert [rows["X"][f"consistency{end}"] for end in ("", "_low", "_high")] == ["80.0", "77.0", "83.0"]
    assert rows["Y"]["consistency"] == ""
    assert "consistency" in to_latex(board)
    shown = {row["system"]: row["measures"]["consistency"] for row in board.as_dict()["rows"]}
    assert (shown["X"]["value"], shown["Y"]) == (80.0, None)


def test_several_seeds_show_the_mean_of_those_that_were_measured():
    profiles = [
        SystemProfile("acme", name, consistency={"deixis": [value]}) for name, value in (("X", 70.0), ("X.s2", 80.0))
    ]
    (row,) = board_with(*profiles, systems=("X", "X.s2")).rows
    found = row.measures["consistency"]
    assert found is not None
    assert (found.value, found.covers) == (75.0, "seeds")
    assert [seed.measures["consistency"].value for seed in row.seeds if seed.measures["consistency"]] == [70.0, 80.0]
