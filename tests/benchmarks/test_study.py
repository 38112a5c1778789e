"""The tables of studies, from runs made by hand."""

import pytest

from benchmarks.studies.figures import gains, passes, save_figures
from benchmarks.studies.learning import STUDY
from benchmarks.studies.played import Played
from benchmarks.studies.smt import means, ordering
from benchmarks.studies.study import table
from lambdas.phases import Layout
from learners.journal import Entry
from simulator.competition import Contestant

LAYOUT = Layout(blocks=2, block=2, gap=8)  # HHFFFFFFFFHH
SOURCES = list("abcaadefghab")
REFERENCES = ["w x y z v"] * 12


def played(system, rewards, translations):
    rows = zip(SOURCES, translations, rewards, strict=True)
    entries = [Entry(index, source, translation, reward) for index, (source, translation, reward) in enumerate(rows)]
    return Played(Contestant(system), entries, REFERENCES, LAYOUT)


STATIC = played("BNMT-static", [0.2] * 12, ["w x y z u"] * 12)
ORACLE = played("BNMT-oracle", [0.8] * 12, ["w x y z v"] * 12)
REWARDS = [0.2] * 3 + [0.5] * 2 + [0.2] * 5 + [0.5] * 2  # more for what it has seen before
LEARNER = played("BNMT-EL", REWARDS, ["w x y z u"] * 10 + ["w x y z v w x y z v"] * 2)


def test_held_out_passes_are_scored_by_themselves():
    assert LEARNER.held_out(0) == (pytest.approx(66.874, abs=0.001), 1.0)
    assert LEARNER.held_out(1)[1] == 2.0
    assert ORACLE.held_out(1) == (pytest.approx(100), 1.0)


def test_first_seen_sources_and_repeats_are_told_apart():
    assert LEARNER.by_novelty() == (pytest.approx(0.2), pytest.approx(0.5))


def test_a_row_tells_the_difference_the_gap_and_the_length():
    lines = table([STATIC, LEARNER, ORACLE], STUDY).splitlines()
    assert len(lines) == 5
    cells = [cell.strip() for cell in lines[3].strip("|").split("|")]
    assert cells[:3] == ["BNMT-EL", "1", "0.3000"]
    assert cells[3].startswith("+0.1000 (")
    assert cells[4:7] == ["16.7 %", "0.2000", "0.5000"]
    assert cells[-1] == "2.00"


def test_systems_are_ordered_by_the_mean_over_their_seeds():
    again = played("BNMT-EL", [0.1] * 12, ["w x y z u"] * 12)
    assert means([STATIC, LEARNER, again]) == pytest.approx({"BNMT-static": 0.2, "BNMT-EL": 0.2})
    assert ordering(means([STATIC, ORACLE])) == "BNMT-oracle 0.8000 > BNMT-static 0.2000"


def test_a_curve_tells_what_was_won_per_round_so_far():
    points = list(gains([LEARNER], STATIC))
    assert points == [{"system": "BNMT-EL", "seed": 1, "rounds": 12, "gain": 0.1}]  # too short for more than its end


def test_every_held_out_pass_is_a_point():
    last = 100 * (10 / 20 * 8 / 18 * 6 / 16 * 4 / 14) ** (1 / 4)  # twice as long as its reference
    assert [point["bleu"] for point in passes([ORACLE, LEARNER])] == [100.0, 100.0, 66.874, round(last, 3)]


def test_figures_name_what_can_be_told_apart(tmp_path):
    gain, held_out = save_figures([STATIC, LEARNER, ORACLE], STATIC, "BNMT-oracle", tmp_path)
    for path in (gain, held_out):
        drawing = path.read_text()
        assert all(name in drawing for name in ("BNMT-static", "BNMT-EL"))
        assert "BNMT-oracle" not in drawing
