"""A statistical translator: its models, its weights, and a decoder of either kind."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from learners.errors import SnapshotError, TrainingError
from learners.patience import notice_if_slow
from learners.smt import archive, hiero, phrases
from learners.smt.alignment import align
from learners.smt.features import FEATURES
from learners.smt.forest import Vector
from learners.smt.grammar import Grammar, learn_grammar
from learners.smt.hashing import Array
from learners.smt.hypergraph import Hypergraph, graph_of
from learners.smt.language_model import RESERVED, LanguageModel
from learners.smt.language_model import train as train_language_model
from learners.smt.recipes import Kind, SmtRecipe
from learners.smt.words import Words

FORMAT = "smt 2"  # changes when an older file can no longer be read
NOTICE = "compiling the statistical decoder, once on this machine: about a minute"
# What a model starts with before it is tuned; by hand, on synthetic text.
UNTUNED = {
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


def untuned_weights() -> Vector:
    return np.array([UNTUNED.get(name, 0.0) for name in FEATURES])


@dataclass(frozen=True)
class SmtModel:
    """All that was learned from text; translators may share it."""

    recipe: SmtRecipe
    source_words: Words
    target_words: Words
    grammar: Grammar
    language_model: LanguageModel

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        recipe: SmtRecipe | None = None,
        report: Report = lambda _line: None,
        monolingual: Iterable[str] = (),
    ) -> Self:
        """Learn from sentence pairs; the language model may read more of the target language."""
        recipe = recipe or SmtRecipe()
        split = [(source.split(), target.split()) for source, target in pairs]
        usable = [pair for pair in split if all(pair) and sum(map(len, pair)) <= recipe.longest]
        if not usable:
            raise TrainingError("no translation model can be learned from an empty text")
        more = [line.split() for line in monolingual]
        source_words = Words.of(source for source, _ in usable)
        target_words = Words.of([*(target for _, target in usable), *more], RESERVED)
        report(f"aligning the words of {len(usable):,} sentence pairs")
        alignment = align(usable, source_words, target_words, recipe.iterations)
        report("counting n-grams")
        sentences = (target_words.numbers(sentence) for sentence in [*(target for _, target in usable), *more])
        language_model = train_language_model(sentences, recipe.order, len(target_words))
        report("extracting rules (on a new machine this is compiled first: a minute)")
        grammar = learn_grammar(alignment, language_model, recipe)
        report(f"learned {len(grammar.rule_count):,} rules")
        return cls(recipe, source_words, target_words, grammar, language_model)

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
    def from_arrays(cls, recipe: SmtRecipe, arrays: dict[str, Array]) -> Self:
        target_words = Words.unpacked(arrays["target_words"], RESERVED)
        return cls(
            recipe,
            Words.unpacked(arrays["source_words"]),
            target_words,
            Grammar(**{name: arrays[name] for name in Grammar._fields}),
            LanguageModel(arrays["ngram_keys"], arrays["ngram_values"], recipe.order, len(target_words)),
        )


class SmtTranslator:
    """Translates with one of the two decoders."""

    def __init__(self, model: SmtModel, kind: Kind = Kind.HIERO, weights: Vector | None = None) -> None:
        self.model = model
        self.kind = Kind(kind)
        self.recipe = model.recipe  # of search, too; may be replaced
        self.weights = untuned_weights() if weights is None else np.array(weights, np.float64)
        self._compiled = False

    @classmethod
    def train(
        cls,
        pairs: Iterable[tuple[str, str]],
        recipe: SmtRecipe | None = None,
        *,
        kind: Kind = Kind.HIERO,
        report: Report = lambda _line: None,
        monolingual: Iterable[str] = (),
    ) -> Self:
        """Learn a model from sentence pairs; see ``SmtModel.train``."""
        return cls(SmtModel.train(pairs, recipe, report, monolingual), kind)

    def with_kind(self, kind: Kind) -> "SmtTranslator":
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
        with notice_if_slow(NOTICE):
            forest = self.forest("", self.weights)
            forest.best(self.weights)
            forest.sample(self.weights, np.random.default_rng(0))
            forest.expectation(self.weights)

    def _search(self, numbers: Array, copies: Array, weights: Vector) -> Any:
        model, recipe = self.model, self.recipe
        shared = model.grammar, model.language_model, numbers, copies, weights
        if self.kind is Kind.HIERO:
            return hiero.decode(*shared, recipe.span, recipe.pop_limit)
        return phrases.decode(*shared, recipe.phrase_length, recipe.distortion, recipe.pop_limit)

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
            "recipe": asdict(self.recipe),
            "kind": self.kind,
            "weights": dict(zip(FEATURES, self.weights.tolist(), strict=True)),
        }
        archive.write(path, self.model.arrays(), values)

    @classmethod
    def load(cls, path: Path, kind: Kind | None = None) -> Self:
        """What was saved; asked for the other kind of decoder, it has weights that are not tuned."""
        arrays, values = archive.read(path)
        if values.get("format") != FORMAT:
            raise SnapshotError(f"{path} is not a statistical translator of this version of banditmt")
        try:
            recipe = SmtRecipe.from_values(values["recipe"])
            saved, weights = Kind(values["kind"]), np.array([values["weights"][name] for name in FEATURES])
            model = SmtModel.from_arrays(recipe, arrays)
        except SnapshotError as reason:
            raise SnapshotError(f"{path}: {reason}") from None
        except (KeyError, TypeError, ValueError, UnicodeDecodeError):
            raise SnapshotError(f"{path} lacks a part of a statistical translator") from None
        return cls(model, kind or saved, weights if kind in (None, saved) else None)
