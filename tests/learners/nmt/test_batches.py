"""Batches hold every pair once, are no larger than asked, and are mostly not padding."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from learners.nmt.batches import bucketed, padded, previous

LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


@given(LENGTHS, st.integers(1, 200), st.integers(0, 5))
def test_every_pair_comes_once_and_batches_stay_small(lengths, tokens, seed):
    pairs = [([4] * source, [5] * target) for source, target in lengths]
    batches = bucketed(pairs, tokens, np.random.default_rng(seed))
    assert sorted(number for batch in batches for number in batch) == list(range(len(pairs)))
    for batch in batches:
        longest = max(max(lengths[number]) for number in batch)
        assert len(batch) == 1 or longest * len(batch) <= tokens


def test_like_lengths_go_together():
    pairs = [([4] * length, [4] * length) for length in (9, 2, 9, 2)]
    batches = bucketed(pairs, 18, np.random.default_rng(0))
    assert sorted(sorted(batch) for batch in batches) == [[0, 2], [1, 3]]


def test_padding_and_what_the_decoder_reads():
    rows = padded([[4, 5, 2], [6, 2]], torch.device("cpu"))
    assert rows.tolist() == [[4, 5, 2], [6, 2, 0]]
    assert previous(rows).tolist() == [[1, 4, 5], [1, 6, 2]]
