"""Sizes of tasks: those on offer, those asked for, and those that a corpus allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.scales import SCALES, ScaleName, cut_phases
from task.layout import Layout, LayoutError
from task.phases import DEV, TRAINING


def test_the_scales_on_offer():
    sizes = {str(name): [layout.total for layout in scale.phases.values()] for name, scale in SCALES.items()}
    assert sizes == {"demo": [48, 4_000, 10_000], "dev": [48, 40_000, 100_000], "full": [48, 40_000, 1_297_974]}
    assert SCALES[ScaleName.FULL].training == TRAINING.layout
    assert SCALES[ScaleName.FULL].lines == 1_000_000 + 48 + 40_000 + 1_297_974


def test_a_scale_can_be_resized():
    demo = SCALES[ScaleName.DEMO].resized(mock=5, dev=580, training=12 * 100 + 11 * 3, out_of_domain=7)
    assert demo.phases == {"mock": Layout.plain(5), "dev": Layout(4, 70, 100), "training": Layout(12, 100, 3)}
    assert demo.out_of_domain == 7
    assert SCALES[ScaleName.DEMO].resized(out_of_domain=None) == SCALES[ScaleName.DEMO]


def test_a_size_that_cannot_be_laid_out_is_refused_with_the_nearest():
    with pytest.raises(LayoutError, match="nearest: 9,989 or 10,000"):
        SCALES[ScaleName.DEMO].resized(training=9_999, out_of_domain=None)


def test_a_corpus_of_the_original_size_is_cut_like_the_original():
    assert cut_phases(48 + DEV.layout.distinct + TRAINING.layout.distinct) == {
        "mock": Layout.plain(48),
        "dev": DEV.layout,
        "training": TRAINING.layout,
    }


@given(st.integers(1_000, 2_000_000))
def test_a_corpus_of_any_size_is_nearly_used_up(pairs):
    used = sum(layout.distinct for layout in cut_phases(pairs).values())
    assert pairs - 13 <= used <= pairs


def test_given_sizes_are_laid_out_exactly():
    layouts = cut_phases(100_000, dev=40_000, training=50_000)
    assert (layouts["dev"], layouts["training"]) == (DEV.layout, Layout(blocks=12, block=159, gap=4_372))
    assert layouts["training"].total == 50_000


@pytest.mark.parametrize(
    ("pairs", "sizes", "complaint"),
    [
        (999, {}, "needs 1,000 clean in-domain pairs or more, but there are 999"),
        (5_000, {"training": 20_000}, "distinct pairs, but only"),
        (5_000, {"dev": 40_000}, "40,000 dev rounds leave nothing to train on of 5,000 pairs"),
        (5_000, {"dev": 5}, "5 rounds cannot hold 4 passes of 2 sentences at equal distances; nearest: 11"),
    ],
)
def test_what_a_corpus_cannot_give_is_refused(pairs, sizes, complaint):
    with pytest.raises(LayoutError, match=complaint):
        cut_phases(pairs, **sizes)
