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
    """With a condition on signs, from which a compiler may draw conclusions."""
    found = np.zeros(len(numbers) + 1, np.int64)
    for k in range(-1, len(numbers)):
        number = -1 if k < 0 else numbers[k]
        if k >= 0 and number < 0:
            continue
        found[k + 1] = hash_combine(hash_combine(HASH_SEED, number), last)
    return found


def test_a_hash_is_the_same_wherever_it_is_computed():
    numbers = np.arange(0, 3_000, 7, dtype=np.int32)
    expected = [hash_combine(hash_combine(HASH_SEED, number), 3) for number in (-1, *numbers.tolist())]
    assert hashes(numbers, 3).tolist() == expected
    assert len(set(expected)) == len(expected)
    assert EMPTY_KEY not in expected


def test_the_format_of_files_tells_how_their_words_were_hashed():
    """Other hashes need another format: in the tables of an older file nothing would be found."""
    assert (FORMAT, hash_combine(HASH_SEED, 1), hash_combine(hash_combine(HASH_SEED, 1), 2)) == (
        "smt 2",
        -2621708187103215321,
        6146027500162823457,
    )


def test_what_is_placed_is_found():
    wanted = [hash_combine(HASH_SEED, number) for number in range(1_000)]
    keys = np.zeros(table_size(len(wanted)), np.int64)
    slots = [claim_slot(keys, key) for key in wanted]
    assert [find_slot(keys, key) for key in wanted] == slots == [claim_slot(keys, key) for key in wanted]
    assert len(set(slots)) == 1_000
    assert find_slot(keys, hash_combine(HASH_SEED, 1_000)) == -1


def test_a_table_has_room_to_spare():
    assert [table_size(count) for count in (0, 2, 3, 1_000)] == [4, 4, 8, 2_048]


def test_descending_keeps_the_order_of_equals():
    assert argsort_descending(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]
