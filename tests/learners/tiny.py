"""Tiny texts and models, made in a second or two, for tests of learners."""

from functools import cache

import numpy as np

from learners.nmt.pretraining import PretrainingConfig, new_translator, train
from learners.nmt.translator import Translator
from learners.seed_models import NETWORKS, Build, SeedModel, Shelf, Size, Texts

WORDS = {"rot": "red", "blau": "blue", "seil": "rope", "decke": "blanket", "gross": "large", "cm": "cm", "neu": "new"}
SCHEDULE = PretrainingConfig(steps=100, validate_every=25, held_out=10)


def sentences(count, seed=0):
    """German of seven words, and its English."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(list(WORDS), size=rng.integers(2, 5)) for _ in range(count)]
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in drawn]


TEXTS = Texts(sentences(200), sentences(100, seed=1))


@cache
def _snapshot():
    translator = new_translator(NETWORKS[Build(Size.TINY)][SeedModel.BNMT], TEXTS.out_of_domain)
    train(translator, TEXTS.out_of_domain, SCHEDULE)
    return translator.snapshot()


def translator():
    """A new copy of the same half-trained translator."""
    return Translator.from_snapshot(_snapshot())


def shelf(folder, *models):
    """A shelf with these seed models, or with all."""
    made = Shelf(folder)
    made.make(models or tuple(SeedModel), TEXTS, build=Build(Size.TINY), schedule=SCHEDULE)
    return made
