"""Word alignment: fast_align in both directions, symmetrised by grow-diag-final-and."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from thot.alignment import FastAlignModel
from thot.common import WordAlignmentMatrix

from learners.errors import TrainingError
from learners.smt.hashing import HASH_SEED, Array, claim_slot, compiled, hash_combine, table_size
from learners.smt.word_index import WordIndex

NULL_WORD = -1  # the partner of words without a link, as in the IBM models
PAIRS_PER_CALL = 5_000  # sentence pairs that one call of thot aligns

Sentence = Sequence[str]


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
    if not pairs:
        raise TrainingError("a translation model cannot be trained on an empty text: give it sentence pairs")
    text = make_bitext(pairs, align_words(pairs, iterations), source_words, target_words)
    return Alignment(text, *lexical_tables(text))


def align_words(pairs: Sequence[tuple[Sentence, Sentence]], iterations: int) -> list[Array]:
    """Return the alignment links of each pair, as rows of a source and a target position."""
    forwards = _train_fast_align(pairs, iterations)
    backwards = _train_fast_align([(target, source) for source, target in pairs], iterations)
    return _best_links(pairs, forwards, backwards)


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


def _train_fast_align(pairs: Sequence[tuple[Sentence, Sentence]], iterations: int) -> FastAlignModel:
    model = FastAlignModel()
    for source, target in pairs:
        model.add_sentence_pair(source, target)
    model.start_training()
    for _ in range(iterations):
        model.train()
    model.end_training()
    return model


def _best_links(
    pairs: Sequence[tuple[Sentence, Sentence]], forwards: FastAlignModel, backwards: FastAlignModel
) -> list[Array]:
    links = []
    for start in range(0, len(pairs), PAIRS_PER_CALL):
        sources = [source for source, _ in pairs[start : start + PAIRS_PER_CALL]]
        targets = [target for _, target in pairs[start : start + PAIRS_PER_CALL]]
        forward = forwards.get_best_alignments(sources, targets)
        backward = backwards.get_best_alignments(targets, sources)
        links += [symmetrise(matrix, inverse) for (_, matrix), (_, inverse) in zip(forward, backward, strict=True)]
    return links


def symmetrise(forward: WordAlignmentMatrix, backward: WordAlignmentMatrix) -> Array:
    """Return the links of both directions, combined by grow-diag-final-and (Koehn et al. 2003).

    A row is a source and a target position.
    """
    backward.transpose()
    forward.grow_diag_final_and(backward)
    return np.argwhere(forward.to_numpy())


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
