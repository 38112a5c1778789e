"""Which word translates which: fast_align in both directions, brought together by grow-diag-final-and."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from thot.alignment import FastAlignModel
from thot.common import WordAlignmentMatrix

from learners.errors import TrainingError
from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, hash_combine, table_size
from learners.smt.word_index import WordIndex

NULL_WORD = -1  # what words without a link are linked to
PAIRS_PER_CALL = 5_000  # sentences aligned at a time

Sentence = Sequence[str]


class LexicalTable(NamedTuple):
    """Probabilities of words given single words of the other language, in a hash table."""

    keys: Array
    probabilities: Array


class Bitext(NamedTuple):
    """Aligned sentence pairs of word numbers, one after the other."""

    source: Array
    source_start: Array
    target: Array
    target_start: Array
    link_source: Array  # positions within their sentences
    link_target: Array
    link_start: Array


class Alignment(NamedTuple):
    """What alignment learned."""

    bitext: Bitext
    target_given_source: LexicalTable
    source_given_target: LexicalTable


def align_corpus(
    pairs: Sequence[tuple[Sentence, Sentence]], source_words: WordIndex, target_words: WordIndex, iterations: int
) -> Alignment:
    """Align sentence pairs, none of them with an empty side."""
    if not pairs:
        raise TrainingError("no translation model can be learned from an empty text")
    text = make_bitext(pairs, align_words(pairs, iterations), source_words, target_words)
    return Alignment(text, *lexical_tables(text))


def align_words(pairs: Sequence[tuple[Sentence, Sentence]], iterations: int) -> list[Array]:
    """For each pair the rows of a source and a target position that belong together."""
    forwards = _model(pairs, iterations)
    backwards = _model([(target, source) for source, target in pairs], iterations)
    return _links(pairs, forwards, backwards)


def make_bitext(
    pairs: Sequence[tuple[Sentence, Sentence]], links: Sequence[Array], source_words: WordIndex, target_words: WordIndex
) -> Bitext:
    """Numbers for words; the links of a pair are rows of a source and a target position."""
    sources = [source_words.numbers(source) for source, _ in pairs]
    targets = [target_words.numbers(target) for _, target in pairs]
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


def _model(pairs: Sequence[tuple[Sentence, Sentence]], iterations: int) -> FastAlignModel:
    model = FastAlignModel()
    for source, target in pairs:
        model.add_sentence_pair(source, target)
    model.start_training()
    for _ in range(iterations):
        model.train()
    model.end_training()
    return model


def _links(
    pairs: Sequence[tuple[Sentence, Sentence]], forwards: FastAlignModel, backwards: FastAlignModel
) -> list[Array]:
    links = []
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        sources = [source for source, _ in pairs[start : start + PAIRS_PER_CALL]]
        targets = [target for _, target in pairs[start : start + PAIRS_PER_CALL]]
        there = forwards.get_best_alignments(sources, targets)
        back = backwards.get_best_alignments(targets, sources)
        links += [symmetrise(matrix, other) for (_, matrix), (_, other) in zip(there, back, strict=True)]
    return links


def symmetrise(there: WordAlignmentMatrix, back: WordAlignmentMatrix) -> Array:
    """Links from both directions by grow-diag-final-and (Koehn 2003): rows of a source and a target position."""
    back.transpose()
    there.grow_diag_final_and(back)
    return np.argwhere(there.to_numpy())


def lexical_tables(text: Bitext) -> tuple[LexicalTable, LexicalTable]:
    """Target words given source words, and the other way round, by how often they are linked (Koehn 2003)."""
    sentence = np.repeat(np.arange(len(text.link_start) - 1), np.diff(text.link_start))
    source_at = text.source_start[sentence] + text.link_source
    target_at = text.target_start[sentence] + text.link_target
    lonely_source = np.delete(text.source, source_at)
    lonely_target = np.delete(text.target, target_at)
    sources = np.concatenate((text.source[source_at], lonely_source, np.full(len(lonely_target), NULL_WORD)))
    targets = np.concatenate((text.target[target_at], np.full(len(lonely_source), NULL_WORD), lonely_target))
    return _shares(sources, targets), _shares(targets, sources)


def _shares(conditions: Array, outcomes: Array) -> LexicalTable:
    pairs, counts = np.unique(np.stack((conditions, outcomes)), axis=1, return_counts=True)
    totals = np.bincount(pairs[0] - NULL_WORD, counts)
    return lexical_table(pairs[0].copy(), pairs[1].copy(), counts / totals[pairs[0] - NULL_WORD])


@compiled
def lexical_table(conditions: Array, outcomes: Array, probabilities: Array) -> LexicalTable:
    """A table of probabilities of outcomes under conditions."""
    keys = np.zeros(table_size(len(conditions)), np.int64)
    values = np.zeros(len(keys))
    for i in range(len(conditions)):
        values[claim_slot(keys, hash_combine(hash_combine(HASH_SEED, conditions[i]), outcomes[i]))] = probabilities[i]
    return LexicalTable(keys, values)
