"""A bilingual dictionary, learned from parallel text: the most probable translation of each source word.

It translates word for word, and tells word-based networks what to write for an unknown word (Sokolov et al. 2017,
section 5.2, WNMT-EL).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from learners.errors import SnapshotError, TrainingError
from learners.seed_models.seed_model import SeedModel, TrainingJob
from learners.smt.fast_align import FastAlign
from learners.snapshot import Snapshot

Dictionary = dict[str, str]  # source word to target word

MIN_PROBABILITY = 0.1  # a less probable translation is not worth an entry
MAX_PAIR_TOKENS = 50  # on both sides together: longer pairs take long and say little about single words
KIND = "dictionary 1"


def learn_dictionary(pairs: Iterable[tuple[str, str]]) -> Dictionary:
    """Return the most probable translation of each source word under IBM model 2 as fast_align parameterises it."""
    tokenised = ((source.split(), target.split()) for source, target in pairs)
    usable = [(source, target) for source, target in tokenised if _is_usable(source, target)]
    if not usable:
        raise TrainingError("no dictionary can be learned from an empty text")
    translations = FastAlign(usable).translations(MIN_PROBABILITY)
    return {word: max(sorted(options), key=options.__getitem__) for word, options in translations.items()}


def _is_usable(source: list[str], target: list[str]) -> bool:
    return bool(source and target) and len(source) + len(target) <= MAX_PAIR_TOKENS


def save_dictionary(dictionary: Mapping[str, str], path: Path) -> None:
    Snapshot(values={"kind": KIND, "words": dict(dictionary)}).write(path)


def load_dictionary(path: Path) -> Dictionary:
    """Return the dictionary of a file; raise ``SnapshotError`` if it holds something else."""
    values = Snapshot.read(path).values
    if values.get("kind") != KIND:
        raise SnapshotError(f"{path} is not a dictionary")
    words = values.get("words")
    if not isinstance(words, dict):
        raise SnapshotError(f"{path} has no words")
    return words


@dataclass(frozen=True, kw_only=True, eq=False)
class DictionarySeedModel(SeedModel[Dictionary]):
    """A dictionary of the out-of-domain text."""

    def train(self, job: TrainingJob) -> Dictionary:
        return learn_dictionary(job.texts.out_of_domain)

    def save(self, model: Dictionary, path: Path) -> None:
        save_dictionary(model, path)

    def load(self, path: Path) -> Dictionary:
        return load_dictionary(path)
