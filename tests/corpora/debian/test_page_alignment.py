"""Pages are aligned by their structure."""

import pytest

from corpora.debian.page_alignment import HEADING, PageBlock, align_pages


def test_sections_of_the_same_structure_are_aligned_sentence_by_sentence():
    foreign = [
        PageBlock(HEADING, "NAME"),
        PageBlock("text", "Eins ist gut. Zwei ist besser."),
        PageBlock(HEADING, "ÜBERSETZUNG"),
    ]
    english = [PageBlock(HEADING, "NAME"), PageBlock("text", "One is good. Two is better.")]
    assert list(align_pages(foreign, english)) == [
        ("Eins ist gut.", "One is good."),
        ("Zwei ist besser.", "Two is better."),
    ]


def test_blocks_with_different_numbers_of_sentences_are_paired_as_a_whole():
    pair = ("Eins. Zwei.", "One and two.")
    assert list(align_pages([PageBlock("text", pair[0])], [PageBlock("text", pair[1])])) == [pair]


@pytest.mark.parametrize(
    ("foreign", "english"),
    [
        ([PageBlock("text", "Ein Satz.")], [PageBlock("tag", "A sentence.")]),  # another kind
        (
            [PageBlock("text", "Ein Satz.")],
            [PageBlock("text", "A sentence."), PageBlock("text", "More.")],
        ),  # another number
        (
            [PageBlock(HEADING, "A"), PageBlock(HEADING, "B"), PageBlock(HEADING, "C")],
            [PageBlock(HEADING, "X")],
        ),  # other sections
        ([PageBlock("text", "GNU ls")], [PageBlock("text", "GNU ls")]),  # not translated
        ([PageBlock("text", "ja")], [PageBlock("text", "a sentence that says far more")]),  # too unequal
        ([PageBlock("text", "1 + 2")], [PageBlock("text", "1 + 3")]),  # no words
    ],
)
def test_blocks_that_do_not_correspond_are_left_out(foreign, english):
    assert list(align_pages(foreign, english)) == []
