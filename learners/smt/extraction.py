"""Extraction of translation rules from aligned sentence pairs: contiguous phrases and rules with up to two gaps.

A rule must be consistent with the alignment: no word inside is linked to a word outside. Contiguous phrases may have
unaligned words at their borders (Och and Ney 2004). Gapped rules are cut from tight phrases, their gaps are not
adjacent on the source side, and they keep at least one aligned word (Chiang 2007).

There are far too many gapped rules to count them one by one. The first pass counts approximately, in a small array of
counters indexed by hash. The second counts exactly the rules that may be frequent enough. The third counts the source
sides of the rules that are kept.
"""

from typing import NamedTuple

import numpy as np

from learners.smt.alignment import Bitext
from learners.smt.configs import SmtConfig
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
    table_size,
)

GAP = -1  # the symbol of the first gap in the order of the source; that of the second is -2
MAX_RULES_PER_PAIR = 1 << 18  # the longest pairs have some thousands
MAX_SKETCH_SIZE = 1 << 27  # approximate counters, one byte each
MAX_COUNTER = 255  # where an approximate counter stops
ABSENT = -1  # in a row: the rule has no such gap
MAX_SYMBOLS = 256  # on one side of a rule, far above any limit
ROW_COLUMNS = 8
# The columns of a rule's row: source span, spans of the gaps, target span.
FROM, TO, GAP1, END1, GAP2, END2, TARGET_FROM, TARGET_TO = range(8)


class ExtractionLimits(NamedTuple):
    """The limits of a config, in a form for compiled code."""

    max_phrase_length: int
    max_singleton_length: int
    max_target_length: int
    max_span: int
    max_source_symbols: int


class Spans(NamedTuple):
    """What the alignment of one sentence pair says about its source spans; indexed by start and length - 1."""

    low: Array  # the first target word linked to the span
    high: Array  # the last target word linked to the span
    consistent: Array
    tight: Array  # consistent, and its first and last word are linked
    linked: Array  # by source word: does it have a link?
    unaligned: Array  # by target word: does it have no link?


class RuleCounts(NamedTuple):
    """Distinct rules with their counts, and the first occurrence of each."""

    counts: Array
    sentence: Array
    row: Array
    source_count: Array  # occurrences of the source side with any target side


@compiled
def spans_of(bitext: Bitext, sentence: int, max_length: int) -> Spans:
    """Return the source spans of a sentence pair up to a length."""
    n = bitext.source_start[sentence + 1] - bitext.source_start[sentence]
    m = bitext.target_start[sentence + 1] - bitext.target_start[sentence]
    first, last = np.full(n, m), np.full(n, -1)
    from_source, to_source = np.full(m, n), np.full(m, -1)
    for k in range(bitext.link_start[sentence], bitext.link_start[sentence + 1]):
        s, t = bitext.link_source[k], bitext.link_target[k]
        first[s], last[s] = min(first[s], t), max(last[s], t)
        from_source[t], to_source[t] = min(from_source[t], s), max(to_source[t], s)
    low, high = np.full((n, max_length), m), np.full((n, max_length), -1)
    consistent, tight = np.zeros((n, max_length), np.bool_), np.zeros((n, max_length), np.bool_)
    for i in range(n):
        for length in range(1, min(max_length, n - i) + 1):
            k, j = length - 1, i + length - 1
            low[i, k], high[i, k] = first[j], last[j]
            if k:
                low[i, k], high[i, k] = min(low[i, k - 1], first[j]), max(high[i, k - 1], last[j])
            consistent[i, k] = high[i, k] >= 0
            for t in range(low[i, k], high[i, k] + 1):
                if from_source[t] < i or to_source[t] > j:
                    consistent[i, k] = False
                    break
            tight[i, k] = consistent[i, k] and last[i] >= 0 and last[j] >= 0
    return Spans(low, high, consistent, tight, last >= 0, to_source < 0)


@compiled_internal
def _add(rows: Array, count: int, row: tuple[int, ...]) -> int:
    if count < len(rows):
        for k in range(ROW_COLUMNS):
            rows[count, k] = row[k]
        count += 1
    return count


