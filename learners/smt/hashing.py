"""Hash tables that compiled code can read, and that can be mapped from a file: open addressing, linear probing.

Keys are 64-bit hashes. What collides is taken for the same; with ten million keys that happens once in 300,000 models.

numba's cache knows the file of a compiled function, but not the files of what it calls: after a change here, remove
``__pycache__`` before trusting a test.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

compiled = numba.njit(cache=True, nogil=True, error_model="numpy")
# What only compiled code calls is compiled in half the time.
inner = numba.njit(  # type: ignore[call-overload]
    cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)

EMPTY_KEY = 0  # no key
HASH_MULTIPLIER = np.uint64(0x2545F4914F6CDD1D)
HASH_SEED = 0x1B873593CC9E2D51  # the hash of nothing
MAX_LOAD_FACTOR = 0.6  # of a table at most; fuller ones are slow


# Unsigned inside: compilers take it that signed numbers never overflow, and draw wrong conclusions.
@numba.njit("int64(int64, int64)", cache=True)  # one type, so that the same words have the same hash everywhere
def hash_combine(key: int, value: int) -> Any:
    """The hash of a sequence with one more element, never ``EMPTY_KEY``."""
    mixed = (np.uint64(np.int64(key)) ^ np.uint64(np.int64(value))) * HASH_MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    mixed *= HASH_MULTIPLIER
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed) if mixed != np.uint64(EMPTY_KEY) else HASH_SEED


@compiled
def find_slot(keys: Array, key: int) -> int:
    """The slot of a key, or -1."""
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != EMPTY_KEY:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & mask
    return -1


@compiled
def claim_slot(keys: Array, key: int) -> int:
    """The slot of a key, taken if it was not there; the table must have room."""
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != EMPTY_KEY and keys[slot] != key:
        slot = (slot + 1) & mask
    keys[slot] = key
    return slot


@inner
def copy_elements(values: Array, places: Array, count: int) -> None:
    """Like assigning a slice, but compiled in no time."""
    for k in range(count):
        places[k] = values[k]


@compiled
def argsort_descending(values: Array) -> Array:
    """The places of values from the greatest to the least; equals keep their order. Compiled once for all."""
    return np.argsort(-values, kind="mergesort")


@compiled
def table_size(count: int) -> int:
    """How many slots a table for so many keys should have: a power of two."""
    slots = 4
    while slots * MAX_LOAD_FACTOR < count:
        slots *= 2
    return slots
