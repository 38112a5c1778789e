"""Features of sources: worked examples."""

import numpy as np
import pytest

from learners.arms.source_features import NAMES, source_features


def test_features_of_a_source():
    found = dict(zip(NAMES, source_features("Seil 10 mm , rot , rot"), strict=True))
    assert found == pytest.approx(
        {
            "constant": 1.0,
            "length": np.log(8) / np.log(51),
            "word length": (4 + 2 + 2 + 1 + 3 + 1 + 3) / 7 / 10,
            "words with digits": 1 / 7,
            "capitalised words": 1 / 7,
            "punctuation": 2 / 7,
            "repeated words": 2 / 7,
        }
    )


@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source_has_features(source):
    assert source_features(source).tolist() == [1, 0, 0, 0, 0, 0, 0]
