"""A statistical translator: its models, its weights, and a decoder of either kind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from learners.errors import SnapshotError, TrainingError
from learners.patience import notice_if_slow
from learners.smt import hiero_decoder, phrase_decoder
from learners.smt.alignment import align_corpus
from learners.smt.configs import DecoderKind, SmtConfig
from learners.smt.features import FEATURES
from learners.smt.forest import Vector
from learners.smt.grammar import Grammar, build_grammar
from learners.smt.hashing import Array
from learners.smt.hypergraph import Hypergraph, graph_of
from learners.smt.language_model import RESERVED_IDS, LanguageModel
from learners.smt.language_model import train as train_language_model
from learners.smt.model_file import read_model_file, write_model_file
from learners.smt.word_index import WordIndex

FORMAT = "smt 2"  # changes when an older file can no longer be read
COMPILE_NOTICE = "compiling the statistical decoder, once on this machine: about a minute"
# What a model starts with before it is tuned; by hand, on synthetic text.
INITIAL_WEIGHTS = {
    "EgivenFCoherent": 1.0,
    "MaxLexFgivenE": 0.3,
    "MaxLexEgivenF": 0.3,
    "LanguageModel": 1.0,
    "WordPenalty": -1.0,
    "Glue": -0.2,
    "PassThrough": -3.0,
    "Reordering": 0.2,
}

Report = Callable[[str], None]


def initial_weights() -> Vector:
    return np.array([INITIAL_WEIGHTS.get(name, 0.0) for name in FEATURES])


@dataclass(frozen=True)
class SmtModel:
    """All that was learned from text; translators may share it."""

    config: SmtConfig
    source_words: WordIndex
    target_words: WordIndex
    grammar: Grammar
    language_model: LanguageModel

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        config: SmtConfig | None = None,
        report: Report = lambda _line: None,
        monolingual: Iterable[str] = (),
    ) -> Self:
        """Learn from sentence pairs; the language model may read more of the target language."""
        config = config or SmtConfig()
        split = [(source.split(), target.split()) for source, target in pairs]
        usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= config.max_pair_length]
        if not usable:
            raise TrainingError("no translation model can be learned from an empty text")
        more = [line.split() for line in monolingual]
        source_words = WordIndex.of(source for source, _ in usable)
        target_words = WordIndex.of([*(target for _, target in usable), *more], RESERVED_IDS)
        report(f"aligning the words of {len(usable):,} sentence pairs")
        alignment = align_corpus(usable, source_words, target_words, config.alignment_iterations)
        report("counting n-grams")
        sentences = (target_words.numbers(sentence) for sentence in [*(target for _, target in usable), *more])
        language_model = train_language_model(sentences, config.lm_order, len(target_words))
        report("extracting rules (on a new machine this is compiled first: a minute)")
        grammar = build_grammar(alignment, language_model, config)
        report(f"learned {len(grammar.rule_count):,} rules")
        return cls(config, source_words, target_words, grammar, language_model)

    def arrays(self) -> dict[str, Array]:
        model = self.language_model
        return {
            **self.grammar._asdict(),
            "ngram_keys": model.keys,
            "ngram_values": model.values,
            "source_words": self.source_words.packed(),
            "target_words": self.target_words.packed(),
        }

    @classmethod
    def from_arrays(cls, config: SmtConfig, arrays: dict[str, Array]) -> Self:
        target_words = WordIndex.unpacked(arrays["target_words"], RESERVED_IDS)
        return cls(
            config,
            WordIndex.unpacked(arrays["source_words"]),
            target_words,
            Grammar(**{name: arrays[name] for name in Grammar._fields}),
            LanguageModel(arrays["ngram_keys"], arrays["ngram_values"], config.lm_order, len(target_words)),
        )


class SmtTranslator:
    """Translates with one of the two decoders."""

    def __init__(self, model: SmtModel, kind: DecoderKind = DecoderKind.HIERO, weights: Vector | None = None) -> None:
        self.model = model
        self.kind = DecoderKind(kind)
        self.config = model.config  # of search, too; may be replaced
        self.weights = initial_weights() if weights is None else np.array(weights, np.float64)
        self._compiled = False

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        config: SmtConfig | None = None,
        *,
        kind: DecoderKind = DecoderKind.HIERO,
        report: Report = lambda _line: None,
        monolingual: Iterable[str] = (),
    ) -> Self:
        """Learn a model from sentence pairs; see ``SmtModel.train``."""
        return cls(SmtModel.train(pairs, config, report, monolingual), kind)

    def with_kind(self, kind: DecoderKind) -> "SmtTranslator":
        """The other decoder, untuned, on the same model."""
        return SmtTranslator(self.model, kind)

    @property
    def features(self) -> tuple[str, ...]:
        return FEATURES

    def forest(self, source: str, weights: Vector) -> Hypergraph:
        """Search with these weights; unknown words are copied."""
        words = source.split()
        numbers = self.model.source_words.numbers(words)
        copies, spelling = self._copies(words)
        if not self._compiled:
            self._compile()
        chart, options = self._search(numbers, copies, np.asarray(weights, np.float64))
        return Hypergraph(graph_of(chart, options), spelling)

    def _compile(self) -> None:
        """Do everything once with an empty sentence; say so if the user has to wait."""
        self._compiled = True
        with notice_if_slow(COMPILE_NOTICE):
            forest = self.forest("", self.weights)
            forest.best(self.weights)
            forest.sample(self.weights, np.random.default_rng(0))
            forest.expectation(self.weights)

    def _search(self, numbers: Array, copies: Array, weights: Vector) -> Any:
        model, config = self.model, self.config
        shared = model.grammar, model.language_model, numbers, copies, weights
        if self.kind is DecoderKind.HIERO:
            return hiero_decoder.decode_hiero(*shared, config.max_span, config.pop_limit)
        return phrase_decoder.decode_phrase_based(
            *shared, config.max_phrase_length, config.distortion_limit, config.pop_limit
        )

    def _copies(self, words: list[str]) -> tuple[Array, Callable[[int], str]]:
        """Source words as target words; those that the target language lacks get numbers behind all others."""
        known = self.model.target_words
        unknown: dict[str, int] = {}
        copies = []
        for word in words:
            number = known.number(word)
            copies.append(number if number >= 0 else len(known) + unknown.setdefault(word, len(unknown)))
        spellings = list(unknown)

        def spelling(number: int) -> str:
            return known.spelling(number) if number < len(known) else spellings[number - len(known)]

        return np.array(copies, np.int32), spelling

    def save(self, path: Path) -> None:
        """One file with the model, the kind of decoder and the weights."""
        values = {
            "format": FORMAT,
            "recipe": self.config.to_file(),
            "kind": self.kind,
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
        }
        write_model_file(path, self.model.arrays(), values)

    @classmethod
    def load(cls, path: Path, kind: DecoderKind | None = None) -> Self:
        """What was saved; asked for the other kind of decoder, it has weights that are not tuned."""
        arrays, values = read_model_file(path)
        if values.get("format") != FORMAT:
            raise SnapshotError(f"{path} is not a statistical translator of this version of banditmt")
        try:
            config = SmtConfig.from_file(values["recipe"])
            saved, weights = DecoderKind(values["kind"]), np.array([values["weights"][name] for name in FEATURES])
            model = SmtModel.from_arrays(config, arrays)
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except (KeyError, TypeError, ValueError, UnicodeDecodeError):
            raise SnapshotError(f"{path} lacks a part of a statistical translator") from None
        return cls(model, kind or saved, weights if kind in (None, saved) else None)
