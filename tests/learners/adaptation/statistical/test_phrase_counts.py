"""Foreground phrases: which are extracted, and how they follow each other."""

from learners.adaptation.statistical.phrase_counts import (
    DISCONTINUOUS,
    MONOTONE,
    SWAP,
    PhraseCounts,
    PhraseSpan,
    orientations,
    phrase_spans,
)
from learners.smt.configs import SmtConfig

CONFIG = SmtConfig()
# "ich habe ihn gesehen" - "i have seen him": the last two words swap.
SWAPPED = [(0, 0), (1, 1), (2, 3), (3, 2)]


def test_phrases_are_consistent_with_the_links():
    spans = set(phrase_spans(4, 4, SWAPPED, CONFIG))
    assert PhraseSpan(2, 4, 2, 4) in spans
    assert PhraseSpan(1, 3, 1, 4) not in spans  # "seen" is linked outside
    assert len(spans) == 4 + 2 + 1 + 1  # of one, two, three and four source words


def test_unaligned_target_words_may_join_a_phrase_on_either_side():
    found = [(span.target_start, span.target_end) for span in phrase_spans(1, 3, [(0, 1)], CONFIG)]
    assert sorted(found) == [(0, 2), (0, 3), (1, 2), (1, 3)]


def test_the_orientation_to_the_phrases_before_and_after():
    linked = set(SWAPPED)
    assert orientations(PhraseSpan(0, 1, 0, 1), linked, 4, 4) == (MONOTONE, MONOTONE)
    assert orientations(PhraseSpan(1, 2, 1, 2), linked, 4, 4) == (MONOTONE, DISCONTINUOUS)
    assert orientations(PhraseSpan(3, 4, 2, 3), linked, 4, 4) == (DISCONTINUOUS, SWAP)
    assert orientations(PhraseSpan(2, 3, 3, 4), linked, 4, 4) == (SWAP, DISCONTINUOUS)
    assert orientations(PhraseSpan(2, 4, 2, 4), linked, 4, 4) == (MONOTONE, MONOTONE)


def test_counts_grow_with_each_sentence_pair():
    counts = PhraseCounts(CONFIG)
    for target in ("red", "red", "crimson"):
        counts.add(["rot"], [target], [(0, 0)])
    assert counts.source_count(("rot",)) == 3
    assert [(phrase, entry.count) for phrase, entry in counts.translations(("rot",))] == [
        (("red",), 2),
        (("crimson",), 1),
    ]
    assert counts.translations(("blau",)) == []
    assert counts.orientations == [3, 0, 0, 3, 0, 0]  # both borders are linked
