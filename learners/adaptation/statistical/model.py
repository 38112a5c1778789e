"""The background models of the adapting system, and the foreground models of its post-edits."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from learners.adaptation.statistical.features import FEATURES, INITIAL_WEIGHTS
from learners.adaptation.statistical.lexicon import Lexicon, Lexicons
from learners.adaptation.statistical.orientation_counts import count_orientations
from learners.adaptation.statistical.phrase_counts import PhraseCounts
from learners.adaptation.statistical.witten_bell import WittenBell
from learners.errors import SnapshotError, TrainingError
from learners.smt.alignment import LexicalTable, align_corpus
from learners.smt.configs import SmtConfig
from learners.smt.extraction import ExtractionLimits
from learners.smt.forest import Vector
from learners.smt.grammar import Grammar, build_grammar
from learners.smt.hashing import Array
from learners.smt.language_model import RESERVED_IDS, LanguageModel, train_language_model
from learners.smt.model_file import read_model_file, write_model_file
from learners.smt.word_index import WordIndex
from learners.stored_names import from_stored, to_stored

FORMAT = "adapting smt 1"
LM_ORDER = 5  # of the background model in Bertoldi et al. 2012, section 4.2
MIN_GAPPED_COUNT = 1 << 30  # no rule with gaps is as frequent: the system is phrase-based

Pair = tuple[str, str]
Report = Callable[[str], None]


@dataclass
class Background:
    """Everything that is trained once, on out-of-domain text, with the tuned weights."""

    config: SmtConfig
    source_words: WordIndex
    target_words: WordIndex
    grammar: Grammar
    orientations: Array  # [rule, 6]
    language_model: LanguageModel
    target_given_source: LexicalTable
    source_given_target: LexicalTable
    weights: Vector

    @classmethod
    def train(
        cls, pairs: Iterable[Pair], config: SmtConfig | None = None, report: Report = lambda _: None
    ) -> "Background":
        """Return the models of sentence pairs, with weights that are not tuned.

        Raises:
            TrainingError: no pair is usable.
        """
        config = replace(config or SmtConfig(), lm_order=LM_ORDER, min_gapped_count=MIN_GAPPED_COUNT)
        split = [(source.split(), target.split()) for source, target in pairs]
        usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= config.max_pair_length]
        if not usable:
            raise TrainingError("a translation model cannot be trained on an empty text: give it sentence pairs")
        source_words = WordIndex.from_sentences(source for source, _ in usable)
        target_words = WordIndex.from_sentences((target for _, target in usable), RESERVED_IDS)
        report(f"aligning the words of {len(usable):,} sentence pairs")
        alignment = align_corpus(usable, source_words, target_words, config.alignment_iterations)
        sentences = (target_words.ids_of(target) for _, target in usable)
        language_model = train_language_model(sentences, config.lm_order, len(target_words))
        report("extracting phrases and their orientations")
        grammar = build_grammar(alignment, language_model, config)
        limits = ExtractionLimits(*(getattr(config, name) for name in ExtractionLimits._fields))
        return cls(
            config,
            source_words,
            target_words,
            grammar,
            count_orientations(grammar, alignment.bitext, limits),
            language_model,
            alignment.target_given_source,
            alignment.source_given_target,
            np.array([INITIAL_WEIGHTS.get(name, 0.0) for name in FEATURES]),
        )

    def lexicons(self) -> Lexicons:
        """Return new lexicons that begin with the background's probabilities."""
        return Lexicons(
            Lexicon(self.target_given_source, self.source_words, self.target_words),
            Lexicon(self.source_given_target, self.target_words, self.source_words),
        )

    def save(self, path: Path) -> None:
        arrays = {
            **self.grammar._asdict(),
            "orientations": self.orientations,
            "ngram_keys": self.language_model.keys,
            "ngram_values": self.language_model.values,
            "source_words": self.source_words.to_array(),
            "target_words": self.target_words.to_array(),
            "forward_keys": self.target_given_source.keys,
            "forward_values": self.target_given_source.probabilities,
            "backward_keys": self.source_given_target.keys,
            "backward_values": self.source_given_target.probabilities,
        }
        weights = dict(zip(FEATURES, self.weights.tolist(), strict=True))
        write_model_file(path, arrays, {"format": FORMAT, "recipe": to_stored(self.config), "weights": weights})

    @classmethod
    def load(cls, path: Path) -> "Background":
        """Read what ``save`` wrote; raise SnapshotError for any other file."""
        arrays, values = read_model_file(path)
        if values.get("format") != FORMAT or list(values.get("weights", ())) != list(FEATURES):
            raise SnapshotError(f"{path} is not an adapting translator of this version of banditmt")
        config = from_stored(SmtConfig, values["recipe"])
        target_words = WordIndex.from_array(arrays["target_words"], RESERVED_IDS)
        return cls(
            config,
            WordIndex.from_array(arrays["source_words"]),
            target_words,
            Grammar(**{name: arrays[name] for name in Grammar._fields}),
            arrays["orientations"],
            LanguageModel(arrays["ngram_keys"], arrays["ngram_values"], config.lm_order, len(target_words)),
            LexicalTable(arrays["forward_keys"], arrays["forward_values"]),
            LexicalTable(arrays["backward_keys"], arrays["backward_values"]),
            np.array(list(values["weights"].values())),
        )


class Foreground:
    """The models of all post-edits so far. Adding a block costs time in proportion to the block."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self.lexicons = background.lexicons()
        self.phrases = PhraseCounts(background.config)
        self._new_words: dict[str, int] = {}  # that the background lacks, with their ids
        self._language_model = WittenBell(self.vocabulary_size)
        self.sentences = 0  # that were added

    @property
    def vocabulary_size(self) -> int:
        """The number of target words of the background and of the post-edits."""
        return len(self._background.target_words) + len(self._new_words)

    @property
    def language_model(self) -> WittenBell:
        return self._language_model

    def id_of(self, word: str) -> int:
        """Return the id of a target word, or -1."""
        known = self._background.target_words.id_of(word)
        return known if known >= 0 else self._new_words.get(word, -1)

    def add(self, block: Sequence[Pair]) -> None:
        """Add a block of sources and post-edits; empty ones teach nothing."""
        split = [(source.split(), target.split()) for source, target in block]
        limit = self._background.config.max_pair_length
        usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= limit]
        for _, target in usable:
            for word in target:
                if self.id_of(word) < 0:
                    self._new_words[word] = self.vocabulary_size
        for (source, target), links in zip(usable, self.lexicons.align_block(usable), strict=True):
            self.phrases.add(source, target, links)
        self._language_model.add(([self.id_of(word) for word in target] for _, target in usable), self.vocabulary_size)
        self.sentences += len(usable)