@compiled_internal
def contiguous_rules(spans: Spans, limits: ExtractionLimits, rows: Array) -> int:
    """Write the rows of all contiguous phrases; return how many."""
    count = 0
    n, m = len(spans.linked), len(spans.unaligned)
    for i in range(n):
        for length in range(1, min(limits.max_phrase_length, n - i) + 1):
            if not spans.consistent[i, length - 1]:
                continue
            start = spans.low[i, length - 1]
            while True:
                end = spans.high[i, length - 1] + 1
                while end - start <= limits.max_target_length:
                    count = _add(rows, count, (i, i + length, ABSENT, ABSENT, ABSENT, ABSENT, start, end))
                    if end == m or not spans.unaligned[end]:
                        break
                    end += 1
                if start == 0 or not spans.unaligned[start - 1]:
                    break
                start -= 1
    return count


@compiled_internal
def gapped_rules(spans: Spans, limits: ExtractionLimits, rows: Array, count: int) -> int:
    """Append the rows of all gapped rules; return the new number of rows."""
    n = len(spans.linked)
    for i in range(n):
        for j in range(i + 2, min(n, i + limits.max_span) + 1):
            if not spans.tight[i, j - i - 1]:
                continue
            for a in range(i, min(j, i + limits.max_source_symbols)):
                for b in range(a + 1, j + 1):
                    if not spans.tight[a, b - a - 1] or b - a == j - i:
                        continue
                    if a - i + 1 + j - b <= limits.max_source_symbols:
                        row = (i, j, a, b, ABSENT, ABSENT, spans.low[i, j - i - 1], spans.high[i, j - i - 1] + 1)
                        count = _add_gapped(spans, limits, rows, count, row)
                    count = _second_gaps(spans, limits, rows, count, (i, j, a, b))
    return count


@compiled_internal
def _second_gaps(
    spans: Spans, limits: ExtractionLimits, rows: Array, count: int, outer: tuple[int, int, int, int]
) -> int:
    i, j, a, b = outer
    words_left = limits.max_source_symbols - 2 - (a - i)
    for c in range(b + 1, min(j, b + words_left + 1)):
        for d in range(max(c + 1, j - (words_left - (c - b))), j + 1):
            if spans.tight[c, d - c - 1]:
                row = (i, j, a, b, c, d, spans.low[i, j - i - 1], spans.high[i, j - i - 1] + 1)
                count = _add_gapped(spans, limits, rows, count, row)
    return count


@compiled_internal
def _add_gapped(spans: Spans, limits: ExtractionLimits, rows: Array, count: int, row: tuple[int, ...]) -> int:
    """Append a gapped rule if it has a linked word outside its gaps and not too many target words; return the count."""
    words = row[TARGET_TO] - row[TARGET_FROM]
    words -= spans.high[row[GAP1], row[END1] - row[GAP1] - 1] - spans.low[row[GAP1], row[END1] - row[GAP1] - 1] + 1
    if row[GAP2] != ABSENT:
        words -= spans.high[row[GAP2], row[END2] - row[GAP2] - 1] - spans.low[row[GAP2], row[END2] - row[GAP2] - 1] + 1
    if words > limits.max_target_length:
        return count
    for k in range(row[FROM], row[TO]):
        inside = row[GAP1] <= k < row[END1] or (row[GAP2] != ABSENT and row[GAP2] <= k < row[END2])
        if spans.linked[k] and not inside:
            return _add(rows, count, row)
    return count


@compiled
def source_pattern(words: Array, row: Array, pattern: Array) -> int:
    """Write the symbols of a rule's source side, gaps as negative numbers; return their number."""
    k, length = row[FROM], 0
    while k < row[TO]:
        if k == row[GAP1]:
            pattern[length], k = GAP, row[END1]
        elif k == row[GAP2]:
            pattern[length], k = GAP - 1, row[END2]
        else:
            pattern[length], k = words[k], k + 1
        length += 1
    return length


