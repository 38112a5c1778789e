"""Cross-entropy of source sentences under language models of two texts, for data selection (Moore and Lewis 2010)."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from learners.smt.hashing import Array, compiled
from learners.smt.language_model import (
    END,
    RESERVED_IDS,
    START,
    UNKNOWN,
    LanguageModel,
    advance,
    predict,
    train_language_model,
)
from learners.smt.word_index import UNKNOWN_ID, WordIndex

BITS_PER_DIGIT = float(np.log2(10))  # the language model has logarithms to base 10

Vector = npt.NDArray[np.float64]
CrossEntropy = Callable[[Sequence[str]], Vector]  # of each sentence, in bits per token, the end symbol included


class SourceLanguageModel:
    """A Kneser-Ney language model of source sentences, over a vocabulary that it shares with another one.

    Two models can be compared only if they have the same vocabulary: else the one with fewer words finds a rare word
    less surprising.
    """

    def __init__(self, sentences: Iterable[str], vocabulary: WordIndex, order: int) -> None:
        self._vocabulary = vocabulary
        self._model = train_language_model(map(self._ids, sentences), order, len(vocabulary))

    def __call__(self, sentences: Sequence[str]) -> Vector:
        """Return the cross-entropy of each sentence."""
        ids = [self._ids(sentence) for sentence in sentences]
        starts = np.cumsum([0, *map(len, ids)])
        flat = np.concatenate([*ids, np.empty(0, np.int64)])
        bits = -BITS_PER_DIGIT * sentence_log_probabilities(self._model, flat, starts)
        return np.asarray(bits / (np.diff(starts) + 1), np.float64)

    def _ids(self, sentence: str) -> Array:
        ids = self._vocabulary.ids_of(sentence.split()).astype(np.int64)
        return np.where(ids == UNKNOWN_ID, UNKNOWN, ids)


def shared_vocabulary(*texts: Iterable[str]) -> WordIndex:
    """Return all words of some texts."""
    return WordIndex.from_sentences((line.split() for text in texts for line in text), RESERVED_IDS)


def cross_entropy_difference(sentences: Sequence[str], in_domain: CrossEntropy, out_of_domain: CrossEntropy) -> Vector:
    """Return how much more surprising each sentence is in the domain than out of it: the lower, the more in-domain."""
    return in_domain(sentences) - out_of_domain(sentences)


@compiled
def sentence_log_probabilities(model: LanguageModel, words: Array, starts: Array) -> Array:
    """Return log10 of the probability of each sentence and its end; the n-th has the words from starts[n] on."""
    totals = np.zeros(len(starts) - 1)
    context = np.empty(model.order, np.int64)
    for sentence in range(len(totals)):
        context[0] = START
        length = min(1, model.order - 1)
        for place in range(starts[sentence], starts[sentence + 1] + 1):
            word = END if place == starts[sentence + 1] else words[place]
            log_probability, length = predict(model, context, length, word)
            advance(context, word, length)
            totals[sentence] += log_probability
    return totals
