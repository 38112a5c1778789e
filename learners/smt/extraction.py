"""Extraction of translation rules from aligned sentence pairs: contiguous phrases and rules with up to two gaps.

A rule must be consistent with the alignment: no word inside is linked to a word outside. Contiguous phrases may have
unaligned words at their borders (Och and Ney 2004). Gapped rules are cut from tight phrases, their gaps are not
adjacent on the source side, and they keep at least one aligned word (Chiang 2007).

There are far too many gapped rules to count them one by one. The first pass counts approximately, in a small array of
counters indexed by hash. The second counts exactly the rules that may be frequent enough. The third counts the source
sides of the rules that are kept.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from itertools import pairwise
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
MAX_THREADS = 4  # each has approximate counters of its own
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
def _source_keys(bitext: Bitext, sentence: int, rows: Array, count: int) -> Array:
    """Return the hash of the source side for every row."""
    keys = np.empty(count, np.int64)
    words = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    for r in range(count):
        keys[r] = pattern_key(HASH_SEED, pattern, source_pattern(words, rows[r], pattern))
    return keys


@compiled_internal
def _rule_keys(bitext: Bitext, sentence: int, spans: Spans, rows: Array, count: int) -> Array:
    """Return the hash of the whole rule for every row."""
    keys = _source_keys(bitext, sentence, rows, count)
    words = bitext.target[bitext.target_start[sentence] : bitext.target_start[sentence + 1]]
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    for r in range(count):
        length = target_pattern(words, spans, rows[r], pattern)
        keys[r] = pattern_key(hash_combine(keys[r], ABSENT), pattern, length)
    return keys


@compiled_internal
def _rule_rows(bitext: Bitext, sentence: int, limits: ExtractionLimits, rows: Array) -> tuple[int, Spans]:
    spans = spans_of(bitext, sentence, max(limits.max_span, limits.max_phrase_length))
    return gapped_rules(spans, limits, rows, contiguous_rules(spans, limits, rows)), spans


@compiled_internal
def _needs_repetition(row: Array, limits: ExtractionLimits) -> bool:
    """Return whether the rule is kept only if it occurs more than once."""
    return row[GAP1] != ABSENT or row[TO] - row[FROM] > limits.max_singleton_length


@compiled
def _count_approximately(bitext: Bitext, limits: ExtractionLimits, counters: Array, begin: int, end: int) -> None:
    """Count the rules of some sentences approximately; counters stop at MAX_COUNTER."""
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(begin, end):
        count, spans = _rule_rows(bitext, sentence, limits, rows)
        keys = _rule_keys(bitext, sentence, spans, rows, count)
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
    bitext: Bitext,
    limits: ExtractionLimits,
    counters: Array,
    minimum: int,
    table: _RuleTable,
    begin: int,
    end: int,
    used: int,
) -> tuple[int, int]:
    """Count the rules of some sentences until the table is full; return the next sentence and the number of rules."""
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(begin, end):
        count, spans = _rule_rows(bitext, sentence, limits, rows)
        if used + count > MAX_LOAD_FACTOR * len(table.keys):
            return sentence, used
        keys = _rule_keys(bitext, sentence, spans, rows, count)
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
    return end, used


@compiled
def _add_table(table: _RuleTable, added: _RuleTable) -> None:
    """Add the counts of another table, of later sentences, to one that has room for them."""
    for slot in range(len(added.keys)):
        if added.keys[slot] != EMPTY_KEY:
            at = claim_slot(table.keys, added.keys[slot])
            if table.counts[at] == 0:
                table.sentence[at], table.row[at] = added.sentence[slot], added.row[slot]
            table.counts[at] += added.counts[slot]


@compiled_internal
def _source_key(bitext: Bitext, sentence: int, row: Array) -> int:
    pattern = np.empty(MAX_SYMBOLS, np.int32)
    source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    return pattern_key(HASH_SEED, pattern, source_pattern(source, row, pattern))


@compiled
def _keys_of_kept(bitext: Bitext, sentences: Array, kept: Array) -> tuple[Array, Array]:
    """Return the hash of the source side of each kept rule, and a table of these hashes."""
    source_keys = np.empty(len(kept), np.int64)
    keys = np.zeros(table_size(len(kept)), np.int64)
    for r in range(len(kept)):
        source_keys[r] = _source_key(bitext, sentences[r], kept[r])
        claim_slot(keys, source_keys[r])
    return source_keys, keys


@compiled
def _count_sources(bitext: Bitext, limits: ExtractionLimits, keys: Array, begin: int, end: int) -> Array:
    """Return how often each source side in a table occurs in the rules of some sentences."""
    counts = np.zeros(len(keys), np.int32)
    rows = np.empty((MAX_RULES_PER_PAIR, ROW_COLUMNS), np.int16)
    for sentence in range(begin, end):
        count, _ = _rule_rows(bitext, sentence, limits, rows)
        sources = _source_keys(bitext, sentence, rows, count)
        for r in range(count):
            slot = find_slot(keys, sources[r])
            if slot >= 0:
                counts[slot] += 1
    return counts


@compiled
def _look_up(keys: Array, counts: Array, wanted: Array) -> Array:
    """Return the counts of these keys, all of which are in the table."""
    found = np.empty(len(wanted), np.int64)
    for r in range(len(wanted)):
        found[r] = counts[find_slot(keys, wanted[r])]
    return found


def limits_of(config: SmtConfig) -> ExtractionLimits:
    return ExtractionLimits(
        config.max_phrase_length,
        config.max_singleton_length,
        config.max_target_length,
        config.max_span,
        config.max_source_symbols,
    )


def extract(bitext: Bitext, config: SmtConfig, threads: int | None = None) -> RuleCounts:
    """Return the rules of a text that are frequent enough, in the order of their first occurrence.

    Each thread counts the rules of a part of the text; their number changes nothing in the result.
    """
    limits, threads = limits_of(config), threads or min(os.cpu_count() or 1, MAX_THREADS)
    parts = list(pairwise(np.linspace(0, len(bitext.source_start) - 1, threads + 1).astype(int).tolist()))
    with ThreadPoolExecutor(threads) as pool:  # compiled code runs without the interpreter's lock
        table, minimum = _count_rules(pool, bitext, config, parts)
        rows, kept = _kept(table, minimum, config)
        rows, sentences = rows[kept], table.sentence[kept]
        source_keys, keys = _keys_of_kept(bitext, sentences, rows)
        source_counts = reduce(np.add, pool.map(lambda part: _count_sources(bitext, limits, keys, *part), parts))
    return RuleCounts(table.counts[kept], sentences, rows, _look_up(keys, source_counts, source_keys))


def _count_rules(
    pool: ThreadPoolExecutor, bitext: Bitext, config: SmtConfig, parts: Sequence[tuple[int, int]]
) -> tuple[_RuleTable, int]:
    """Return the rules that may be frequent enough with their counts, and how often a gapped rule must occur."""
    limits = limits_of(config)
    counters = reduce(_add_counters, pool.map(lambda part: _approximate_counts(bitext, limits, *part), parts))
    minimum = _min_gapped_count(counters, config)
    tables = pool.map(lambda part: _count_part(bitext, limits, counters, minimum, *part), parts)
    return reduce(_joined, tables), minimum


def _approximate_counts(bitext: Bitext, limits: ExtractionLimits, begin: int, end: int) -> Array:
    """Return approximate counters of the rules of some sentences, in the size for all sentences."""
    counters = np.zeros(min(MAX_SKETCH_SIZE, table_size(1_000 * len(bitext.source_start))), np.uint8)
    _count_approximately(bitext, limits, counters, begin, end)
    return counters


def _add_counters(ours: Array, theirs: Array) -> Array:
    """Add approximate counts, which stop at MAX_COUNTER, to the first of two arrays."""
    room = MAX_COUNTER - ours
    ours += np.minimum(theirs, room)
    return ours


def _count_part(
    bitext: Bitext, limits: ExtractionLimits, counters: Array, minimum: int, begin: int, end: int
) -> _RuleTable:
    """Return the exact counts of the rules of some sentences, in a table that grows with them."""
    table, used = _new_rule_table(1 << 16), 0
    while begin < end:
        begin, used = _count_exactly(bitext, limits, counters, minimum, table, begin, end, used)
        if begin < end:
            larger = _new_rule_table(2 * len(table.keys))
            _add_table(larger, table)
            table = larger
    return table


def _joined(earlier: _RuleTable, later: _RuleTable) -> _RuleTable:
    """Return the counts of two tables together; the first occurrence of a rule is in the earlier one."""
    used = sum(int(np.count_nonzero(table.keys)) for table in (earlier, later))
    table = _new_rule_table(table_size(used))
    for each in (earlier, later):
        _add_table(table, each)
    return table


def _kept(table: _RuleTable, minimum: int, config: SmtConfig) -> tuple[Array, Array]:
    """Return the rows of all slots, and the slots of frequent rules in the order of their first occurrence."""
    rows = table.row.astype(np.int16)
    rows[rows == 255] = ABSENT
    gapped = rows[:, GAP1] != ABSENT
    rare = gapped | (rows[:, TO] - rows[:, FROM] > config.max_singleton_length)
    needed = np.where(gapped, minimum, np.where(rare, 2, 1))  # approximate counts may be too high, never too low
    kept = np.flatnonzero((table.keys != EMPTY_KEY) & (table.counts >= needed))
    return rows, kept[np.lexsort((*rows[kept].T, table.sentence[kept]))]


def _min_gapped_count(counters: Array, config: SmtConfig) -> int:
    """Return the smallest minimum count that keeps no more gapped rules than the config allows."""
    minimum = config.min_gapped_count
    while minimum < MAX_COUNTER and int((counters >= minimum).sum()) > config.max_gapped_rules:
        minimum += 1
    return minimum