@compiled
def target_pattern(words: Array, spans: Spans, row: Array, pattern: Array) -> int:
    """Write the symbols of a rule's target side, gaps numbered as on the source side; return their number."""
    low1 = high1 = low2 = high2 = ABSENT
    if row[GAP1] != ABSENT:
        low1, high1 = spans.low[row[GAP1], row[END1] - row[GAP1] - 1], spans.high[row[GAP1], row[END1] - row[GAP1] - 1]
    if row[GAP2] != ABSENT:
        low2, high2 = spans.low[row[GAP2], row[END2] - row[GAP2] - 1], spans.high[row[GAP2], row[END2] - row[GAP2] - 1]
    t, length = row[TARGET_FROM], 0
    while t < row[TARGET_TO]:
        if t == low1:
            pattern[length], t = GAP, high1 + 1
        elif t == low2:
            pattern[length], t = GAP - 1, high2 + 1
        else:
            pattern[length], t = words[t], t + 1
        length += 1
    return length


@compiled_internal
def pattern_key(key: int, pattern: Array, length: int) -> int:
    for k in range(length):
        key = hash_combine(key, pattern[k])
    return key


@compiled_internal
def _keys(bitext: Bitext, sentence: int, spans: Spans, rows: Array, count: int) -> tuple[Array, Array]:
    """Return the hash of the source side and of the whole rule for every row."""
    sources, rules = np.empty(count, np.int64), np.empty(count, np.int64)
    source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    target = bitext.target[bitext.target_start[sentence] : bitext.target_start[sentence + 1]]
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    for r in range(count):
        sources[r] = pattern_key(HASH_SEED, pattern, source_pattern(source, rows[r], pattern))
        rules[r] = pattern_key(
            hash_combine(sources[r], ABSENT), pattern, target_pattern(target, spans, rows[r], pattern)
        )
    return sources, rules


@compiled_internal
def _rule_rows(bitext: Bitext, sentence: int, limits: ExtractionLimits, rows: Array) -> tuple[int, Spans]:
    spans = spans_of(bitext, sentence, max(limits.max_span, limits.max_phrase_length))
    return gapped_rules(spans, limits, rows, contiguous_rules(spans, limits, rows)), spans


@compiled_internal
def _needs_repetition(row: Array, limits: ExtractionLimits) -> bool:
    """Return whether the rule is kept only if it occurs more than once."""
    return row[GAP1] != ABSENT or row[TO] - row[FROM] > limits.max_singleton_length


@compiled
def _count_approximately(bitext: Bitext, limits: ExtractionLimits, counters: Array) -> None:
    """Count approximately; counters stop at MAX_COUNTER."""
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(len(bitext.source_start) - 1):
        count, spans = _rule_rows(bitext, sentence, limits, rows)
        _, keys = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            slot = keys[r] & (len(counters) - 1)
            if _needs_repetition(rows[r], limits) and counters[slot] < MAX_COUNTER:
                counters[slot] += 1


class _RuleTable(NamedTuple):
    keys: Array
    counts: Array
    sentence: Array
    row: Array  # in bytes: no span of a training sentence ends beyond 254, and 255 stands for ABSENT


def _new_rule_table(slots: int) -> _RuleTable:
    return _RuleTable(
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int32),
        np.zeros(slots, np.int32),
        np.zeros((slots, ROW_COLUMNS), np.uint8),
    )


@compiled
def _count_exactly(
    bitext: Bitext, limits: ExtractionLimits, counters: Array, minimum: int, table: _RuleTable, begin: int, used: int
) -> tuple[int, int]:
    """Count exactly from one sentence on, until the table is full; return the next sentence and the slots in use."""
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(begin, len(bitext.source_start) - 1):
        count, spans = _rule_rows(bitext, sentence, limits, rows)
        if used + count > MAX_LOAD_FACTOR * len(table.keys):
            return sentence, used
        _, keys = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            needed = minimum if rows[r, GAP1] != ABSENT else 2
            if _needs_repetition(rows[r], limits) and counters[keys[r] & (len(counters) - 1)] < needed:
                continue
            slot = claim_slot(table.keys, keys[r])
            if table.counts[slot] == 0:
                used += 1
                table.sentence[slot] = sentence
                for k in range(ROW_COLUMNS):
                    table.row[slot, k] = rows[r, k] & 255
            table.counts[slot] += 1
    return len(bitext.source_start) - 1, used


