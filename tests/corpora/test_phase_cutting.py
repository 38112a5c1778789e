"""The layouts that a corpus is cut into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.phase_cutting import cut_phases
from task.layout import Layout, LayoutError
from task.phases import DEV, TRAINING


def test_a_corpus_of_the_size_of_wmt_2017_is_cut_like_it():
    assert cut_phases(48 + DEV.layout.distinct + TRAINING.layout.distinct) == {
        "mock": Layout.plain(48),
        "dev": DEV.layout,
        "training": TRAINING.layout,
    }


@given(st.integers(1_000, 2_000_000))
def test_nearly_all_pairs_of_a_corpus_are_used(pairs):
    used = sum(layout.distinct for layout in cut_phases(pairs).values())
    assert pairs - 13 <= used <= pairs


def test_given_sizes_are_laid_out_exactly():
    layouts = cut_phases(100_000, dev=40_000, training=50_000)
    assert (layouts["dev"], layouts["training"]) == (DEV.layout, Layout(blocks=12, block=159, gap=4_372))
    assert layouts["training"].total == 50_000


@pytest.mark.parametrize(
    ("pairs", "sizes", "complaint"),
    [
        (999, {}, "needs at least 1,000 clean in-domain pairs, but there are 999"),
        (5_000, {"training": 20_000}, "distinct pairs, but only"),
        (5_000, {"dev": 40_000}, "40,000 dev rounds use up the 5,000 pairs: none are left for training"),
        (5_000, {"dev": 5}, "5 rounds cannot hold 4 passes of 2 sentences at equal distances; nearest: 11"),
    ],
)
def test_sizes_that_need_more_pairs_are_refused(pairs, sizes, complaint):
    with pytest.raises(LayoutError, match=complaint):
        cut_phases(pairs, **sizes)


def test_phases_that_show_post_edits_are_cut_without_held_out_passes():
    layouts = cut_phases(10_048, held_out=False)
    assert layouts == {"mock": Layout.plain(48), "dev": Layout.plain(1_000), "training": Layout.plain(9_000)}
    exact = cut_phases(10_048, dev=500, training=2_000, held_out=False)
    assert (exact["dev"], exact["training"]) == (Layout.plain(500), Layout.plain(2_000))


def test_more_rounds_than_pairs_are_refused():
    with pytest.raises(LayoutError, match="9,000 dev and 2,000 training rounds need more than the 10,000 pairs left"):
        cut_phases(10_048, dev=9_000, training=2_000, held_out=False)
