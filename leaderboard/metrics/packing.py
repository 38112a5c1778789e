"""Counts as bytes: non-negative whole numbers in seven-bit groups, the least significant group first.

A ledger keeps the sufficient statistics of every round, and nearly all of them are below 128: one byte each.
"""

from collections.abc import Sequence


def pack_counts(counts: Sequence[int]) -> bytes:
    """Return the counts as variable-length integers, one byte for each that is below 128."""
    try:
        short = bytes(counts)
    except ValueError:  # a count above 255
        short = b"\xff"
    if short.isascii():  # nearly always: each count below 128
        return short
    packed = bytearray()
    for count in counts:
        rest = count
        while rest > 0x7F:
            packed.append(rest & 0x7F | 0x80)
            rest >>= 7
        packed.append(rest)
    return bytes(packed)


def unpack_counts(packed: bytes, number: int, what: str) -> list[int]:
    """Return the counts that ``pack_counts`` packed.

    Args:
        packed: The bytes.
        number: How many counts there must be.
        what: What they are counts of, for the error.

    Raises:
        ValueError: The bytes hold another number of counts, or end within one.
    """
    if len(packed) == number and packed.isascii():  # nearly every sentence: one byte for each count
        return list(packed)
    counts, count, shift = [], 0, 0
    for byte in packed:
        count |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            counts.append(count)
            count = shift = 0
    if len(counts) != number or shift:
        raise ValueError(f"not packed {what}: {len(packed)} bytes that hold {len(counts)} whole numbers")
    return counts
