"""What systems start from: models and a dictionary made of the out-of-domain text, and for the oracle of all text.

A shelf is a folder with one file per seed model. Making a network can be interrupted and goes on; what is there stays.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Protocol

from learners.dictionary import learn_dictionary, load_dictionary, save_dictionary
from learners.errors import LearnerError
from learners.nmt.fragments import fragments
from learners.nmt.pretraining import Pair, Schedule, new_translator, train
from learners.nmt.recipes import RECIPES, Recipe
from learners.nmt.translator import Translator
from learners.smt.mert import MertRecipe, mert
from learners.smt.translator import SmtTranslator


class Standing(Protocol):
    """How the making of a model stands."""

    @property
    def step(self) -> int: ...

    @property
    def steps(self) -> int:
        """At most; 0 for unknown."""

    @property
    def standing(self) -> str:
        """In words."""


@dataclass(frozen=True)
class Stage:
    """A stage that does not count its steps."""

    standing: str
    step: int = 0
    steps: int = 0


Report = Callable[["SeedModel", Standing | None], None]  # None when it is made, or has no steps to speak of


class SeedModel(StrEnum):
    """Everything that a system may need."""

    DICTIONARY = "dictionary"  # word by word
    BNMT = "bnmt"  # subwords, out-of-domain: where the BNMT systems start
    WNMT = "wnmt"  # words, out-of-domain: where WNMT-EL starts
    WMT16 = "wmt16"  # another text, a larger vocabulary, an ensemble: the third party's model
    ORACLE = "oracle"  # bnmt, trained on with the references that learners never see
    CONTROL = "control"  # bnmt, trained on with its own text, as gently as learners learn
    SMT = "smt"  # rules and a language model, out-of-domain: where the SMT and LIMSI systems start
    SMT_ORACLE = "smt-oracle"  # the same of both texts


ORACLES = (SeedModel.ORACLE, SeedModel.SMT_ORACLE)  # made of references
STATISTICAL = (SeedModel.SMT, SeedModel.SMT_ORACLE)


class Size(StrEnum):
    """How large the models are."""

    TINY = "tiny"  # for tests: learns next to nothing in seconds
    SMALL = "small"  # under a million parameters: minutes on a CPU
    PAPER = "paper"  # as published: days on a CPU, hours on a GPU


def _tiny(name: str, vocabulary_size: int) -> Recipe:
    recipe = RECIPES[name]
    return replace(
        recipe, name=f"{name}-tiny", vocabulary_size=vocabulary_size, embedding=16, encoder=8, decoder=16, warmup=10
    )


RECIPES_BY_SIZE: dict[Size, dict[SeedModel, Recipe]] = {
    Size.TINY: {
        SeedModel.BNMT: _tiny("gru-small", 200),
        SeedModel.WNMT: _tiny("word-gru-small", 200),
        SeedModel.WMT16: _tiny("gru-small", 300),
    },
    Size.SMALL: {
        SeedModel.BNMT: RECIPES["gru-small"],
        SeedModel.WNMT: RECIPES["word-gru-small"],
        SeedModel.WMT16: replace(RECIPES["gru-small"], name="gru-small-wmt16", vocabulary_size=8_000),
    },
    Size.PAPER: {
        SeedModel.BNMT: RECIPES["gru-paper"],
        SeedModel.WNMT: RECIPES["word-gru-paper"],
        SeedModel.WMT16: replace(RECIPES["gru-paper"], name="gru-paper-wmt16", vocabulary_size=89_500),
    },
}

TUNING = 300  # last pairs of the out-of-domain text, on which log-linear weights are tuned; at most a tenth of all
TUNING_BY_SIZE = {
    Size.TINY: MertRecipe(candidates=10, iterations=2, restarts=1, directions=2),
    Size.SMALL: MertRecipe(),
    Size.PAPER: MertRecipe(),
}

ENSEMBLE = 4  # last checkpoints of WMT16-static
NEWS_TOKENS = 12  # the third party's text: sentences of at least this many words, like those of newspapers
# Models that go on from the converged one, and the share of the pre-training rate with which they do.
TRAINED_ON = {SeedModel.ORACLE: 0.5, SeedModel.CONTROL: 0.06}


@dataclass(frozen=True)
class Texts:
    """What seed models are made of."""

    out_of_domain: Sequence[Pair]
    in_domain: Sequence[Pair] = ()  # for the oracle only


class Shelf:
    """A folder of seed models."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, model: SeedModel) -> bool:
        return self._path(model).exists()

    def translator(self, model: SeedModel) -> Translator:
        """A translator of one's own: whoever learns changes only this copy."""
        return Translator.load(self._existing(model))

    def log_linear(self, model: SeedModel) -> SmtTranslator:
        """A statistical translator; its models are shared between processes, and learners have weights of their own."""
        return SmtTranslator.load(self._existing(model))

    def dictionary(self) -> dict[str, str]:
        return load_dictionary(self._existing(SeedModel.DICTIONARY))

    def make(
        self,
        wanted: Sequence[SeedModel],
        texts: Texts,
        *,
        size: Size = Size.SMALL,
        schedule: Schedule | None = None,
        report: Report = lambda _model, _progress: None,
    ) -> None:
        """Make what is wanted and not there yet, and what it needs in turn."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for model in _in_order(wanted):
            if self.has(model):
                continue
            if model is SeedModel.DICTIONARY:
                save_dictionary(learn_dictionary(texts.out_of_domain), self._path(model))
            elif model in STATISTICAL:
                tuning = replace(TUNING_BY_SIZE[size], seed=(schedule or Schedule()).seed)
                self._estimate(model, texts, tuning, partial(report, model))
            else:
                self._train(model, texts, size, schedule or Schedule(), partial(report, model))
            report(model, None)

    def _train(
        self, model: SeedModel, texts: Texts, size: Size, schedule: Schedule, watch: Callable[[Standing], None]
    ) -> None:
        pairs = texts.in_domain if model is SeedModel.ORACLE else texts.out_of_domain
        if model is SeedModel.WMT16:
            pairs = [pair for pair in pairs if len(pair[0].split()) >= NEWS_TOKENS] or pairs
            schedule = replace(schedule, keep=ENSEMBLE, seed=schedule.seed + 1)
        if model in TRAINED_ON:
            translator = self.translator(SeedModel.BNMT)
            schedule = replace(schedule, rate=schedule.rate * TRAINED_ON[model])
        else:
            translator = new_translator(RECIPES_BY_SIZE[size][model], pairs, seed=schedule.seed)
        if model not in (SeedModel.ORACLE, SeedModel.WMT16):  # the latter has read nothing but newspapers
            watch(Stage("cutting fragments out of sentences"))
            pairs = [*pairs, *fragments(pairs, seed=schedule.seed)]
        unfinished = self.folder / f"{model}.training"
        train(translator, pairs, schedule, folder=unfinished, watch=watch)
        if model is SeedModel.WMT16:  # the last checkpoints vote, whether or not one of them is the best
            translator.model.load_state_dict(translator.companions.pop().state_dict())
        if model is SeedModel.WNMT:
            translator.lexicon = self.dictionary()
        aside = self._path(model).with_suffix(".new")
        translator.save(aside)
        aside.replace(self._path(model))
        shutil.rmtree(unfinished)

    def _estimate(self, model: SeedModel, texts: Texts, tuning: MertRecipe, watch: Callable[[Standing], None]) -> None:
        """Estimate a statistical model, and tune its weights on the end of the out-of-domain text."""
        cut = len(texts.out_of_domain) - min(TUNING, len(texts.out_of_domain) // 10)
        pairs = list(texts.out_of_domain[:cut])
        if model is SeedModel.SMT_ORACLE:
            pairs += texts.in_domain
        translator = SmtTranslator.train(pairs, report=lambda line: watch(Stage(line)))
        translator.weights = mert(translator, texts.out_of_domain[cut:], tuning, watch=watch)
        translator.save(self._path(model))

    def _existing(self, model: SeedModel) -> Path:
        path = self._path(model)
        if not path.exists():
            raise LearnerError(f"there is no seed model {model} in {self.folder}: make it with banditmt pretrain")
        return path

    def _path(self, model: SeedModel) -> Path:
        return self.folder / f"{model}.model"


NEEDS = dict.fromkeys(TRAINED_ON, SeedModel.BNMT) | {SeedModel.WNMT: SeedModel.DICTIONARY}


def _in_order(wanted: Sequence[SeedModel]) -> list[SeedModel]:
    """What is wanted and what that needs, in an order in which they can be made."""
    needed = {*wanted, *(NEEDS[model] for model in wanted if model in NEEDS)}
    return [model for model in SeedModel if model in needed]
