"""Aligned text: sentence pairs with their word alignment, and the lexical translation probabilities that it gives."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from learners.smt.fast_align import FastAlign, Sentence
from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, hash_combine, table_size
from learners.smt.word_index import WordIndex

NULL_WORD = -1  # the partner of words without a link, as in the IBM models


class LexicalTable(NamedTuple):
    """A hash table of lexical translation probabilities, p(word | word of the other language)."""

    keys: Array
    probabilities: Array


class Bitext(NamedTuple):
    """Aligned sentence pairs of word ids, concatenated."""

    source: Array
    source_start: Array
    target: Array
    target_start: Array
    link_source: Array  # positions in their sentences
    link_target: Array
    link_start: Array


class Alignment(NamedTuple):
    """An aligned corpus with its lexical translation probabilities."""

    bitext: Bitext
    target_given_source: LexicalTable
    source_given_target: LexicalTable


def align_corpus(
    pairs: Sequence[tuple[Sentence, Sentence]], source_words: WordIndex, target_words: WordIndex, iterations: int
) -> Alignment:
    """Return the sentence pairs aligned; no side of a pair may be empty."""
    text = make_bitext(pairs, FastAlign(pairs, iterations).links(), source_words, target_words)
    return Alignment(text, *lexical_tables(text))


def make_bitext(
    pairs: Sequence[tuple[Sentence, Sentence]], links: Sequence[Array], source_words: WordIndex, target_words: WordIndex
) -> Bitext:
    """Return the pairs as word ids with their links, which are rows of a source and a target position."""
    sources = [source_words.ids_of(source) for source, _ in pairs]
    targets = [target_words.ids_of(target) for _, target in pairs]
    joined = np.concatenate(links).astype(np.int32)
    return Bitext(
        np.concatenate(sources),
        _starts(sources),
        np.concatenate(targets),
        _starts(targets),
        joined[:, 0].copy(),
        joined[:, 1].copy(),
        _starts(links),
    )


def _starts(parts: Sequence[Array]) -> Array:
    return np.cumsum([0, *(len(part) for part in parts)], dtype=np.int64)


def lexical_tables(text: Bitext) -> tuple[LexicalTable, LexicalTable]:
    """Return p(target word | source word) and p(source word | target word), by relative frequency of links.

    They are the lexical weights of Koehn et al. 2003. Words without a link are linked to ``NULL_WORD``.
    """
    sentence = np.repeat(np.arange(len(text.link_start) - 1), np.diff(text.link_start))
    source_at = text.source_start[sentence] + text.link_source
    target_at = text.target_start[sentence] + text.link_target
    unaligned_source = np.delete(text.source, source_at)
    unaligned_target = np.delete(text.target, target_at)
    sources = np.concatenate((text.source[source_at], unaligned_source, np.full(len(unaligned_target), NULL_WORD)))
    targets = np.concatenate((text.target[target_at], np.full(len(unaligned_source), NULL_WORD), unaligned_target))
    return _relative_frequencies(sources, targets), _relative_frequencies(targets, sources)


def _relative_frequencies(conditions: Array, outcomes: Array) -> LexicalTable:
    pairs, counts = np.unique(np.stack((conditions, outcomes)), axis=1, return_counts=True)
    totals = np.bincount(pairs[0] - NULL_WORD, counts)
    return lexical_table(pairs[0].copy(), pairs[1].copy(), counts / totals[pairs[0] - NULL_WORD])


@compiled
def lexical_table(conditions: Array, outcomes: Array, probabilities: Array) -> LexicalTable:
    """Return a hash table of the probabilities of outcomes given conditions."""
    keys = np.zeros(table_size(len(conditions)), np.int64)
    values = np.zeros(len(keys))
    for i in range(len(conditions)):
        values[claim_slot(keys, hash_combine(hash_combine(HASH_SEED, conditions[i]), outcomes[i]))] = probabilities[i]
    return LexicalTable(keys, values)
