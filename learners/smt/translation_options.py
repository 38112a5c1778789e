"""The translation options of one source sentence: all rules that match it.

Rules are scored when they match, never all of them, so new weights cost nothing.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.extraction import END1, END2, FROM, GAP, GAP1, GAP2, TO
from learners.smt.features import FEATURE, FEATURES
from learners.smt.grammar import ROOT, Grammar, child
from learners.smt.hashing import (
    HASH_SEED,
    Array,
    argsort_descending,
    claim_slot,
    compiled_internal,
    copy_elements,
    hash_combine,
    table_size,
)
from learners.smt.language_model import END, LanguageModel, predict

FEATURE_COUNT = len(FEATURES)
NODE = 6  # the last column of a match, after those of the spans: the trie node of its source side
MATCH_COLUMNS = 7
# Options of every sentence, whatever the grammar: the empty start, the end of the sentence, the first part of a
# translation, and every further part.
EMPTY, GOAL, BEGIN, GLUE = range(4)
SPECIAL_OPTIONS = 4


class TranslationOptions(NamedTuple):
    """Translations of source sides, in lists sorted from best to worst."""

    features: Array  # [option, feature]; those of the language model and of distortion are not known yet
    score: Array  # weights . features
    estimate: Array  # the score, plus the language model score of the words without context
    start: Array  # of the symbols, by option and one more
    symbols: Array  # words; -1 and -2 are the two tails of an edge
    list_start: Array  # of the options, by list and one more
    list_of: Array  # by match; the lists of copied source words come last


@compiled_internal
def match_rules(grammar: Grammar, sentence: Array, max_span: int, max_gaps: int, matches: Array) -> int:
    """Find all source sides in the sentence; return how many, and write as many as fit into ``matches``."""
    count = 0
    n = len(sentence)
    stack = np.empty((64 + max_span * max_span * 4, MATCH_COLUMNS), np.int32)
    item = np.empty(MATCH_COLUMNS, np.int32)
    for i in range(n):
        bound = min(n, i + max_span)
        stack[0, :] = -1
        stack[0, FROM], stack[0, TO], stack[0, NODE] = i, i, ROOT
        height = 1
        while height:
            height -= 1
            copy_elements(stack[height], item, MATCH_COLUMNS)
            node, position = item[NODE], item[TO]
            if grammar.first_rule[node] < grammar.first_rule[node + 1]:
                if count < len(matches):
                    copy_elements(item, matches[count], MATCH_COLUMNS)
                count += 1
            if position < bound:
                height = _push_word(grammar, sentence, item, stack, height)
                height = _push_gaps(grammar, item, bound, max_gaps, stack, height)
    return count


@compiled_internal
def _push_word(grammar: Grammar, sentence: Array, item: Array, stack: Array, height: int) -> int:
    """Push the item extended by the next word, if the trie has it; return the height of the stack."""
    if sentence[item[TO]] >= 0:
        node = child(grammar, item[NODE], sentence[item[TO]])
        if node >= 0:
            copy_elements(item, stack[height], MATCH_COLUMNS)
            stack[height, TO], stack[height, NODE] = item[TO] + 1, node
            height += 1
    return height


@compiled_internal
def _push_gaps(grammar: Grammar, item: Array, bound: int, max_gaps: int, stack: Array, height: int) -> int:
    """Push a gap of every length, unless the item ends with a gap or has the maximum of gaps; return the height."""
    position = item[TO]
    used = (item[GAP1] >= 0) + (item[GAP2] >= 0)
    if used >= max_gaps or (used and position == max(item[END1], item[END2])):
        return height
    node = child(grammar, item[NODE], GAP - used)
    if node < 0:
        return height
    for end in range(position + 1, bound + 1):
        copy_elements(item, stack[height], MATCH_COLUMNS)
        stack[height, TO], stack[height, NODE] = end, node
        stack[height, GAP1 + 2 * used], stack[height, END1 + 2 * used] = position, end
        height += 1
    return height


@compiled_internal
def find_matches(grammar: Grammar, sentence: Array, max_span: int, max_gaps: int) -> Array:
    """Return all matches of source sides in the sentence, one per row; columns of absent gaps are -1."""
    matches = np.empty((256 * (len(sentence) + 1), MATCH_COLUMNS), np.int32)
    count = match_rules(grammar, sentence, max_span, max_gaps, matches)
    if count > len(matches):
        matches = np.empty((count, MATCH_COLUMNS), np.int32)
        match_rules(grammar, sentence, max_span, max_gaps, matches)
    return matches[:count]


@compiled_internal
def untranslated_positions(sentence: Array, matches: Array) -> Array:
    """Return the positions of source words that no rule translates on their own."""
    translated = np.zeros(len(sentence), np.bool_)
    for m in range(len(matches)):
        if matches[m, TO] - matches[m, FROM] == 1:
            translated[matches[m, FROM]] = True
    return np.flatnonzero(~translated)


@compiled_internal
def collect_options(
    grammar: Grammar, model: LanguageModel, matches: Array, copied: Array, weights: Array, prefix: bool
) -> TranslationOptions:
    """Return the scored translations of all matches, and of the words that are copied, given by their target ids.

    With ``prefix``, the words of an option follow those of the edge's first tail: this is how the phrase-based decoder
    appends a phrase to a hypothesis.
    """
    nodes, list_of = _lists(matches)
    lists = 1 + len(nodes) + len(copied)
    list_start = np.zeros(lists + SPECIAL_OPTIONS, np.int64)
    copy_elements(np.arange(SPECIAL_OPTIONS), list_start, SPECIAL_OPTIONS)
    count, size = SPECIAL_OPTIONS, 8
    for k in range(len(nodes)):
        first, last = grammar.first_rule[nodes[k]], grammar.first_rule[nodes[k] + 1]
        list_start[SPECIAL_OPTIONS + k] = count
        count += last - first
        size += grammar.target_start[last] - grammar.target_start[first] + (last - first)
    for k in range(len(copied) + 1):
        list_start[SPECIAL_OPTIONS + len(nodes) + k] = count + k
    count += len(copied)
    size += 2 * len(copied)
    options = TranslationOptions(
        np.zeros((count, FEATURE_COUNT)),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count + 1, np.int64),
        np.empty(size, np.int32),
        list_start,
        list_of,
    )
    _add_special(options, weights)
    for k in range(len(nodes)):
        _add_rules(grammar, options, nodes[k], list_start[SPECIAL_OPTIONS + k], weights, prefix)
    for k in range(len(copied)):
        _add_copy(model, options, list_start[SPECIAL_OPTIONS + len(nodes) + k], copied[k], weights, prefix)
    return options


@compiled_internal
def _lists(matches: Array) -> tuple[Array, Array]:
    """Return the distinct source sides, and the number of each match's list."""
    keys = np.zeros(table_size(len(matches)), np.int64)
    numbers = np.zeros(len(keys), np.int32)
    nodes, list_of = np.empty(len(matches), np.int32), np.empty(len(matches), np.int32)
    count = 0
    for m in range(len(matches)):
        slot = claim_slot(keys, hash_combine(HASH_SEED, matches[m, NODE]))
        if numbers[slot] == 0:
            nodes[count] = matches[m, NODE]
            count += 1
            numbers[slot] = count
        list_of[m] = SPECIAL_OPTIONS + numbers[slot] - 1
    return nodes[:count], list_of


