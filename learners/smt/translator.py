"""A statistical translator: trained models, weights, and one of the two decoders."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from learners.errors import SnapshotError, TrainingError
from learners.segmentation.compounds import CompoundSplitter, SplitSentence
from learners.slow_notice import notice_if_slow
from learners.smt import hiero_decoder, phrase_decoder
from learners.smt.alignment import align_corpus
from learners.smt.configs import DecoderKind, SmtConfig
from learners.smt.features import FEATURES
from learners.smt.forest import Vector
from learners.smt.grammar import Grammar, build_grammar
from learners.smt.hashing import Array
from learners.smt.hypergraph import Hypergraph, extract_hypergraph
from learners.smt.language_model import RESERVED_IDS, LanguageModel, train_language_model
from learners.smt.model_file import read_model_file, write_model_file
from learners.smt.word_index import WordIndex
from learners.stored_names import from_stored, to_stored

FORMAT = "smt 2"  # changes whenever older files can no longer be read
COMPILE_NOTICE = "compiling the statistical decoder, once on this machine: about a minute"
# Weights before tuning; set by hand on synthetic text. Features that are not listed have weight 0.
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
# Arrays whose names in model files differ from the fields of ``Grammar``.
_GRAMMAR_NAMES_IN_FILES = {"lm_estimate": "fluency"}

Report = Callable[[str], None]


def initial_weights() -> Vector:
    """Return the weights that tuning starts from."""
    return np.array([INITIAL_WEIGHTS.get(name, 0.0) for name in FEATURES])


@dataclass(frozen=True)
class SmtModel:
    """Everything that was learned from text; several translators may share it."""

    config: SmtConfig
    source_words: WordIndex
    target_words: WordIndex
    grammar: Grammar
    language_model: LanguageModel
    splitter: CompoundSplitter | None = None  # of source words; None if they are translated as they are

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        config: SmtConfig | None = None,
        report: Report = lambda _line: None,
        monolingual: Iterable[str] = (),
        splitter: CompoundSplitter | None = None,
    ) -> Self:
        """Return a model trained on sentence pairs.

        Args:
            pairs: tokenised sources and targets.
            config: the limits of training and search.
            report: receives a line of text at each stage.
            monolingual: more sentences of the target language, for the language model.
            splitter: splits the source words, here and before every translation.

        Raises:
            TrainingError: no pair is usable.
        """
        config = config or SmtConfig()
        tokens = [(_split_source(source, splitter).text.split(), target.split()) for source, target in pairs]
        usable = [pair for pair in tokens if all(pair) and sum(map(len, pair)) <= config.max_pair_length]
        if not usable:
            raise TrainingError("a translation model cannot be trained on an empty text: give it sentence pairs")
        more = [line.split() for line in monolingual]
        source_words = WordIndex.from_sentences(source for source, _ in usable)
        target_words = WordIndex.from_sentences([*(target for _, target in usable), *more], RESERVED_IDS)
        report(f"aligning the words of {len(usable):,} sentence pairs")
        alignment = align_corpus(usable, source_words, target_words, config.alignment_iterations)
        report("counting n-grams")
        sentences = (target_words.ids_of(sentence) for sentence in [*(target for _, target in usable), *more])
        language_model = train_language_model(sentences, config.lm_order, len(target_words))
        report("extracting rules (on a new machine this is compiled first: a minute)")
        grammar = build_grammar(alignment, language_model, config)
        report(f"learned {len(grammar.rule_count):,} rules")
        return cls(config, source_words, target_words, grammar, language_model, splitter)

    def to_arrays(self) -> dict[str, Array]:
        """Return the model as named arrays for a model file."""
        grammar = self.grammar._asdict()
        return {
            **{_GRAMMAR_NAMES_IN_FILES.get(name, name): array for name, array in grammar.items()},
            "ngram_keys": self.language_model.keys,
            "ngram_values": self.language_model.values,
            "source_words": self.source_words.to_array(),
            "target_words": self.target_words.to_array(),
            **(self.splitter.to_arrays() if self.splitter else {}),
        }

    @classmethod
    def from_arrays(cls, config: SmtConfig, arrays: dict[str, Array], splitter: CompoundSplitter | None) -> Self:
        """Return the model whose ``to_arrays`` this is."""
        target_words = WordIndex.from_array(arrays["target_words"], RESERVED_IDS)
        return cls(
            config,
            WordIndex.from_array(arrays["source_words"]),
            target_words,
            Grammar(**{name: arrays[_GRAMMAR_NAMES_IN_FILES.get(name, name)] for name in Grammar._fields}),
            LanguageModel(arrays["ngram_keys"], arrays["ngram_values"], config.lm_order, len(target_words)),
            splitter,
        )


def _split_source(source: str, splitter: CompoundSplitter | None) -> SplitSentence:
    return splitter.split(source) if splitter else SplitSentence(source, {})


class SmtTranslator:
    """Translates with one of the two decoders."""

    def __init__(self, model: SmtModel, kind: DecoderKind = DecoderKind.HIERO, weights: Vector | None = None) -> None:
        self.model = model
        self.kind = DecoderKind(kind)
        self.config = model.config  # its limits of search may be changed after training
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
        splitter: CompoundSplitter | None = None,
    ) -> Self:
        """Return a translator with a model trained on sentence pairs, not yet tuned; see ``SmtModel.train``."""
        return cls(SmtModel.train(pairs, config, report, monolingual, splitter), kind)

    @property
    def features(self) -> tuple[str, ...]:
        return FEATURES

    def forest(self, source: str, weights: Vector) -> Hypergraph:
        """Return the hypergraph of a search with these weights; unknown words are copied."""
        sentence = _split_source(source, self.model.splitter)
        words = sentence.text.split()
        source_ids = self.model.source_words.ids_of(words)
        copy_ids, word_of = self._copies(words)
        if not self._compiled:
            self._compile()
        chart, options = self._search(source_ids, copy_ids, np.asarray(weights, np.float64))
        return Hypergraph(extract_hypergraph(chart, options), word_of, sentence)

    def _compile(self) -> None:
        """Run everything once on an empty sentence, with a notice if compiling takes long."""
        self._compiled = True
        with notice_if_slow(COMPILE_NOTICE):
            forest = self.forest("", self.weights)
            forest.best(self.weights)
            sampled = forest.sample(self.weights, np.random.default_rng(0))
            forest.log_probability(sampled.translation, self.weights)
            forest.expectation(self.weights)

    def _search(self, source_ids: Array, copy_ids: Array, weights: Vector) -> Any:
        model, config = self.model, self.config
        inputs = model.grammar, model.language_model, source_ids, copy_ids, weights
        if self.kind is DecoderKind.HIERO:
            return hiero_decoder.decode_hiero(*inputs, config.max_span, config.pop_limit)
        limits = config.max_phrase_length, config.distortion_limit, config.pop_limit
        return phrase_decoder.decode_phrase_based(*inputs, *limits)

    def _copies(self, words: list[str]) -> tuple[Array, Callable[[int], str]]:
        """Return the source words as target ids, and a function that returns the word of any target id.

        Words that the target vocabulary lacks get ids after all others.
        """
        known = self.model.target_words
        unknown: dict[str, int] = {}
        copy_ids = []
        for word in words:
            word_id = known.id_of(word)
            copy_ids.append(word_id if word_id >= 0 else len(known) + unknown.setdefault(word, len(unknown)))
        unknown_words = list(unknown)

        def word_of(word_id: int) -> str:
            return known.word_of(word_id) if word_id < len(known) else unknown_words[word_id - len(known)]

        return np.array(copy_ids, np.int32), word_of

    def save(self, path: Path) -> None:
        """Write the model, the kind of decoder and the weights to one file."""
        values = {
            "format": FORMAT,
            "recipe": to_stored(self.config),
            "kind": self.kind,
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
        }
        if splitter := self.model.splitter:
            values["splitter"] = splitter.to_values()
        write_model_file(path, self.model.to_arrays(), values)

    @classmethod
    def load(cls, path: Path, kind: DecoderKind | None = None) -> Self:
        """Return the translator in a file.

        Args:
            path: a file that ``save`` wrote.
            kind: the decoder; the saved one by default. The weights of the other decoder are the initial ones.

        Raises:
            SnapshotError: the file is damaged, or is not of this version.
        """
        arrays, values = read_model_file(path)
        if values.get("format") != FORMAT:
            raise SnapshotError(f"{path} is not a statistical translator of this version of banditmt")
        try:
            config = from_stored(SmtConfig, values["recipe"])
            saved_kind = DecoderKind(values["kind"])
            weights = np.array([values["weights"][name] for name in FEATURES])
            model = SmtModel.from_arrays(config, arrays, CompoundSplitter.from_stored(values.get("splitter"), arrays))
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except (KeyError, TypeError, ValueError, UnicodeDecodeError):
            raise SnapshotError(f"{path} lacks a part of a statistical translator") from None
        return cls(model, kind or saved_kind, weights if kind in (None, saved_kind) else None)
