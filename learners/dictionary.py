"""Word-for-word translation with a dictionary that was learned from parallel text.

The dictionary also tells word-based models what to write for an unknown word (card B9).
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from thot.alignment import FastAlignModel

from learners.contract import PLACEHOLDER, StaticSystem, truncate_to_limit
from learners.errors import SnapshotError, TrainingError
from learners.snapshot import Snapshot

ITERATIONS = 5  # of expectation maximisation, as fast_align does by default
SURE = 0.1  # a translation less probable than this is not worth an entry
LONGEST = 50  # tokens of both sides: longer pairs take long, and say little about single words
MOST = 30_000  # pairs: more take minutes and hardly change the most probable words
RESERVED = 3  # the first words of a thot vocabulary stand for no word
KIND = "dictionary 1"


def learn_dictionary(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The most probable translation of each source word under IBM model 2, reparameterised as in fast_align."""
    model = FastAlignModel()
    split = ((source.split(), target.split()) for source, target in pairs)
    usable = ((words, others) for words, others in split if words and others and len(words) + len(others) <= LONGEST)
    for words, others in islice(usable, MOST):
        model.add_sentence_pair(words, others)
    if not model.num_sentence_pairs:
        raise TrainingError("no dictionary can be learned from an empty text")
    model.start_training()
    for _ in range(ITERATIONS):
        model.train()
    model.end_training()
    dictionary = {}
    for index in range(RESERVED, model.src_vocab_size):
        word = model.get_src_word(index)
        options = model.get_translations(index, SURE)
        if options:
            probability = {model.get_trg_word(target): share for target, share in options}
            best = max(sorted(probability), key=lambda option: probability[option])
            dictionary[word] = best
    return dictionary


def save_dictionary(dictionary: Mapping[str, str], path: Path) -> None:
    Snapshot(values={"kind": KIND, "words": dict(dictionary)}).write(path)


def load_dictionary(path: Path) -> dict[str, str]:
    values = Snapshot.read(path).values
    if values.get("kind") != KIND:
        raise SnapshotError(f"{path} is not a dictionary")
    words = values.get("words")
    if not isinstance(words, dict):
        raise SnapshotError(f"{path} has no words")
    return words


class WordForWord(StaticSystem):
    """Translates each word by itself, in the order of the source; unknown words are copied."""

    def __init__(self, dictionary: Mapping[str, str]) -> None:
        self._dictionary = dictionary

    def propose(self, source: str) -> str:
        return (
            truncate_to_limit(" ".join(self._dictionary.get(word, word) for word in source.split())).strip()
            or PLACEHOLDER
        )
