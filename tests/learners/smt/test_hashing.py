import numba
import numpy as np

from learners.smt.hashing import EMPTY, FIRST, descending, find, mix, place, room
from learners.smt.translator import FORMAT


@numba.njit
def hashes(numbers, last):
    """With a condition on signs, from which a compiler may draw conclusions."""
    found = np.zeros(len(numbers) + 1, np.int64)
    for k in range(-1, len(numbers)):
        number = -1 if k < 0 else numbers[k]
        if k >= 0 and number < 0:
            continue
        found[k + 1] = mix(mix(FIRST, number), last)
    return found


def test_a_hash_is_the_same_wherever_it_is_computed():
    numbers = np.arange(0, 3_000, 7, dtype=np.int32)
    expected = [mix(mix(FIRST, number), 3) for number in (-1, *numbers.tolist())]
    assert hashes(numbers, 3).tolist() == expected
    assert len(set(expected)) == len(expected)
    assert EMPTY not in expected


def test_the_format_of_files_tells_how_their_words_were_hashed():
    """Other hashes need another format: in the tables of an older file nothing would be found."""
    assert (FORMAT, mix(FIRST, 1), mix(mix(FIRST, 1), 2)) == ("smt 2", -2621708187103215321, 6146027500162823457)


def test_what_is_placed_is_found():
    wanted = [mix(FIRST, number) for number in range(1_000)]
    keys = np.zeros(room(len(wanted)), np.int64)
    slots = [place(keys, key) for key in wanted]
    assert [find(keys, key) for key in wanted] == slots == [place(keys, key) for key in wanted]
    assert len(set(slots)) == 1_000
    assert find(keys, mix(FIRST, 1_000)) == -1


def test_a_table_has_room_to_spare():
    assert [room(count) for count in (0, 2, 3, 1_000)] == [4, 4, 8, 2_048]


def test_descending_keeps_the_order_of_equals():
    assert descending(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]
