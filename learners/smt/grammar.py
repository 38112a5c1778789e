"""The rule table: source sides in a trie, each with its translations."""

from typing import NamedTuple

import numpy as np

from learners.smt.alignment import NULL_WORD, Alignment, Bitext, LexicalTable
from learners.smt.configs import SmtConfig
from learners.smt.extraction import MAX_SYMBOLS, RuleCounts, extract, source_pattern, spans_of, target_pattern
from learners.smt.hashing import (
    EMPTY_KEY,
    HASH_SEED,
    MAX_LOAD_FACTOR,
    Array,
    claim_slot,
    compiled,
    compiled_internal,
    find_slot,
    hash_combine,
)
from learners.smt.language_model import LanguageModel, advance, predict

ROOT = 0
MIN_LEXICAL_PROBABILITY = 1e-5  # floor for words without a probable partner


class Grammar(NamedTuple):
    """All rules. A hash table holds the children of the trie nodes; the rules of a node are contiguous."""

    child_keys: Array
    child_nodes: Array
    first_rule: Array  # by node, and one more
    source_count: Array  # by node
    rule_count: Array
    lexical: Array  # [rule, 2]: log10 probability of the source and of the target words, each given its best partner
    lm_estimate: Array  # log10 language model probability of the target words, without context
    target_start: Array  # by rule, and one more
    target: Array  # words, and gaps as negative numbers


@compiled
def child(grammar: Grammar, node: int, symbol: int) -> int:
    """Return the child of a node for a symbol, or -1."""
    slot = find_slot(grammar.child_keys, hash_combine(hash_combine(HASH_SEED, node), symbol))
    return grammar.child_nodes[slot] if slot >= 0 else -1


def build_grammar(alignment: Alignment, language_model: LanguageModel, config: SmtConfig) -> Grammar:
    """Return the rules of an aligned corpus, with the most frequent translations of each source side."""
    bitext = alignment.bitext
    counted = extract(bitext, config)
    keys, children, nodes = _build_trie(bitext, counted)
    kept = _most_frequent(nodes, counted.counts, config.table_limit)
    starts, symbols = _targets(
        bitext, counted.sentence, counted.row, np.sort(kept), config.max_span + config.max_phrase_length
    )
    starts, symbols = _permute(starts, symbols, np.argsort(np.argsort(kept)))  # from text order to trie order
    first_rule = np.searchsorted(nodes[kept], np.arange(int(children.max(initial=ROOT)) + 2)).astype(np.int32)
    source_count = np.zeros(len(first_rule) - 1, np.int32)
    source_count[nodes[kept]] = counted.source_count[kept]
    sentences, rows = counted.sentence[kept], counted.row[kept]
    lexical = np.column_stack(
        (
            _lexical_scores(bitext, sentences, rows, starts, symbols, alignment.source_given_target, True),
            _lexical_scores(bitext, sentences, rows, starts, symbols, alignment.target_given_source, False),
        )
    )
    return Grammar(
        keys,
        children,
        first_rule,
        source_count,
        counted.counts[kept],
        lexical,
        _lm_estimates(language_model, starts, symbols),
        starts,
        symbols,
    )


def _build_trie(bitext: Bitext, counted: RuleCounts) -> tuple[Array, Array, Array]:
    """Return the keys and the values of the table of children, and the node of each rule's source side."""
    nodes = np.zeros(len(counted.counts), np.int32)
    keys, children = np.zeros(1 << 12, np.int64), np.zeros(1 << 12, np.int32)
    begin, last = 0, ROOT
    while True:
        begin, last = _add_sources(bitext, counted.sentence, counted.row, keys, children, nodes, begin, last)
        if begin == len(nodes):
            return keys, children, nodes
        old = keys, children
        keys, children = np.zeros(2 * len(keys), np.int64), np.zeros(2 * len(keys), np.int32)
        _rehash(*old, keys, children)


@compiled
def _add_sources(
    bitext: Bitext, sentences: Array, rows: Array, keys: Array, children: Array, nodes: Array, begin: int, last: int
) -> tuple[int, int]:
    """Add source sides from one rule on, until the table is full; return the next rule and the last node."""
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    for r in range(begin, len(nodes)):
        if last + MAX_SYMBOLS > MAX_LOAD_FACTOR * len(keys):
            return r, last
        first, end = bitext.source_start[sentences[r]], bitext.source_start[sentences[r] + 1]
        node = ROOT
        for k in range(source_pattern(bitext.source[first:end], rows[r], pattern)):
            slot = claim_slot(keys, hash_combine(hash_combine(HASH_SEED, node), pattern[k]))
            if children[slot] == ROOT:
                last += 1
                children[slot] = last
            node = children[slot]
        nodes[r] = node
    return len(nodes), last


