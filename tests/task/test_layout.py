"""Where held-out passes lie in a phase, by worked examples and as invariants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.layout import Layout, LayoutError, Place

layouts = st.one_of(
    st.builds(Layout, st.integers(2, 8), st.integers(1, 20), st.integers(0, 50)),
    st.builds(Layout.plain, st.integers(1, 100)),
)


def picture(layout):
    places = [layout.place(index) for index in range(layout.total)]
    return "".join("F" if place.held_out_pass is None else "H" for place in places)


def test_a_small_example():
    assert picture(Layout(blocks=3, block=2, gap=4)) == "HHFFFFHHFFFFHH"


@given(layouts)
def test_every_distinct_sentence_is_served_and_fresh_ones_only_once(layout):
    served = [layout.place(index) for index in range(layout.total)]
    fresh = [place.sentence for place in served if place.held_out_pass is None]
    assert fresh == list(range(layout.block, layout.distinct))
    for number in range(layout.blocks):
        assert [p.sentence for p in served if p.held_out_pass == number] == list(range(layout.block))


@given(layouts)
def test_places_passes_and_repeats_agree(layout):
    places = [layout.place(index) for index in range(layout.total)]
    for number in range(layout.blocks):
        in_pass = [index for index, place in enumerate(places) if place.held_out_pass == number]
        assert in_pass == list(layout.rounds_of_pass(number))
    assert list(layout.pass_ends) == [layout.rounds_of_pass(number).stop for number in range(layout.blocks)]
    seen = set()
    for index, place in enumerate(places):
        assert layout.is_repeat(index) == (place.sentence in seen)
        seen.add(place.sentence)
    assert len(seen) == layout.distinct


@given(layouts)
def test_segments_cover_the_phase_and_each_is_one_pass_or_fresh(layout):
    index, segments = 0, []
    while index < layout.total:
        held_out_pass, end = layout.segment(index)
        assert index < end
        assert all(layout.place(k).held_out_pass == held_out_pass for k in range(index, end))
        assert all(layout.segment(k) == (held_out_pass, end) for k in range(index, end))
        segments.append(held_out_pass)
        index = end
    assert index == layout.total
    assert [number for number in segments if number is not None] == list(range(layout.blocks))


def test_the_passes_of_a_small_example():
    layout = Layout(blocks=3, block=2, gap=4)
    assert (layout.period, layout.pass_ends) == (6, [2, 8, 14])
    assert [layout.rounds_of_pass(number) for number in range(3)] == [range(2), range(6, 8), range(12, 14)]
    assert [index for index in range(14) if layout.is_repeat(index)] == [6, 7, 12, 13]
    assert [layout.segment(index) for index in (0, 1, 2, 5, 6, 13)] == [
        (0, 2),
        (0, 2),
        (None, 6),
        (None, 6),
        (1, 8),
        (2, 14),
    ]


@pytest.mark.parametrize("number", [-1, 3])
def test_a_pass_outside_the_phase_is_refused(number):
    with pytest.raises(IndexError, match="is not one of the 3 passes"):
        Layout(blocks=3, block=2, gap=4).rounds_of_pass(number)


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


@pytest.mark.parametrize("parts", [(1_001, 1, 1), (10**8, 1, 0), (0, 0, 10**9 + 1), (2, 10**9, 1)])
def test_the_numbers_of_passes_and_rounds_are_bounded(parts):
    with pytest.raises(
        LayoutError, match=r"^a phase has at most 1,000 held-out passes and 1,000,000,000 rounds, but got"
    ):
        Layout(*parts)
