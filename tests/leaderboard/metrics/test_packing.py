"""Counts as bytes: small ones in one byte each, all of them back again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.packing import pack_counts, unpack_counts


def test_small_counts_take_one_byte_each():
    assert pack_counts((0, 1, 127)) == b"\x00\x01\x7f"


def test_a_larger_count_takes_a_byte_for_every_seven_bits():
    assert pack_counts((128, 5)) == b"\x80\x01\x05"
    assert pack_counts((300,)) == b"\xac\x02"


@given(st.lists(st.integers(0, 2**40)))
def test_counts_survive_packing(counts):
    assert unpack_counts(pack_counts(counts), len(counts), "counts") == counts


@pytest.mark.parametrize(("packed", "held"), [(b"\x80", 0), (b"\x01\x02\x03", 3), (b"", 0)])
def test_bytes_that_hold_other_counts_are_refused(packed, held):
    complaint = f"not packed edits: {len(packed)} bytes that hold {held} whole numbers"
    with pytest.raises(ValueError, match=complaint):
        unpack_counts(packed, 2, "edits")
