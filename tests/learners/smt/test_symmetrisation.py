import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from thot.common import WordAlignmentMatrix

from learners.smt.symmetrisation import BACKWARD, BOTH, FORWARD, KEPT, grow_diag_final_and


def symmetrised(shape, forward, backward):
    links = np.zeros(shape, np.uint8)
    for link in forward:
        links[link] |= FORWARD
    for link in backward:
        links[link] |= BACKWARD
    grow_diag_final_and(links)
    return [tuple(link) for link in np.argwhere(links & KEPT).tolist()]


def test_grow_diag_final_and():
    assert symmetrised((4, 5), [(0, 0), (1, 1), (2, 1), (3, 4)], [(0, 0), (1, 1), (0, 4)]) == [
        (0, 0),
        (1, 1),  # both directions agree
        (2, 1),  # grown: beside a link, and the source word had none
        (3, 4),  # final-and: neither word had a link
    ]  # but not 0-4: source word 0 has one


def test_grown_links_grow_further():
    assert symmetrised((3, 3), [(0, 0), (1, 0), (2, 1)], [(0, 0)]) == [(0, 0), (1, 0), (2, 1)]


def test_no_links_remain_no_links():
    assert symmetrised((2, 3), [], []) == []


link_matrices = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.uint8, shape, elements=st.integers(0, int(BOTH)))
)


@given(link_matrices)
def test_the_result_lies_between_the_intersection_and_the_union(links):
    kept = links.copy()
    grow_diag_final_and(kept)
    assert np.all((kept & KEPT > 0) >= (links == BOTH))
    assert np.all((kept & KEPT > 0) <= (links > 0))


@given(link_matrices)
def test_every_linked_word_pair_without_other_links_is_kept(links):
    """Final-and: no link of the union is left out whose words both have no link."""
    kept = links.copy()
    grow_diag_final_and(kept)
    result = kept & KEPT > 0
    for i, j in np.argwhere(links > 0):
        assert result[i].any() or result[:, j].any()


@given(link_matrices)
def test_an_independent_implementation_covers_the_same_words(links):
    """thot visits neighbours in another order, so it may choose other links, but for the same words."""
    forward, backward = WordAlignmentMatrix(*links.shape), WordAlignmentMatrix(*links.shape)
    for i, j in np.argwhere(links > 0).tolist():
        if links[i, j] & FORWARD:
            forward.set(i, j)
        if links[i, j] & BACKWARD:
            backward.set(i, j)
    forward.grow_diag_final_and(backward)
    theirs = forward.to_numpy().astype(bool)
    kept = links.copy()
    grow_diag_final_and(kept)
    ours = kept & KEPT > 0
    assert ours.any(axis=1).tolist() == theirs.any(axis=1).tolist()
    assert ours.any(axis=0).tolist() == theirs.any(axis=0).tolist()
