"""Batches contain every pair once, respect the token limit, and group pairs of similar length."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from learners.nmt.batches import bucket_by_length, pad, shift_right

LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


@given(LENGTHS, st.integers(1, 200), st.integers(0, 5))
def test_every_pair_is_in_one_batch_and_batches_respect_the_limit(lengths, tokens, seed):
    pairs = [([4] * source, [5] * target) for source, target in lengths]
    batches = bucket_by_length(pairs, tokens, np.random.default_rng(seed))
    assert sorted(index for batch in batches for index in batch) == list(range(len(pairs)))
    for batch in batches:
        longest = max(max(lengths[index]) for index in batch)
        assert len(batch) == 1 or longest * len(batch) <= tokens


def test_pairs_of_the_same_length_share_a_batch():
    pairs = [([4] * length, [4] * length) for length in (9, 2, 9, 2)]
    batches = bucket_by_length(pairs, 18, np.random.default_rng(0))
    assert sorted(sorted(batch) for batch in batches) == [[0, 2], [1, 3]]


def test_padding_and_the_decoders_inputs():
    rows = pad([[4, 5, 2], [6, 2]], torch.device("cpu"))
    assert rows.tolist() == [[4, 5, 2], [6, 2, 0]]
    assert shift_right(rows).tolist() == [[1, 4, 5], [1, 6, 2]]
