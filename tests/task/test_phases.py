"""The phases of the WMT 2017 task, literally (Sokolov et al. 2017, sections 2 and 3)."""

from dataclasses import replace

import pytest

from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import LayoutError, Place
from task.phases import DEV, MOCK, PHASES, TRAINING


@pytest.mark.parametrize(
    ("phase", "total", "distinct", "starts"),
    [
        (MOCK, 48, 48, []),
        (DEV, 40_000, 37_900, [0, 13_100, 26_200, 39_300]),
        (TRAINING, 1_297_974, 1_253_974, [117_634 * j for j in range(12)]),
    ],
)
def test_the_three_phases_have_the_paper_s_sizes(phase, total, distinct, starts):
    assert (phase.layout.total, phase.layout.distinct) == (total, distinct)
    assert [phase.layout.place(start) for start in starts] == [Place(0, j) for j in range(len(starts))]


def test_only_training_is_played_once():
    assert {name: phase.repeatable for name, phase in PHASES.items()} == {"mock": True, "dev": True, "training": False}


@pytest.mark.parametrize(
    ("index", "place"),
    [
        (3_999, Place(3_999, 0)),
        (4_000, Place(4_000 + 0, None)),
        (117_633, Place(4_000 + 113_633, None)),
        (117_634, Place(0, 1)),
        (1_293_973, Place(4_000 + 1_249_973, None)),
        (1_297_973, Place(3_999, 11)),
    ],
)
def test_places_in_training(index, place):
    assert TRAINING.layout.place(index) == place


def test_a_phase_that_shows_post_edits_has_no_held_out_passes():
    shown = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
    assert replace(MOCK, feedback=shown).feedback.shows_post_edits
    with pytest.raises(LayoutError, match="phase dev shows post-edits, so it cannot have held-out passes"):
        replace(DEV, feedback=shown)
