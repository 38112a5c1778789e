import numba
import numpy as np

from learners.smt.hashing import (
    EMPTY_KEY,
    HASH_SEED,
    argsort_descending,
    claim_slot,
    find_slot,
    hash_combine,
    table_size,
)
from learners.smt.translator import FORMAT


@numba.njit
def hashes(numbers, last):
    """Return hashes from a loop with a test on signs, which an optimiser may exploit if hashes overflow."""
    found = np.zeros(len(numbers) + 1, np.int64)
    for k in range(-1, len(numbers)):
        number = -1 if k < 0 else numbers[k]
        if k >= 0 and number < 0:
            continue
        found[k + 1] = hash_combine(hash_combine(HASH_SEED, number), last)
    return found


def test_python_and_compiled_code_compute_the_same_hash():
    numbers = np.arange(0, 3_000, 7, dtype=np.int32)
    expected = [hash_combine(hash_combine(HASH_SEED, number), 3) for number in (-1, *numbers.tolist())]
    assert hashes(numbers, 3).tolist() == expected
    assert len(set(expected)) == len(expected)
    assert EMPTY_KEY not in expected


def test_file_format_is_tied_to_the_hash_function():
    """A new hash function needs a new format: lookups in the tables of an older file would all fail."""
    assert (FORMAT, hash_combine(HASH_SEED, 1), hash_combine(hash_combine(HASH_SEED, 1), 2)) == (
        "smt 2",
        -2621708187103215321,
        6146027500162823457,
    )


def test_claimed_keys_are_found():
    wanted = [hash_combine(HASH_SEED, number) for number in range(1_000)]
    keys = np.zeros(table_size(len(wanted)), np.int64)
    slots = [claim_slot(keys, key) for key in wanted]
    assert [find_slot(keys, key) for key in wanted] == slots == [claim_slot(keys, key) for key in wanted]
    assert len(set(slots)) == 1_000
    assert find_slot(keys, hash_combine(HASH_SEED, 1_000)) == -1


def test_table_size_leaves_free_slots():
    assert [table_size(count) for count in (0, 2, 3, 1_000)] == [4, 4, 8, 2_048]


def test_argsort_descending_is_stable():
    assert argsort_descending(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]
