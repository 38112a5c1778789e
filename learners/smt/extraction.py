"""Translation rules from aligned sentence pairs: plain phrases, and hierarchical rules with up to two gaps.

A rule is consistent with the alignment: no word inside is linked to a word outside. Plain phrases may have unaligned
words at their borders (Och and Ney 2004). Gapped rules are cut from tight phrases, gaps are not neighbours on the
source side, and at least one aligned word remains (Chiang 2007).

Gapped rules are far too many to count one by one. A first pass counts them roughly, in a small array indexed by hash;
a second counts exactly those which may have occurred often enough; a third counts the source sides of what is kept.
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
    find_slot,
    hash_combine,
    inner,
    table_size,
)

GAP = -1  # the first gap in a pattern, in the order of the source; the second is one less
MAX_RULES_PER_PAIR = 1 << 18  # rules of one sentence pair at most; the longest pairs have some thousands
MAX_SKETCH_SIZE = 1 << 27  # rough counters, a byte each
ABSENT = -1
# a rule is a row: source span, spans of the gaps, target span
FROM, TO, GAP1, END1, GAP2, END2, TARGET_FROM, TARGET_TO = range(8)


class ExtractionLimits(NamedTuple):
    """Those of a config, for compiled code."""

    max_phrase_length: int
    max_singleton_length: int
    max_target_length: int
    max_span: int
    max_source_symbols: int


class Spans(NamedTuple):
    """The source spans of one sentence pair, by start and length - 1."""

    low: Array  # first target word linked to the span
    high: Array  # last
    consistent: Array
    tight: Array  # consistent, and the first and the last word are linked
    linked: Array  # source words with a link
    free: Array  # target words without a link


class RuleCounts(NamedTuple):
    """Different rules: how often they occur, and one place where."""

    counts: Array
    sentence: Array
    row: Array
    source_count: Array  # occurrences of the source side, with whatever target side


@compiled
def spans_of(bitext: Bitext, sentence: int, longest: int) -> Spans:
    """What the links of a sentence pair say about its spans."""
    n = bitext.source_start[sentence + 1] - bitext.source_start[sentence]
    m = bitext.target_start[sentence + 1] - bitext.target_start[sentence]
    first, last = np.full(n, m), np.full(n, -1)
    from_source, to_source = np.full(m, n), np.full(m, -1)
    for k in range(bitext.link_start[sentence], bitext.link_start[sentence + 1]):
        s, t = bitext.link_source[k], bitext.link_target[k]
        first[s], last[s] = min(first[s], t), max(last[s], t)
        from_source[t], to_source[t] = min(from_source[t], s), max(to_source[t], s)
    low, high = np.full((n, longest), m), np.full((n, longest), -1)
    consistent, tight = np.zeros((n, longest), np.bool_), np.zeros((n, longest), np.bool_)
    for i in range(n):
        for length in range(1, min(longest, n - i) + 1):
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


@inner
def _add(rows: Array, count: int, row: tuple[int, ...]) -> int:
    if count < len(rows):
        for k in range(8):
            rows[count, k] = row[k]
        count += 1
    return count


@inner
def plain_rules(spans: Spans, limits: ExtractionLimits, rows: Array) -> int:
    """Fill in all plain phrases; returns how many."""
    count = 0
    n, m = len(spans.linked), len(spans.free)
    for i in range(n):
        for length in range(1, min(limits.max_phrase_length, n - i) + 1):
            if not spans.consistent[i, length - 1]:
                continue
            start = spans.low[i, length - 1]
            while True:
                end = spans.high[i, length - 1] + 1
                while end - start <= limits.max_target_length:
                    count = _add(rows, count, (i, i + length, ABSENT, ABSENT, ABSENT, ABSENT, start, end))
                    if end == m or not spans.free[end]:
                        break
                    end += 1
                if start == 0 or not spans.free[start - 1]:
                    break
                start -= 1
    return count


@inner
def gapped_rules(spans: Spans, limits: ExtractionLimits, rows: Array, count: int) -> int:
    """Fill in all rules with gaps, after those that there are; returns how many there are then."""
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


@inner
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


@inner
def _add_gapped(spans: Spans, limits: ExtractionLimits, rows: Array, count: int, row: tuple[int, ...]) -> int:
    """Add a rule if it has a linked word outside its gaps, and not too many target words."""
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
    """Write the source side of a rule, gaps as negative numbers; returns its length."""
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
    """Write the target side of a rule; its gaps bear the numbers of the source side's."""
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


