"""What systems start from: models and a dictionary made of the out-of-domain text, and for the oracle of all text.

A shelf is a folder with one file per seed model. Making a network can be interrupted and goes on; what is there stays.
"""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock

from learners.dictionary import learn_dictionary, load_dictionary, save_dictionary
from learners.errors import LearnerError, SnapshotError
from learners.nmt.configs import MODEL_CONFIGS, ModelConfig
from learners.nmt.fragments import fragments
from learners.nmt.pretraining import Pair, PretrainingConfig, new_translator, train
from learners.nmt.translator import Translator
from learners.patience import notice_if_slow
from learners.smt.mert import MertConfig, mert
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


class Architecture(StrEnum):
    """What networks are made of."""

    GRU = "gru"  # the task's, and the one with an engine for a CPU
    TRANSFORMER = "transformer"


@dataclass(frozen=True)
class Build:
    """How large the networks of a shelf are, and of what."""

    size: Size = Size.SMALL
    architecture: Architecture = Architecture.GRU


def _resized(name: str, suffix: str, vocabulary_size: int, **others: Any) -> ModelConfig:
    return replace(MODEL_CONFIGS[name], name=f"{name}-{suffix}", vocabulary_size=vocabulary_size, **others)


def _recipes(subwords: str, words: str, third_party: int) -> dict[SeedModel, ModelConfig]:
    return {
        SeedModel.BNMT: MODEL_CONFIGS[subwords],
        SeedModel.WNMT: MODEL_CONFIGS[words],
        SeedModel.WMT16: _resized(subwords, "wmt16", third_party),
    }


def _tiny(subwords: str, words: str) -> dict[SeedModel, ModelConfig]:
    sizes = {"embedding": 16, "encoder": 8, "decoder": 16, "feed_forward": 32, "warmup": 10}
    return {
        SeedModel.BNMT: _resized(subwords, "tiny", 200, **sizes),
        SeedModel.WNMT: _resized(words, "tiny", 200, **sizes),
        SeedModel.WMT16: _resized(subwords, "tiny", 300, **sizes),
    }


NETWORKS: dict[Build, dict[SeedModel, ModelConfig]] = {
    Build(Size.TINY): _tiny("gru-small", "word-gru-small"),
    Build(Size.SMALL): _recipes("gru-small", "word-gru-small", 8_000),
    Build(Size.PAPER): _recipes("gru-paper", "word-gru-paper", 89_500),
    Build(Size.TINY, Architecture.TRANSFORMER): _tiny("transformer-small", "word-transformer-small"),
    Build(Size.SMALL, Architecture.TRANSFORMER): _recipes("transformer-small", "word-transformer-small", 8_000),
    Build(Size.PAPER, Architecture.TRANSFORMER): _recipes("transformer-base", "word-transformer-base", 89_500),
}

STEPS = {Size.TINY: 5_000, Size.SMALL: 5_000, Size.PAPER: 300_000}  # at most; a Transformer warms up for 16,000
TUNING = 300  # last pairs of the out-of-domain text, on which log-linear weights are tuned; at most a tenth of all
TUNING_BY_SIZE = {
    Size.TINY: MertConfig(candidates=10, iterations=2, restarts=1, directions=2),
    Size.SMALL: MertConfig(),
    Size.PAPER: MertConfig(),
}

