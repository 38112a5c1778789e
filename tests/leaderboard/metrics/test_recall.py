"""R0, R1 and R0+1: the figure and the tables of Simianer et al. 2019, and what holds for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.recall import (
    RecallCounter,
    RecallCounts,
    UnknownLanguageError,
    content_words,
    every_token,
    recall_signature,
    total_recall,
)

REFERENCES = ["the terrier bites the woman", "the man bites the terrier"]
STATIC = ["the dog bites the lady", "the dog bites the man"]
ADAPTED = ["the dog bites the lady", "the terrier bites the man"]


def is_content_word(token):
    """The stop words that the figure needs: the current English list also has "man"."""
    return token.lower() != "the" and token.isalnum()


def count(hypotheses, references, **options):
    counter = RecallCounter(is_content_word, **options)
    return [counter.add(hypothesis, reference) for hypothesis, reference in zip(hypotheses, references, strict=True)]


def test_the_figure_of_the_paper():
    first, second = count(ADAPTED, REFERENCES)
    assert first == RecallCounts(found=(1, 0), wanted=(3, 0))
    assert second == RecallCounts(found=(1, 2), wanted=(1, 2))
    assert total_recall([first, second]) == RecallCounts(found=(2, 2), wanted=(4, 2))


def test_the_recall_of_the_figure_in_percent():
    counts = total_recall(count(ADAPTED, REFERENCES))
    assert (counts.recall(0), counts.recall(1)) == (50.0, 100.0)
    assert counts.recall(0, 1) == pytest.approx(66.67, abs=0.005)


def test_a_static_system_repeats_its_mistake():
    assert total_recall(count(STATIC, REFERENCES)) == RecallCounts(found=(2, 1), wanted=(4, 2))


def test_occurrences_are_counted_by_sentence_and_not_by_token():
    counts = count(["dog barks", "dog", "dog barks"], ["dog dog barks", "dog barks", "dog barks"])
    assert counts[0] == RecallCounts(found=(2, 0), wanted=(2, 0))  # the second "dog" is no repetition
    assert counts[1] == RecallCounts(found=(0, 1), wanted=(0, 2))
    assert total_recall(counts) == RecallCounts(found=(2, 1), wanted=(2, 2))


def test_the_hypothesis_does_not_become_history():
    counts = count(["zebra", "zebra"], ["lion", "zebra"])
    assert counts[1] == RecallCounts(found=(1, 0), wanted=(1, 0))


def test_a_sentence_without_wanted_words_has_no_recall():
    counts = RecallCounter(content_words("en")).add("anything", "the , .")
    assert counts == RecallCounts(found=(0, 0), wanted=(0, 0))
    assert counts.recall(0, 1) is None


def test_stop_words_are_recognised_in_capitals_and_content_words_are_compared_as_written():
    counts = RecallCounter(content_words("en")).add("terrier", "The Terrier")
    assert counts == RecallCounts(found=(0, 0), wanted=(1, 0))


def test_words_with_more_repetitions_can_be_told_apart():
    counts = count(["a1", "a1", "x"], ["a1", "a1", "a1"], max_repetitions=2)
    assert total_recall(counts, max_repetitions=2) == RecallCounts(found=(1, 1, 0), wanted=(1, 1, 1))


def test_only_novel_words_count_where_the_training_text_is_known():
    counts = total_recall(count(ADAPTED, REFERENCES, known={"woman", "man", "bites"}))
    assert counts == RecallCounts(found=(0, 1), wanted=(1, 1))


def test_all_subwords_count_without_a_list_of_stop_words():
    counter = RecallCounter(every_token)
    assert counter.add("▁the ▁ter", "▁the ▁ter rier .") == RecallCounts(found=(2, 0), wanted=(4, 0))


# Table 3 of Simianer et al. 2019: rates of novel words, which are ratios over 310 new and 81 repeated words.
@pytest.mark.parametrize(
    ("found", "r0", "r1", "union"),
    [((84, 33), 27.1, 40.7, 29.9), ((81, 51), 26.1, 63.0, 33.8), ((99, 43), 31.9, 53.1, 36.3)],
    ids=["baseline", "full", "lasso"],
)
def test_table_3_of_the_paper_is_reconstructed_from_its_denominators(found, r0, r1, union):
    counts = RecallCounts(found, (310, 81))
    assert (f"{counts.recall(0):.1f}", f"{counts.recall(1):.1f}") == (f"{r0}", f"{r1}")
    assert f"{counts.recall(0, 1):.1f}" == f"{union}"


# Table 2 (words) and Table 4 (subwords): all of their rates are ratios over these numbers of new and repeated words.
@pytest.mark.parametrize(
    ("wanted", "r0", "r1", "union"),
    [
        ((6980, 3020), 39.3, 44.9, 41.0),
        ((6980, 3020), 39.3, 45.3, 41.1),
        ((6980, 3020), 35.8, 55.0, 41.6),
        ((6980, 3020), 40.3, 48.6, 42.8),
        ((6980, 3020), 35.8, 52.3, 40.8),
        ((6980, 3020), 35.6, 50.3, 40.0),
        ((6490, 3510), 44.1, 48.1, 45.5),
        ((6490, 3510), 40.4, 54.6, 45.4),
        ((6490, 3510), 43.7, 51.7, 46.5),
    ],
    ids=[
        "baseline",
        "bias",
        "full",
        "lasso",
        "fixed",
        "top",
        "baseline, subwords",
        "full, subwords",
        "lasso, subwords",
    ],
)
def test_tables_2_and_4_of_the_paper_are_ratios_of_whole_numbers(wanted, r0, r1, union):
    found = (round(wanted[0] * r0 / 100), round(wanted[1] * r1 / 100))
    counts = RecallCounts(found, wanted)
    assert [f"{counts.recall(*k):.1f}" for k in ((0,), (1,), (0, 1))] == [f"{r0:.1f}", f"{r1:.1f}", f"{union:.1f}"]


WORDS = st.lists(st.sampled_from(["dog", "cat", "lion", "zebra", "the", ","]), max_size=6).map(" ".join)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=8)


@given(PAIRS)
def test_counts_add_up(pairs):
    counts = count([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs])
    summed = RecallCounts.zero()
    for each in counts:
        summed = summed.plus(each)
    assert summed == total_recall(counts)


@given(PAIRS)
def test_a_perfect_translation_finds_every_word(pairs):
    references = [reference for _, reference in pairs]
    counts = total_recall(count(references, references))
    assert counts.found == counts.wanted


@given(st.permutations(["dog cat", "cat , the", "lion", "dog dog", "cat zebra"]))
def test_how_many_words_are_wanted_does_not_depend_on_the_order_of_sentences(references):
    counts = total_recall(count([""] * len(references), references), max_repetitions=1)
    assert counts.wanted == (4, 2)  # dog, cat, lion, zebra; of these, dog and cat occur again


@given(PAIRS, st.integers(0, 3))
def test_counts_survive_packing(pairs, max_repetitions):
    for counts in count([a for a, _ in pairs], [b for _, b in pairs], max_repetitions=max_repetitions):
        assert RecallCounts.from_bytes(counts.to_bytes(), max_repetitions) == counts


def test_bytes_that_are_no_counts_are_refused():
    with pytest.raises(ValueError, match="not packed recall counts: 3 bytes that hold 3 whole numbers"):
        RecallCounts.from_bytes(b"\x01\x02\x03")


def test_the_current_english_list_leaves_out_a_content_word_of_the_figure():
    assert [word for word in ["terrier", "bites", "woman", "man"] if not content_words("en")(word)] == ["man"]


@pytest.mark.parametrize(
    ("language", "suggestion"),
    [
        ("tlh", " (did you mean 'tl'?)"),
        ("deu", " (did you mean 'de'?)"),
        ("English", " (did you mean 'en'?)"),
        ("xx", ""),
    ],
)
def test_an_unknown_language_is_refused_with_the_nearest_that_is_known(language, suggestion):
    with pytest.raises(UnknownLanguageError) as refusal:
        content_words(language)
    assert str(refusal.value) == (
        f"there are no stop words for language {language!r}{suggestion}; "
        "docs/evaluation.md lists the 58 languages that have them"
    )


def test_a_regional_variant_has_the_stop_words_of_its_language():
    assert not content_words("de-AT")("und")


def test_the_signature_names_the_list_of_stop_words_and_its_version():
    assert recall_signature("de") == (
        "R|k:0-1|words:content|stop:de/iso-0.7.1|scope:all|nrefs:1|case:mixed|tok:none|v:1"
    )
    assert recall_signature(None, novel=True, max_repetitions=2) == (
        "R|k:0-2|words:all|scope:novel|nrefs:1|case:mixed|tok:none|v:1"
    )