@compiled_internal
def _add_special(options: TranslationOptions, weights: Array) -> None:
    """Write the options that do not come from the grammar."""
    copy_elements(np.array([-1, END, -1, -2, -1, -2]), options.symbols, 6)
    copy_elements(np.array([0, 0, 2, 4, 6]), options.start, SPECIAL_OPTIONS + 1)
    options.features[GLUE, FEATURE.Glue] = 1.0
    options.score[GLUE] = options.estimate[GLUE] = weights[FEATURE.Glue]


@compiled_internal
def _dot(features: Array, weights: Array) -> float:
    total = 0.0
    for k in range(len(weights)):
        total += features[k] * weights[k]
    return total


@compiled_internal
def _rule_features(grammar: Grammar, node: int, rule: int, features: Array) -> None:
    count, source_count = grammar.rule_count[rule], grammar.source_count[node]
    features[FEATURE.EgivenFCoherent] = np.log10(count / source_count)
    features[FEATURE.SampleCountF] = np.log10(1.0 + source_count)
    features[FEATURE.CountEF] = np.log10(1.0 + count)
    features[FEATURE.MaxLexFgivenE] = grammar.lexical[rule, 0]
    features[FEATURE.MaxLexEgivenF] = grammar.lexical[rule, 1]
    features[FEATURE.IsSingletonF] = source_count == 1
    features[FEATURE.IsSingletonFE] = count == 1
    features[FEATURE.RuleCount] = 1.0
    second_gap_seen = False
    for k in range(grammar.target_start[rule], grammar.target_start[rule + 1]):
        symbol = grammar.target[k]
        if symbol >= 0:
            features[FEATURE.WordPenalty] -= 1.0
        elif symbol == GAP - 1:
            second_gap_seen = True
        elif second_gap_seen:
            features[FEATURE.Reordering] = -1.0


@compiled_internal
def _add_rules(grammar: Grammar, options: TranslationOptions, node: int, at: int, weights: Array, prefix: bool) -> None:
    """Write all translations of one source side, best estimate first."""
    first, last = grammar.first_rule[node], grammar.first_rule[node + 1]
    features = np.zeros((last - first, FEATURE_COUNT))
    estimates = np.empty(last - first)
    for r in range(last - first):
        _rule_features(grammar, node, first + r, features[r])
        estimates[r] = _dot(features[r], weights) + weights[FEATURE.LanguageModel] * grammar.lm_estimate[first + r]
    order = argsort_descending(estimates)
    for k in range(len(order)):
        rule = first + order[k]
        copy_elements(features[order[k]], options.features[at + k], FEATURE_COUNT)
        options.score[at + k] = _dot(features[order[k]], weights)
        options.estimate[at + k] = estimates[order[k]]
        end = options.start[at + k]
        if prefix:
            options.symbols[end] = -1
            end += 1
        for t in range(grammar.target_start[rule], grammar.target_start[rule + 1]):
            options.symbols[end] = grammar.target[t]
            end += 1
        options.start[at + k + 1] = end


@compiled_internal
def _add_copy(
    model: LanguageModel, options: TranslationOptions, at: int, word: int, weights: Array, prefix: bool
) -> None:
    """Write the option that copies a source word."""
    features = options.features[at]
    features[FEATURE.PassThrough] = 1.0
    features[FEATURE.WordPenalty] = -1.0
    options.score[at] = _dot(features, weights)
    log_probability, _ = predict(model, options.symbols[:0], 0, word)
    unknown = weights[FEATURE.LanguageModel_OOV] if word >= model.vocabulary_size else 0.0
    options.estimate[at] = options.score[at] + weights[FEATURE.LanguageModel] * log_probability + unknown
    end = options.start[at]
    if prefix:
        options.symbols[end] = -1
        end += 1
    options.symbols[end] = word
    options.start[at + 1] = end + 1
