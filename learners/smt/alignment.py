"""Which word translates which: fast_align in both directions, brought together by grow-diag-final-and."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from thot.alignment import FastAlignModel, SymmetrizationHeuristic, SymmetrizedAligner

from learners.errors import TrainingError
from learners.smt.hashing import FIRST, Array, compiled, mix, place, room
from learners.smt.words import Words

THOT_RESERVED = 3  # the first words of a thot vocabulary stand for no word; number 0 is the empty word
EMPTY_WORD = -1  # its number here
RAREST = 1e-5  # a lexical probability below this is not kept
CHUNK = 5_000  # sentences aligned at a time

Sentence = Sequence[str]


class Lexicon(NamedTuple):
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
    target_given_source: Lexicon
    source_given_target: Lexicon


def align(
    pairs: Sequence[tuple[Sentence, Sentence]], source_words: Words, target_words: Words, iterations: int
) -> Alignment:
    """Align sentence pairs, none of them with an empty side."""
    if not pairs:
        raise TrainingError("no translation model can be learned from an empty text")
    forwards = _model(pairs, iterations)
    backwards = _model([(target, source) for source, target in pairs], iterations)
    links = _links(pairs, forwards, backwards)
    return Alignment(
        bitext(pairs, links, source_words, target_words),
        _lexicon(forwards, source_words, target_words),
        _lexicon(backwards, target_words, source_words),
    )


def bitext(
    pairs: Sequence[tuple[Sentence, Sentence]], links: Sequence[Array], source_words: Words, target_words: Words
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
    aligner = SymmetrizedAligner(forwards, backwards)
    aligner.heuristic = SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    links = []
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        matrices = aligner.get_best_alignments([source for source, _ in chunk], [target for _, target in chunk])
        links += [np.argwhere(matrix.to_numpy()) for _, matrix in matrices]
    return links


def _lexicon(model: FastAlignModel, given: Words, words: Words) -> Lexicon:
    conditions, outcomes, probabilities = [], [], []
    numbers = [words.number(model.get_trg_word(index)) for index in range(model.trg_vocab_size)]
    for index in (0, *range(THOT_RESERVED, model.src_vocab_size)):
        condition = given.number(model.get_src_word(index)) if index else EMPTY_WORD
        for outcome, probability in model.get_translations(index, RAREST):
            conditions.append(condition)
            outcomes.append(numbers[outcome])
            probabilities.append(probability)
    return lexicon(np.array(conditions), np.array(outcomes), np.array(probabilities))


@compiled
def lexicon(conditions: Array, outcomes: Array, probabilities: Array) -> Lexicon:
    """A table of probabilities of outcomes under conditions."""
    keys = np.zeros(room(len(conditions)), np.int64)
    values = np.zeros(len(keys))
    for i in range(len(conditions)):
        values[place(keys, mix(mix(FIRST, conditions[i]), outcomes[i]))] = probabilities[i]
    return Lexicon(keys, values)
