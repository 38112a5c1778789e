"""Tiny texts and models, trained in a second or two, for tests of learners."""

from functools import cache

import numpy as np

from learners.nmt.pretraining import PretrainingConfig, new_translator, train
from learners.nmt.translator import Translator
from learners.references import PhaseReferences
from learners.seed_models.catalogue import SEED_MODELS
from learners.seed_models.networks import SUBWORD_NETWORKS
from learners.seed_models.seed_model import TrainingTexts
from learners.seed_models.settings import BuildSettings, Size
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing

WORDS = {"rot": "red", "blau": "blue", "seil": "rope", "decke": "blanket", "gross": "large", "cm": "cm", "neu": "new"}
SETTINGS = BuildSettings(Size.TINY)
PRETRAINING = PretrainingConfig(max_steps=100, validate_every=25, held_out=10)


def sentences(count, seed=0):
    """Return pairs of German sentences in seven words and their English translations."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(list(WORDS), size=rng.integers(2, 5)) for _ in range(count)]
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in drawn]


def references(pairs, phase="dev"):
    """Return the references of a phase that serves these pairs."""
    return PhaseReferences(phase, "sentence-bleu", *map(list, zip(*pairs, strict=True)))


# The rounds of the dev phase: sentences, an unknown word and a long one, twice.
ROUNDS = 2 * [*sentences(4, seed=8), ("xk-77 ☃", "xk-77 ☃"), ("rot " * 300, "red " * 300)]
DOCUMENTS = [sentences(5, seed=number) for number in range(20, 26)]
TEXTS = TrainingTexts(
    sentences(200),
    sentences(100, seed=1),
    {"dev": references(ROUNDS)},
    served_sources=[source for source, _ in sentences(60, seed=2)],
    documents=DOCUMENTS,
)


@cache
def _snapshot():
    translator = new_translator(SUBWORD_NETWORKS[SETTINGS], TEXTS.out_of_domain)
    train(translator, TEXTS.out_of_domain, PRETRAINING)
    return translator.snapshot()


def translator():
    """Return a new copy of the same half-trained translator."""
    return Translator.from_snapshot(_snapshot())


def model_store(folder, *models):
    """Return a store with these seed models, or with all."""
    store = ModelStore(folder)
    train_missing(store, models or SEED_MODELS, TEXTS, settings=SETTINGS, pretraining=PRETRAINING)
    return store
