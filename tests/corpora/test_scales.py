"""The scales of synthetic tasks."""

import pytest

from corpora.scales import SCALES, ScaleName
from task.layout import Layout, LayoutError
from task.phases import TRAINING


def test_the_sizes_of_the_predefined_scales():
    sizes = {str(name): [layout.total for layout in scale.phases.values()] for name, scale in SCALES.items()}
    assert sizes == {"demo": [48, 4_000, 10_000], "dev": [48, 40_000, 100_000], "full": [48, 40_000, 1_297_974]}
    assert SCALES[ScaleName.FULL].training == TRAINING.layout
    assert SCALES[ScaleName.FULL].lines == 1_000_000 + 48 + 40_000 + 1_297_974


def test_a_scale_can_be_resized():
    demo = SCALES[ScaleName.DEMO].resized(mock=5, dev=580, training=12 * 100 + 11 * 3, out_of_domain=7)
    assert demo.phases == {"mock": Layout.plain(5), "dev": Layout(4, 70, 100), "training": Layout(12, 100, 3)}
    assert demo.out_of_domain == 7
    assert SCALES[ScaleName.DEMO].resized(out_of_domain=None) == SCALES[ScaleName.DEMO]


def test_an_invalid_size_is_refused_with_the_nearest_valid_ones():
    with pytest.raises(LayoutError, match="nearest: 9,989 or 10,000"):
        SCALES[ScaleName.DEMO].resized(training=9_999, out_of_domain=None)
