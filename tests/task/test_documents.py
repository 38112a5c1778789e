"""Documents: positions of sentences, and ids that tell a participant no more than it may know."""

from hypothesis import given
from hypothesis import strategies as st

from task.documents import document_id, positions
from task.layout import Layout

RUN, OTHER_RUN = "a" * 26, "b" * 26


def test_positions_count_from_the_beginning_of_each_document():
    assert list(positions(["x", "x", "x", "y", "x"], Layout.plain(5))) == [0, 1, 2, 0, 0]


def test_a_sentence_of_an_unknown_document_stands_alone():
    assert list(positions(["", "", "x"], Layout.plain(3))) == [0, 0, 0]


def test_no_document_crosses_a_held_out_pass():
    layout = Layout(blocks=3, block=2, gap=2)  # HH FF HH FF HH
    assert list(positions(["x"] * 6, layout)) == [0, 1, 0, 1, 0, 1]


def test_an_id_names_the_round_in_which_the_document_began():
    assert document_id(RUN, 7, 2) == document_id(RUN, 5, 0) != document_id(RUN, 7, 0)
    assert document_id(RUN, 5, 0) != document_id(OTHER_RUN, 5, 0)
    assert len(document_id(RUN, 5, 0)) == 16


def test_the_second_pass_over_a_held_out_block_has_other_ids():
    layout = Layout(blocks=2, block=2, gap=3)
    assert document_id(RUN, 0, 0) != document_id(RUN, layout.period, 0)


@given(st.lists(st.sampled_from(["", "x", "y"]), min_size=1, max_size=20), st.integers(1, 3), st.integers(1, 4))
def test_sentences_of_a_document_are_served_together_and_in_order(documents, block, gap):
    layout = Layout(3, block, gap) if len(documents) >= block + 2 * gap else Layout.plain(len(documents))
    documents = documents[: layout.distinct]
    found = list(positions(documents, layout))
    for index in range(layout.total):
        sentence = layout.place(index).sentence
        if found[sentence]:
            before = layout.place(index - 1).sentence
            assert (before, found[before]) == (sentence - 1, found[sentence] - 1)
            assert documents[before] == documents[sentence]