@compiled
def _rehash(old: _RuleTable, new: _RuleTable) -> None:
    for slot in range(len(old.keys)):
        if old.keys[slot] != EMPTY_KEY:
            at = claim_slot(new.keys, old.keys[slot])
            new.counts[at], new.sentence[at], new.row[at] = old.counts[slot], old.sentence[slot], old.row[slot]


@compiled_internal
def _source_key(bitext: Bitext, sentence: int, row: Array) -> int:
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    return pattern_key(HASH_SEED, pattern, source_pattern(source, row, pattern))


@compiled
def _count_sources(bitext: Bitext, limits: ExtractionLimits, sentences: Array, kept: Array) -> Array:
    """Return how often the source side of each kept rule occurs, in any rule."""
    source_keys = np.empty(len(kept), np.int64)
    keys = np.zeros(table_size(len(kept)), np.int64)
    counts = np.zeros(len(keys), np.int32)
    for r in range(len(kept)):
        source_keys[r] = _source_key(bitext, sentences[r], kept[r])
        claim_slot(keys, source_keys[r])
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(len(bitext.source_start) - 1):
        count, spans = _rule_rows(bitext, sentence, limits, rows)
        sources, _ = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            slot = find_slot(keys, sources[r])
            if slot >= 0:
                counts[slot] += 1
    source_counts = np.empty(len(kept), np.int64)
    for r in range(len(kept)):
        source_counts[r] = counts[find_slot(keys, source_keys[r])]
    return source_counts


def limits_of(config: SmtConfig) -> ExtractionLimits:
    return ExtractionLimits(
        config.max_phrase_length,
        config.max_singleton_length,
        config.max_target_length,
        config.max_span,
        config.max_source_symbols,
    )


def extract(bitext: Bitext, config: SmtConfig) -> RuleCounts:
    """Return the rules of a text that are frequent enough, in the order of their first occurrence."""
    limits = limits_of(config)
    counters = np.zeros(min(MAX_SKETCH_SIZE, table_size(1_000 * len(bitext.source_start))), np.uint8)
    _count_approximately(bitext, limits, counters)
    minimum = _min_gapped_count(counters, config)
    table, begin, used = _new_rule_table(1 << 16), 0, 0
    while begin < len(bitext.source_start) - 1:
        begin, used = _count_exactly(bitext, limits, counters, minimum, table, begin, used)
        if begin < len(bitext.source_start) - 1:
            larger = _new_rule_table(2 * len(table.keys))
            _rehash(table, larger)
            table = larger
    del counters
    rows = table.row.astype(np.int16)
    rows[rows == 255] = ABSENT
    gapped = rows[:, GAP1] != ABSENT
    rare = gapped | (rows[:, TO] - rows[:, FROM] > config.max_singleton_length)
    needed = np.where(gapped, minimum, np.where(rare, 2, 1))  # approximate counts may be too high, never too low
    kept = np.flatnonzero((table.keys != EMPTY_KEY) & (table.counts >= needed))
    kept = kept[np.lexsort((*rows[kept].T, table.sentence[kept]))]
    rows, sentences = rows[kept], table.sentence[kept]
    return RuleCounts(table.counts[kept], sentences, rows, _count_sources(bitext, limits, sentences, rows))


def _min_gapped_count(counters: Array, config: SmtConfig) -> int:
    """Return the smallest minimum count that keeps no more gapped rules than the config allows."""
    minimum = config.min_gapped_count
    while minimum < MAX_COUNTER and int((counters >= minimum).sum()) > config.max_gapped_rules:
        minimum += 1
    return minimum