@inner
def pattern_key(key: int, pattern: Array, length: int) -> int:
    for k in range(length):
        key = hash_combine(key, pattern[k])
    return key


@inner
def _keys(bitext: Bitext, sentence: int, spans: Spans, rows: Array, count: int) -> tuple[Array, Array]:
    """Of every row: the hashes of its source side and of the whole rule."""
    sources, rules = np.empty(count, np.int64), np.empty(count, np.int64)
    source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    target = bitext.target[bitext.target_start[sentence] : bitext.target_start[sentence + 1]]
    pattern = np.empty(256, np.int32)
    for r in range(count):
        sources[r] = pattern_key(HASH_SEED, pattern, source_pattern(source, rows[r], pattern))
        rules[r] = pattern_key(
            hash_combine(sources[r], ABSENT), pattern, target_pattern(target, spans, rows[r], pattern)
        )
    return sources, rules


@inner
def _rules_of(bitext: Bitext, sentence: int, limits: ExtractionLimits, rows: Array) -> tuple[int, Spans]:
    spans = spans_of(bitext, sentence, max(limits.max_span, limits.max_phrase_length))
    return gapped_rules(spans, limits, rows, plain_rules(spans, limits, rows)), spans


@inner
def _is_frequent_only(row: Array, limits: ExtractionLimits) -> bool:
    """Is this a rule that is kept only if it is seen more than once?"""
    return row[GAP1] != ABSENT or row[TO] - row[FROM] > limits.max_singleton_length


@compiled
def _sketch(bitext: Bitext, limits: ExtractionLimits, counters: Array) -> None:
    """Count roughly; a counter stops at its greatest number."""
    rows = np.empty((MAX_RULES_PER_PAIR, 8), np.int16)
    for sentence in range(len(bitext.source_start) - 1):
        count, spans = _rules_of(bitext, sentence, limits, rows)
        _, keys = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            slot = keys[r] & (len(counters) - 1)
            if _is_frequent_only(rows[r], limits) and counters[slot] < 255:
                counters[slot] += 1


class _RuleTable(NamedTuple):
    keys: Array
    counts: Array
    sentence: Array
    row: Array  # in bytes: no span of a training sentence ends beyond 254


def _rule_table(slots: int) -> _RuleTable:
    return _RuleTable(
        np.zeros(slots, np.int64), np.zeros(slots, np.int32), np.zeros(slots, np.int32), np.zeros((slots, 8), np.uint8)
    )


@compiled
def _count(
    bitext: Bitext, limits: ExtractionLimits, counters: Array, minimum: int, table: _RuleTable, begin: int, used: int
) -> tuple[int, int]:
    """Count exactly, from one sentence on until the table is full; returns the next sentence and the slots in use."""
    rows = np.empty((MAX_RULES_PER_PAIR, 8), np.int16)
    for sentence in range(begin, len(bitext.source_start) - 1):
        count, spans = _rules_of(bitext, sentence, limits, rows)
        if used + count > MAX_LOAD_FACTOR * len(table.keys):
            return sentence, used
        _, keys = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            needed = minimum if rows[r, GAP1] != ABSENT else 2
            if _is_frequent_only(rows[r], limits) and counters[keys[r] & (len(counters) - 1)] < needed:
                continue
            slot = claim_slot(table.keys, keys[r])
            if table.counts[slot] == 0:
                used += 1
                table.sentence[slot] = sentence
                for k in range(8):
                    table.row[slot, k] = rows[r, k] & 255
            table.counts[slot] += 1
    return len(bitext.source_start) - 1, used


