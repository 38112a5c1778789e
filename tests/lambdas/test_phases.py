"""Card A3, literally: where held-out blocks lie."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.phases import DEV, MOCK, PHASES, TRAINING, Layout, LayoutError, Place

layouts = st.one_of(
    st.builds(Layout, st.integers(2, 8), st.integers(1, 20), st.integers(0, 50)),
    st.builds(Layout.plain, st.integers(1, 100)),
)


def picture(layout):
    places = [layout.place(index) for index in range(layout.total)]
    return "".join("F" if place.held_out_pass is None else "H" for place in places)


def test_the_card_s_small_example():
    assert picture(Layout(blocks=3, block=2, gap=4)) == "HHFFFFHHFFFFHH"


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
def test_the_card_s_places_in_training(index, place):
    assert TRAINING.layout.place(index) == place


@given(layouts)
def test_every_distinct_sentence_is_served_and_fresh_ones_only_once(layout):
    served = [layout.place(index) for index in range(layout.total)]
    fresh = [place.sentence for place in served if place.held_out_pass is None]
    assert fresh == list(range(layout.block, layout.distinct))
    for number in range(layout.blocks):
        assert [p.sentence for p in served if p.held_out_pass == number] == list(range(layout.block))


@given(layouts.filter(lambda layout: layout.blocks))
def test_a_pass_stands_at_either_end(layout):
    assert layout.place(0) == Place(0, 0)
    assert layout.place(layout.total - 1) == Place(layout.block - 1, layout.blocks - 1)


@given(st.integers(1, 5_000), st.integers(2, 8), st.integers(1, 50))
def test_a_size_fits_or_is_refused_with_sizes_that_do(total, blocks, block):
    try:
        assert Layout.fit(total, blocks=blocks, block=block).total == total
    except LayoutError as refusal:
        named = str(refusal).split("nearest: ")[1].replace(",", "").split(" or ")
        assert total not in map(int, named)
        for size in named:
            assert Layout.fit(int(size), blocks=blocks, block=block).total == int(size)


def test_the_refusal_names_the_nearest_sizes():
    with pytest.raises(LayoutError, match=r"40,001 rounds cannot hold 4 passes of 700 .* nearest: 40,000 or 40,003"):
        Layout.fit(40_001, blocks=4, block=700)
    with pytest.raises(LayoutError, match=r"nearest: 2,803$"):
        Layout.fit(10, blocks=4, block=700)


@pytest.mark.parametrize("index", [-1, 14])
def test_a_round_outside_the_phase_is_refused(index):
    with pytest.raises(IndexError, match="is not one of the 14 rounds"):
        Layout(blocks=3, block=2, gap=4).place(index)


@pytest.mark.parametrize("parts", [(-1, 2, 4), (2, 0, 4), (0, 2, 4), (1, 2, 4), (0, 0, 0), (2, 2, -1)])
def test_parts_that_make_no_layout_are_refused(parts):
    with pytest.raises(LayoutError):
        Layout(*parts)


@pytest.mark.parametrize("held_out", [{"blocks": 1, "block": 5}, {"blocks": 3, "block": 0}])
def test_held_out_evaluation_needs_two_passes(held_out):
    with pytest.raises(LayoutError, match="needs 2 passes"):
        Layout.fit(100, **held_out)


def test_a_single_pass_is_a_layout_of_its_own():
    assert picture(Layout(blocks=1, block=3, gap=0)) == "HHH"