@compiled
def _rehash(keys: Array, children: Array, new_keys: Array, new_children: Array) -> None:
    for slot in range(len(keys)):
        if keys[slot] != EMPTY_KEY:
            new_children[claim_slot(new_keys, keys[slot])] = children[slot]


def _most_frequent(nodes: Array, counts: Array, limit: int) -> Array:
    """Return the rules sorted by node, most frequent first, with at most ``limit`` per node."""
    order = np.lexsort((-counts, nodes))
    starts = np.searchsorted(nodes[order], nodes[order])  # of the same node
    return order[np.arange(len(order)) - starts < limit]


@compiled
def _targets(bitext: Bitext, sentences: Array, rows: Array, kept: Array, max_length: int) -> tuple[Array, Array]:
    """Return the target sides of rules in the order of the text: where each starts, and all symbols."""
    starts = np.zeros(len(kept) + 1, np.int64)
    symbols = np.empty(16 * len(kept) + MAX_SYMBOLS, np.int32)
    spans = spans_of(bitext, 0, max_length)
    current = 0
    for r in range(len(kept)):
        sentence = sentences[kept[r]]
        if sentence != current:
            spans, current = spans_of(bitext, sentence, max_length), sentence
        target = bitext.target[bitext.target_start[sentence] : bitext.target_start[sentence + 1]]
        starts[r + 1] = starts[r] + target_pattern(target, spans, rows[kept[r]], symbols[starts[r] :])
    return starts, symbols[: starts[-1]].copy()


@compiled
def _permute(starts: Array, symbols: Array, order: Array) -> tuple[Array, Array]:
    new_starts, new_symbols = np.zeros_like(starts), np.empty_like(symbols)
    for r in range(len(order)):
        begin, end = starts[order[r]], starts[order[r] + 1]
        new_starts[r + 1] = new_starts[r] + end - begin
        new_symbols[new_starts[r] : new_starts[r + 1]] = symbols[begin:end]
    return new_starts, new_symbols


@compiled_internal
def _probability(table: LexicalTable, given: int, word: int) -> float:
    slot = find_slot(table.keys, hash_combine(hash_combine(HASH_SEED, given), word))
    return table.probabilities[slot] if slot >= 0 else 0.0


@compiled_internal
def _max_lexical_score(words: Array, partners: Array, table: LexicalTable) -> float:
    """Return the log10 probability of words, each given its most probable partner or NULL."""
    total = 0.0
    for w in range(len(words)):
        if words[w] < 0:
            continue
        best = max(MIN_LEXICAL_PROBABILITY, _probability(table, NULL_WORD, words[w]))
        for p in range(len(partners)):
            if partners[p] >= 0:
                best = max(best, _probability(table, partners[p], words[w]))
        total += np.log10(best)
    return total


@compiled
def _lexical_scores(
    bitext: Bitext, sentences: Array, rows: Array, starts: Array, symbols: Array, table: LexicalTable, inverse: bool
) -> Array:
    scores = np.empty(len(rows), np.float32)
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    for r in range(len(rows)):
        first, end = bitext.source_start[sentences[r]], bitext.source_start[sentences[r] + 1]
        source = pattern[: source_pattern(bitext.source[first:end], rows[r], pattern)]
        target = symbols[starts[r] : starts[r + 1]]
        if inverse:
            scores[r] = _max_lexical_score(source, target, table)
        else:
            scores[r] = _max_lexical_score(target, source, table)
    return scores


@compiled
def _lm_estimates(model: LanguageModel, starts: Array, symbols: Array) -> Array:
    scores = np.zeros(len(starts) - 1, np.float32)
    context = np.empty(model.order, np.int64)
    for r in range(len(scores)):
        length = 0
        for k in range(starts[r], starts[r + 1]):
            if symbols[k] < 0:
                length = 0
                continue
            log_probability, length = predict(model, context, length, symbols[k])
            advance(context, symbols[k], length)
            scores[r] += log_probability
    return scores