@compiled
def _move(old: _RuleTable, new: _RuleTable) -> None:
    for slot in range(len(old.keys)):
        if old.keys[slot] != EMPTY_KEY:
            at = claim_slot(new.keys, old.keys[slot])
            new.counts[at], new.sentence[at], new.row[at] = old.counts[slot], old.sentence[slot], old.row[slot]


@inner
def _source_key(bitext: Bitext, sentence: int, row: Array) -> int:
    pattern = np.empty(256, np.int32)
    source = bitext.source[bitext.source_start[sentence] : bitext.source_start[sentence + 1]]
    return pattern_key(HASH_SEED, pattern, source_pattern(source, row, pattern))


@compiled
def _count_sources(bitext: Bitext, limits: ExtractionLimits, sentences: Array, kept: Array) -> Array:
    """How often the source side of each kept rule occurs, in any rule."""
    wanted = np.empty(len(kept), np.int64)
    keys = np.zeros(table_size(len(kept)), np.int64)
    counts = np.zeros(len(keys), np.int32)
    for r in range(len(kept)):
        wanted[r] = _source_key(bitext, sentences[r], kept[r])
        claim_slot(keys, wanted[r])
    rows = np.empty((MAX_RULES_PER_PAIR, 8), np.int16)
    for sentence in range(len(bitext.source_start) - 1):
        count, spans = _rules_of(bitext, sentence, limits, rows)
        sources, _ = _keys(bitext, sentence, spans, rows, count)
        for r in range(count):
            slot = find_slot(keys, sources[r])
            if slot >= 0:
                counts[slot] += 1
    for r in range(len(kept)):
        wanted[r] = counts[find_slot(keys, wanted[r])]
    return wanted


def limits_of(config: SmtConfig) -> ExtractionLimits:
    return ExtractionLimits(
        config.max_phrase_length,
        config.max_singleton_length,
        config.max_target_length,
        config.max_span,
        config.max_source_symbols,
    )


def extract(bitext: Bitext, config: SmtConfig) -> RuleCounts:
    """Count the rules of a text, in the order of where they first occur."""
    limits = limits_of(config)
    counters = np.zeros(min(MAX_SKETCH_SIZE, table_size(1_000 * len(bitext.source_start))), np.uint8)
    _sketch(bitext, limits, counters)
    minimum = _minimum(counters, config)
    table, begin, used = _rule_table(1 << 16), 0, 0
    while begin < len(bitext.source_start) - 1:
        begin, used = _count(bitext, limits, counters, minimum, table, begin, used)
        if begin < len(bitext.source_start) - 1:
            larger = _rule_table(2 * len(table.keys))
            _move(table, larger)
            table = larger
    del counters
    rows = table.row.astype(np.int16)
    rows[rows == 255] = ABSENT
    gapped = rows[:, GAP1] != ABSENT
    rare = gapped | (rows[:, TO] - rows[:, FROM] > config.max_singleton_length)
    needed = np.where(gapped, minimum, np.where(rare, 2, 1))  # rough counts are never too low, but may be too high
    kept = np.flatnonzero((table.keys != EMPTY_KEY) & (table.counts >= needed))
    kept = kept[np.lexsort((*rows[kept].T, table.sentence[kept]))]
    rows, sentences = rows[kept], table.sentence[kept]
    return RuleCounts(table.counts[kept], sentences, rows, _count_sources(bitext, limits, sentences, rows))


def _minimum(counters: Array, config: SmtConfig) -> int:
    """The smallest number of occurrences that leaves no more gapped rules than the config allows."""
    minimum = config.min_gapped_count
    while minimum < 255 and int((counters >= minimum).sum()) > config.max_gapped_rules:
        minimum += 1
    return minimum
