"""Lexicalised reordering of the background: how often each phrase pair follows the phrase before it in which way."""

import numpy as np

from learners.adaptation.statistical.features import ORIENTATION_COUNT
from learners.adaptation.statistical.phrase_counts import DISCONTINUOUS, MONOTONE, SWAP
from learners.smt.alignment import Bitext
from learners.smt.extraction import (
    FROM,
    MAX_RULES_PER_PAIR,
    ROW_COLUMNS,
    TARGET_FROM,
    TARGET_TO,
    TO,
    ExtractionLimits,
    contiguous_rules,
    spans_of,
)
from learners.smt.grammar import ROOT, Grammar, child
from learners.smt.hashing import Array, compiled, compiled_internal


@compiled_internal
def _find_rule(grammar: Grammar, source: Array, target: Array) -> int:
    """Return the number of a phrase pair in the table, or -1."""
    node = ROOT
    for k in range(len(source)):
        node = child(grammar, node, source[k])
        if node < 0:
            return -1
    for rule in range(grammar.first_rule[node], grammar.first_rule[node + 1]):
        start = grammar.target_start[rule]
        if grammar.target_start[rule + 1] - start == len(target):
            same = True
            for k in range(len(target)):
                if grammar.target[start + k] != target[k]:
                    same = False
                    break
            if same:
                return rule
    return -1


@compiled_internal
def _orientation(linked: Array, monotone: tuple[int, int], swap: tuple[int, int]) -> int:
    """Return the orientation by two cells of the links, which have a border around them."""
    if linked[monotone[0] + 1, monotone[1] + 1]:
        return MONOTONE
    return SWAP if linked[swap[0] + 1, swap[1] + 1] else DISCONTINUOUS


@compiled
def count_orientations(grammar: Grammar, bitext: Bitext, limits: ExtractionLimits) -> Array:
    """Return the orientations of each rule [rule, 6]: to the phrase before it, and of the phrase after it."""
    counts = np.zeros((len(grammar.rule_count), 2 * ORIENTATION_COUNT), np.float32)
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(len(bitext.source_start) - 1):
        source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
        target = bitext.target[bitext.target_start[sentence] : bitext.target_start[sentence + 1]]
        linked = np.zeros((len(source) + 2, len(target) + 2), np.bool_)
        linked[0, 0] = linked[len(source) + 1, len(target) + 1] = True  # the borders of both sentences
        for k in range(bitext.link_start[sentence], bitext.link_start[sentence + 1]):
            linked[bitext.link_source[k] + 1, bitext.link_target[k] + 1] = True
        spans = spans_of(bitext, sentence, limits.max_phrase_length)
        for r in range(contiguous_rules(spans, limits, rows)):
            start, end, first, last = rows[r, FROM], rows[r, TO], rows[r, TARGET_FROM], rows[r, TARGET_TO]
            rule = _find_rule(grammar, source[start:end], target[first:last])
            if rule >= 0:
                counts[rule, _orientation(linked, (start - 1, first - 1), (end, first - 1))] += 1
                counts[rule, ORIENTATION_COUNT + _orientation(linked, (end, last), (start - 1, last))] += 1
    return counts


@compiled
def match_phrases(grammar: Grammar, sentence: Array, max_length: int) -> Array:
    """Return all source sides in a sentence as rows of start, end, first rule and last rule + 1."""
    matches = np.empty((len(sentence) * max_length, 4), np.int64)
    count = 0
    for start in range(len(sentence)):
        node = ROOT
        for end in range(start + 1, min(len(sentence), start + max_length) + 1):
            node = child(grammar, node, sentence[end - 1]) if sentence[end - 1] >= 0 else -1
            if node < 0:
                break
            first, last = grammar.first_rule[node], grammar.first_rule[node + 1]
            if first < last:
                matches[count, 0], matches[count, 1], matches[count, 2], matches[count, 3] = start, end, first, last
                count += 1
    return matches[:count]
