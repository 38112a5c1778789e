"""Rules extracted from sentence pairs that were aligned by hand."""

from dataclasses import replace

import numpy as np
import pytest

from learners.smt.alignment import make_bitext
from learners.smt.configs import SmtConfig
from learners.smt.extraction import extract, source_pattern, spans_of, target_pattern
from learners.smt.word_index import WordIndex

ALL = SmtConfig(min_gapped_count=1, max_singleton_length=10)
# both hat and gelesen are linked to read
READ = ("er hat das buch gelesen", "he read the book", "0-0 1-1 4-1 2-2 3-3")
PHRASES = {
    "er | he",
    "das | the",
    "buch | book",
    "das buch | the book",
    "hat das buch gelesen | read the book",
    "er hat das buch gelesen | he read the book",
}
GAPPED = {
    "X buch | X book",
    "das X | the X",
    "hat X buch gelesen | read X book",
    "hat das X gelesen | read the X",
    "hat X gelesen | read X",
    "X hat das buch gelesen | X read the book",
    "er X | he X",
    "er hat X buch gelesen | he read X book",
    "er hat das X gelesen | he read the X",
    "er hat X gelesen | he read X",
    "X hat Y buch gelesen | X read Y book",
    "X hat das Y gelesen | X read the Y",
    "X hat Y gelesen | X read Y",
}


def rules(*pairs, config=ALL):
    """Return the extracted rules with (count, count of the source side)."""
    text, sources, targets = aligned(pairs)
    counted = extract(text, config)
    return {
        _rule_text(text, counted, r, sources, targets): (int(counted.counts[r]), int(counted.source_count[r]))
        for r in range(len(counted.counts))
    }


def aligned(pairs):
    split = [(source.split(), target.split()) for source, target, _ in pairs]
    links = [np.array([link.split("-") for link in one.split()], int) for _, _, one in pairs]
    sources, targets = WordIndex.from_sentences(s for s, _ in split), WordIndex.from_sentences((t for _, t in split), 3)
    return make_bitext(split, links, sources, targets), sources, targets


def _rule_text(text, counted, r, sources, targets):
    pattern, sentence, row = np.empty(50, np.int32), counted.sentence[r], counted.row[r]
    source = text.source[text.source_start[sentence] : text.source_start[sentence + 1]]
    target = text.target[text.target_start[sentence] : text.target_start[sentence + 1]]
    left = _side_text(pattern[: source_pattern(source, row, pattern)], sources)
    right = _side_text(pattern[: target_pattern(target, spans_of(text, sentence, 10), row, pattern)], targets)
    return f"{left} | {right}"


def _side_text(symbols, words):
    return " ".join({-1: "X", -2: "Y"}.get(symbol) or words.word_of(symbol) for symbol in symbols.tolist())


def test_all_rules_of_a_hand_aligned_pair():
    assert set(rules(READ)) == PHRASES | GAPPED


def test_gapped_rules_seen_once_are_dropped():
    assert set(rules(READ, config=replace(ALL, min_gapped_count=2))) == PHRASES


def test_gapped_rules_seen_twice_are_kept():
    found = rules(READ, READ, config=replace(ALL, min_gapped_count=2))
    assert set(found) == PHRASES | GAPPED
    assert set(found.values()) == {(2, 2)}


def test_long_phrases_seen_once_are_dropped():
    found = set(rules(READ, config=replace(ALL, max_singleton_length=2, min_gapped_count=2)))
    assert found == {rule for rule in PHRASES if len(rule.split(" | ")[0].split()) <= 2}


def test_source_counts_sum_over_all_targets():
    found = rules(("ja", "yes", "0-0"), ("ja", "yes", "0-0"), ("ja", "indeed", "0-0"))
    assert found == {"ja | yes": (2, 3), "ja | indeed": (1, 3)}


def test_gaps_may_swap():
    found = set(rules(("er buch las", "he read books", "0-0 1-2 2-1")))
    assert "X buch las | X read books" in found
    assert "X Y las | X read Y" not in found  # adjacent gaps
    assert "buch X | X books" in found


def test_unaligned_words_may_be_at_the_border_of_a_phrase_but_not_of_a_gapped_rule():
    found = set(rules(("ja", "yes indeed", "0-0"), ("ja doch", "yes", "0-0")))
    assert found == {"ja | yes", "ja | yes indeed", "ja doch | yes"}


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"max_phrase_length": 4}, "er hat das buch gelesen | he read the book"),
        ({"max_target_length": 3}, "er hat das buch gelesen | he read the book"),
        ({"max_span": 3}, "hat X gelesen | read X"),
        ({"max_source_symbols": 4}, "er hat X buch gelesen | he read X book"),
    ],
)
def test_rules_beyond_a_limit_are_not_extracted(change, rule):
    assert rule in rules(READ)
    assert rule not in rules(READ, config=replace(ALL, **change))


def test_minimum_count_rises_until_gapped_rules_are_few_enough():
    pairs = [READ] * 3 + [("sie hat das haus gesehen", "she saw the house", "0-0 1-1 4-1 2-2 3-3")] * 2
    found = rules(*pairs, config=replace(ALL, max_gapped_rules=20))
    gapped = {rule: count for rule, (count, _) in found.items() if "X" in rule}
    assert gapped
    assert min(gapped.values()) == 3


def test_the_table_grows_with_the_text():
    """The text has more rules than fit the first table; two copies of it double all counts."""
    rng = np.random.default_rng(1)
    pairs = []
    for _ in range(400):
        words = " ".join(str(word) for word in rng.integers(0, 10_000, 12))
        pairs.append((words, words, " ".join(f"{k}-{k}" for k in range(12))))
    once, twice = (extract(aligned(pairs * copies)[0], ALL, threads=1) for copies in (1, 2))
    assert len(once.counts) > 2**16
    assert np.array_equal(2 * once.counts, twice.counts)
    assert np.array_equal(2 * once.source_count, twice.source_count)


@pytest.mark.parametrize("threads", [2, 3, 9])
def test_the_number_of_threads_changes_nothing(threads):
    """Nine threads have fewer sentences than there are threads."""
    seen = ("sie hat das haus gesehen", "she saw the house", "0-0 1-1 4-1 2-2 3-3")
    text = aligned([READ, seen, READ, READ, seen, ("er", "he", "0-0"), READ])[0]
    for config in (ALL, SmtConfig(), replace(ALL, max_gapped_rules=20)):
        alone, together = extract(text, config, threads=1), extract(text, config, threads=threads)
        assert len(alone.counts)
        for ours, theirs in zip(together, alone, strict=True):
            assert np.array_equal(ours, theirs)
