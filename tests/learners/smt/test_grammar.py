import numpy as np
import pytest

from learners.smt.grammar import ROOT, child
from tests.learners.smt.toy_language import CONFIG, model


def node(source):
    """Return the trie node of a source side, in which X and Y are gaps."""
    found = ROOT
    for word in source.split():
        found = child(model().grammar, found, {"X": -1, "Y": -2}.get(word, model().source_words.id_of(word)))
    return found


def translations(source):
    """Return (count, count of the source side, lexical scores) by target side."""
    grammar, at = model().grammar, node(source)
    return {
        " ".join(
            {-1: "X", -2: "Y"}.get(symbol) or model().target_words.word_of(symbol)
            for symbol in grammar.target[grammar.target_start[rule] : grammar.target_start[rule + 1]].tolist()
        ): (int(grammar.rule_count[rule]), int(grammar.source_count[at]), grammar.lexical[rule].tolist())
        for rule in range(grammar.first_rule[at], grammar.first_rule[at + 1])
    }


def test_a_source_side_leads_to_its_translations():
    count, source_count, lexical = translations("der")["the"]
    assert (count, source_count) == (12, 12)
    assert lexical == pytest.approx([np.log10(1 / 3), 0.0])  # the is der 12 times and den 24 times


def test_a_source_side_with_gaps_leads_to_its_translations():
    found = {target: counts for target, (*counts, _) in translations("den X habe ich Y").items()}
    assert found == {"i have Y the X": [12, 12]}  # in every sentence that begins like this


def test_an_unknown_source_side_has_no_node():
    assert child(model().grammar, ROOT, 12_345) == -1


def test_no_source_side_exceeds_the_table_limit():
    sizes = np.diff(model().grammar.first_rule)
    assert sizes.max() == CONFIG.table_limit
    assert sizes.sum() == len(model().grammar.rule_count)


def test_the_most_frequent_translations_come_first():
    grammar = model().grammar
    for at in range(len(grammar.first_rule) - 1):
        counts = grammar.rule_count[grammar.first_rule[at] : grammar.first_rule[at + 1]]
        assert np.all(np.diff(counts) <= 0)
