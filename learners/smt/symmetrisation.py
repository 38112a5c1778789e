"""Symmetrisation: one word alignment from those of both directions, by grow-diag-final-and (Koehn et al. 2003).

The links of a sentence pair are a matrix of bits, source positions by target positions, one byte each.
"""

from learners.smt.hashing import Array, compiled, compiled_internal

FORWARD, BACKWARD, KEPT = 1, 2, 4  # bits: linked by either direction, and by the result
BOTH = FORWARD | BACKWARD


@compiled_internal
def _is_unlinked(links: Array) -> bool:
    """Return whether a word, given its row or its column, has no kept link."""
    for link in links:  # noqa: SIM110 (compiled code has no generators)
        if link & KEPT:
            return False
    return True


@compiled_internal
def _grow_beside(links: Array, i: int, j: int) -> bool:
    """Keep the links around a kept one of which either word has no link; return whether there was any."""
    grown = False
    for di in range(-1, 2):
        for dj in range(-1, 2):
            row, column = i + di, j + dj
            if row < 0 or column < 0 or row == links.shape[0] or column == links.shape[1]:
                continue
            links_either_way = links[row, column] & BOTH and not links[row, column] & KEPT
            if links_either_way and (_is_unlinked(links[row]) or _is_unlinked(links[:, column])):
                links[row, column] |= KEPT
                grown = True
    return grown


@compiled_internal
def _grow_diag(links: Array) -> bool:
    """Keep the links beside kept ones, once; return whether there was any."""
    grown = False
    for i in range(links.shape[0]):
        for j in range(links.shape[1]):
            if links[i, j] & KEPT and _grow_beside(links, i, j):
                grown = True
    return grown


@compiled_internal
def _final_and(links: Array, direction: int) -> None:
    """Keep the links of a direction between words that have no other."""
    for i in range(links.shape[0]):
        for j in range(links.shape[1]):
            if links[i, j] & direction and _is_unlinked(links[i]) and _is_unlinked(links[:, j]):
                links[i, j] |= KEPT


@compiled
def grow_diag_final_and(links: Array) -> None:
    """Set the bit ``KEPT`` of the links that the symmetrised alignment has."""
    for i in range(links.shape[0]):
        for j in range(links.shape[1]):
            if links[i, j] == BOTH:
                links[i, j] |= KEPT
    while _grow_diag(links):  # ends: it keeps at least one more link each time
        pass
    _final_and(links, FORWARD)
    _final_and(links, BACKWARD)
