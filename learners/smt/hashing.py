"""Hash tables that compiled code can read and that can be memory-mapped: open addressing, linear probing.

Keys are 64-bit hashes, and colliding keys are taken for equal. With ten million keys, one model in 300,000 has a
collision.

numba's cache tracks the file of a compiled function, but not the files of the functions that it calls. After a change
here, remove ``__pycache__`` before trusting a test.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

compiled = numba.njit(cache=True, nogil=True, error_model="numpy")
# For functions that only compiled code calls: without a wrapper for Python they compile in half the time.
compiled_internal = numba.njit(  # type: ignore[call-overload]
    cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)

EMPTY_KEY = 0  # marks a free slot
HASH_SEED = 0x1B873593CC9E2D51  # the hash of the empty sequence
HASH_MULTIPLIER = np.uint64(0x2545F4914F6CDD1D)
MAX_LOAD_FACTOR = 0.6  # fuller tables are slow


# Unsigned inside: compilers assume that signed integers never overflow, and optimise wrongly if they do.
@numba.njit("int64(int64, int64)", cache=True)  # one signature, so that equal words have equal hashes everywhere
def hash_combine(key: int, value: int) -> Any:
    """Return the hash of a sequence with one more element; it is never ``EMPTY_KEY``."""
    mixed = (np.uint64(np.int64(key)) ^ np.uint64(np.int64(value))) * HASH_MULTIPLIER
    mixed ^= mixed >> np.uint64(29)
    mixed *= HASH_MULTIPLIER
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed) if mixed != np.uint64(EMPTY_KEY) else HASH_SEED


@compiled
def find_slot(keys: Array, key: int) -> int:
    """Return the slot of a key, or -1 if the table does not hold it."""
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != EMPTY_KEY:
        if keys[slot] == key:
            return slot
        slot = (slot + 1) & mask
    return -1


@compiled
def claim_slot(keys: Array, key: int) -> int:
    """Return the slot of a key, inserting the key if it is new; the table must have a free slot."""
    mask = len(keys) - 1
    slot = key & mask
    while keys[slot] != EMPTY_KEY and keys[slot] != key:
        slot = (slot + 1) & mask
    keys[slot] = key
    return slot


@compiled_internal
def copy_elements(source: Array, target: Array, count: int) -> None:
    """Copy the first elements, like a slice assignment that compiles much faster."""
    for k in range(count):
        target[k] = source[k]


@compiled
def argsort_descending(values: Array) -> Array:
    """Return the indices that sort the values in descending order, stably; compiled once for all callers."""
    return np.argsort(-values, kind="mergesort")


@compiled
def table_size(count: int) -> int:
    """Return the number of slots, a power of two, of a table for this many keys."""
    slots = 4
    while slots * MAX_LOAD_FACTOR < count:
        slots *= 2
    return slots