ENSEMBLE = 4  # last checkpoints of WMT16-static
NEWS_TOKENS = 12  # the third party's text: sentences of at least this many words, like those of newspapers
# How models go on from the converged one; the control at our learners' rate, with their dropout, and to the end.
TRAINED_ON: dict[SeedModel, dict[str, Any]] = {
    SeedModel.ORACLE: {"learning_rate_factor": 0.5},
    SeedModel.CONTROL: {"learning_rate": 3e-4, "dropout": 0.1, "continued_training": True},
}


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
        with _made_again():
            return Translator.load(self._existing(model))

    def log_linear(self, model: SeedModel) -> SmtTranslator:
        """A statistical translator; its models are shared between processes, and learners have weights of their own."""
        with _made_again():
            return SmtTranslator.load(self._existing(model))

    def dictionary(self) -> dict[str, str]:
        with _made_again():
            return load_dictionary(self._existing(SeedModel.DICTIONARY))

    def digest(self, model: SeedModel) -> str:
        """What tells a seed model from one that was made otherwise."""
        with self._existing(model).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def make(
        self,
        wanted: Sequence[SeedModel],
        texts: Texts,
        *,
        build: Build = Build(),  # noqa: B008 (it cannot be changed)
        schedule: PretrainingConfig | None = None,
        report: Report = lambda _model, _progress: None,
    ) -> list[SeedModel]:
        """Make what is wanted and not there yet, and what it needs in turn; returns what was made."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._alone():
            self.check(wanted, build)
            missing = [model for model in with_needs(wanted) if not self.has(model)]
            for model in missing:
                self._make(model, texts, build, schedule or PretrainingConfig(), partial(report, model))
                report(model, None)
        return missing

    def check(self, wanted: Sequence[SeedModel], build: Build) -> None:
        """What is there must be whole, and nobody should mistake it for what is wanted."""
        for model in filter(self.has, with_needs(wanted)):
            if model is SeedModel.DICTIONARY:
                self.dictionary()
            elif model in STATISTICAL:
                self.log_linear(model)
            else:
                self._refuse_another_build(model, build)

    def _refuse_another_build(self, model: SeedModel, build: Build) -> None:
        found = _builds(model).get(self.translator(model).config.name, build)
        for name, there in asdict(found).items():
            if there != (wished := getattr(build, name)):
                raise LearnerError(
                    f"the seed model {model} in {self.folder} is of {name} {there}, not {wished}: "
                    f"choose another folder, or --{name} {there}"
                )

    def _make(
        self,
        model: SeedModel,
        texts: Texts,
        build: Build,
        schedule: PretrainingConfig,
        watch: Callable[[Standing], None],
    ) -> None:
        if model is SeedModel.DICTIONARY:
            save_dictionary(learn_dictionary(texts.out_of_domain), self._path(model))
        elif model in STATISTICAL:
            self._estimate(model, texts, replace(TUNING_BY_SIZE[build.size], seed=schedule.seed), watch)
        else:
            self._train(model, texts, build, schedule, watch)

    def _train(
        self,
        model: SeedModel,
        texts: Texts,
        build: Build,
        schedule: PretrainingConfig,
        watch: Callable[[Standing], None],
    ) -> None:
        pairs = texts.in_domain if model is SeedModel.ORACLE else texts.out_of_domain
        if model is SeedModel.WMT16:
            pairs = [pair for pair in pairs if len(pair[0].split()) >= NEWS_TOKENS] or pairs
            schedule = replace(schedule, keep_checkpoints=ENSEMBLE, seed=schedule.seed + 1)
        if model in TRAINED_ON:
            translator = self.translator(SeedModel.BNMT)
            schedule = replace(schedule, **TRAINED_ON[model])
        else:
            translator = new_translator(NETWORKS[build][model], pairs, seed=schedule.seed)
        unfinished = self.folder / f"{model}.training"
        more = partial(_fragments, model, schedule.seed, watch)
        with _made_again():
            train(translator, pairs, schedule, augment=more, folder=unfinished, watch=watch)
        if model is SeedModel.WMT16:  # the last checkpoints vote, whether or not one of them is the best
            translator.model.load_state_dict(translator.ensemble_members.pop().state_dict())
        if model is SeedModel.WNMT:
            translator.lexicon = self.dictionary()
        aside = self._path(model).with_suffix(".new")
        translator.save(aside)
        aside.replace(self._path(model))
        shutil.rmtree(unfinished)

    def _estimate(self, model: SeedModel, texts: Texts, tuning: MertConfig, watch: Callable[[Standing], None]) -> None:
        """Estimate a statistical model, and tune its weights on the end of the out-of-domain text."""
        cut = len(texts.out_of_domain) - min(TUNING, len(texts.out_of_domain) // 10)
        pairs = list(texts.out_of_domain[:cut])
        if model is SeedModel.SMT_ORACLE:
            pairs += texts.in_domain
        translator = SmtTranslator.train(pairs, report=lambda line: watch(Stage(line)))
        translator.weights = mert(translator, texts.out_of_domain[cut:], tuning, watch=watch)
        translator.save(self._path(model))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Two processes would train in each other's folders. A lock dies with its process."""
        lock = FileLock(self.folder / "lock")
        with notice_if_slow(f"another process is making seed models in {self.folder}: this one waits for it"):
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _existing(self, model: SeedModel) -> Path:
        path = self._path(model)
        if not path.exists():
            raise LearnerError(f"there is no seed model {model} in {self.folder}: make it with banditmt pretrain")
        return path

    def _path(self, model: SeedModel) -> Path:
        return self.folder / f"{model}.model"


@contextmanager
def _made_again() -> Iterator[None]:
    """Nothing on a shelf is lost for good."""
    try:
        yield
    except SnapshotError as damage:
        raise SnapshotError(f"{damage}; remove it, and banditmt pretrain makes it again") from None


def _fragments(model: SeedModel, seed: int, watch: Callable[[Standing], None], pairs: Sequence[Pair]) -> Sequence[Pair]:
    """Parts of sentences teach attention where to look; the oracle goes on from a model that knows."""
    if model is SeedModel.ORACLE:
        return ()
    watch(Stage("cutting fragments out of sentences"))
    return fragments(pairs, seed=seed)


NEEDS = dict.fromkeys(TRAINED_ON, SeedModel.BNMT) | {SeedModel.WNMT: SeedModel.DICTIONARY}


def with_needs(wanted: Sequence[SeedModel]) -> list[SeedModel]:
    """What is wanted and what that needs, in an order in which they can be made."""
    needed = {*wanted, *(NEEDS[model] for model in wanted if model in NEEDS)}
    return [model for model in SeedModel if model in needed]


def _builds(model: SeedModel) -> dict[str, Build]:
    """By the names of a network's recipes."""
    begun_as = SeedModel.BNMT if model in TRAINED_ON else model
    return {recipes[begun_as].name: build for build, recipes in NETWORKS.items() if begun_as in recipes}
