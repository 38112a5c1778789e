"""Training examples that teach copying."""

import re

import numpy as np

from learners.nmt.copying import MASK, mask_or_rename


def test_only_tokens_that_both_sides_have_are_replaced():
    rng = np.random.default_rng(0)
    assert mask_or_rename(("rot b7", "red b7"), rng, 1.0, 0.0) == (f"rot {MASK}", f"red {MASK}")
    assert mask_or_rename(("rot", "red"), rng, 0.5, 0.5) == ("rot", "red")
    assert mask_or_rename(("rot , hier", "red , here"), rng, 0.5, 0.5) == ("rot , hier", "red , here")
    assert mask_or_rename(("rot b7", "red b7"), rng, 0.0, 0.0) == ("rot b7", "red b7")


def test_a_made_up_name_is_the_same_on_both_sides_and_a_number_stays_a_number():
    rng = np.random.default_rng(0)
    for _ in range(50):
        source, target = mask_or_rename(("rot acme", "red acme"), rng, 0.0, 1.0)
        assert re.fullmatch(r"rot ([a-z]{3,8}|[a-z]{2}\d{0,4})", source)
        assert target == source.replace("rot", "red")
    source, target = mask_or_rename(("1.75 lang", "1.75 long"), rng, 0.0, 1.0)
    assert re.fullmatch(r"\d\.\d\d lang", source)
    assert target == source.replace("lang", "long")
