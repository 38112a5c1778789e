"""What the shop sells in each phase: products with everything that may be said of them.

Some words, compounds and templates belong to one phase only, so that memorising another phase does not pay. Which ones
is a property of the word itself, the same for every seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from corpora.synth.german_morphology import compound
from corpora.synth.lexicon.entries import (
    Action,
    Adjective,
    Attribute,
    Category,
    GeneratorLexicon,
    Noun,
    Part,
    Phrase,
    Verb,
)
from corpora.synth.random_stream import Weighted, stable_fraction

Phase = Literal["mock", "dev", "training", "news"]
T = TypeVar("T")

DEV_ONLY = 0.05
TRAINING_ONLY = 0.12
EXPOSED_COMPOUNDS = 0.5  # how many of the shop's compounds a newspaper also knows
EXPOSED_WORDS = 0.99

SUBSTANCES = frozenset({"wooden", "woolen", "metal", "golden", "solid", "diamond", "pearl", "thermal"})
# these have the color they have
UNPAINTED = frozenset({"gold", "golden", "silver", "copper", "brass", "titanium", "diamond", "pearl", "rhinestone"})

SIZES = ("xs", "s", "m", "l", "xl", "xxl", "36", "38", "40", "42", "44")


def belongs(phase: Phase, *word: str) -> bool:
    """Whether a phase may use a word; the newspaper may use what both phases share, and half of the rest."""
    position = stable_fraction("phase", *word)
    if phase == "news":
        return position >= DEV_ONLY / 2 and position < 1 - TRAINING_ONLY / 2
    if position < DEV_ONLY:
        return phase != "training"
    return position < 1 - TRAINING_ONLY or phase == "training"


def exposed(lemma: str, is_compound: bool) -> bool:
    """Whether a newspaper has ever printed the word."""
    return stable_fraction("exposed", lemma) < (EXPOSED_COMPOUNDS if is_compound else EXPOSED_WORDS)


@dataclass(slots=True)
class Ware:
    """One kind of product with what fits it."""

    category: Category
    head: Noun
    compounds: Sequence[Noun]
    features: Sequence[Adjective]
    materials: Sequence[Noun]
    parts: Sequence[Part]
    attributes: Sequence[Attribute]
    uses: Sequence[Phrase]
    actions: Sequence[Action]
    accessories: Sequence[Noun]
    handlings: Sequence[Verb]
    colorful: bool
    sized: bool

    neutral_compounds: Sequence[Noun]  # those that do not name a material themselves
    paintable_compounds: Sequence[Noun]  # those that can have any color
    described_parts: Sequence[Part] = field(init=False)
    purposes: Sequence[Phrase] = field(init=False)

    def __post_init__(self) -> None:
        self.described_parts = [part for part in self.parts if part.adjectives]
        self.purposes = [use for use in self.uses if use.german.startswith(("für ", "zum ", "zur "))]


def _ware(category: Category, head: Noun, phase: Phase, shifted: frozenset[str], substances: frozenset[str]) -> Ware:
    lemma = head.lemma

    def keep(word: str) -> bool:
        return phase != "news" or (word not in shifted and exposed(word, False))

    modifiers = [m for m in category.modifiers if m.scope.admits(lemma) and belongs(phase, m.combining_form, lemma)]
    if lemma in shifted:  # the modifiers' authors did not have these in mind
        modifiers = [modifier for modifier in modifiers if lemma in modifier.scope.only]
    if phase == "news":
        modifiers = [modifier for modifier in modifiers if exposed(modifier.combining_form + lemma, True)]
    compounds = [(modifier, compound(modifier.combining_form, head, modifier.english)) for modifier in modifiers]
    attributes = [a for a in category.attributes if a.scope.admits(lemma) and keep(a.noun.lemma)]
    return Ware(
        category,
        head,
        [word for _, word in compounds],
        [
            feature.adjective
            for feature in category.features
            if feature.scope.admits(lemma)
            and belongs(phase, category.identifier, feature.adjective.lemma)
            and keep(feature.adjective.lemma)
        ],
        [
            material.noun
            for material in category.materials
            if material.scope.admits(lemma) and keep(material.noun.lemma)
        ],
        [part for part in category.parts if part.scope.admits(lemma) and keep(part.noun.lemma)],
        attributes,
        [use for use in category.uses if use.scope.admits(lemma)],
        [action for action in category.actions if action.scope.admits(lemma)],
        [a.noun for a in category.accessories if a.scope.admits(lemma) and keep(a.noun.lemma)],
        [h.verb for h in category.handlings if h.scope.admits(lemma) and phase != "news"],
        any(attribute.values.shared == "colors" for attribute in attributes),
        any(attribute.values.shared == "sizes" for attribute in attributes),
        [word for modifier, word in compounds if substances.isdisjoint(modifier.english.split())],
        [word for modifier, word in compounds if UNPAINTED.isdisjoint(modifier.english.split())],
    )


def _substances(lexicon: GeneratorLexicon) -> frozenset[str]:
    """Every English word that names a material."""
    nouns = [material.noun for category in lexicon.categories for material in category.materials]
    return frozenset(word for noun in nouns for word in (noun.english.singular or "").split())


class Stock:
    """All wares of one phase, some categories and products more common than others."""

    def __init__(self, lexicon: GeneratorLexicon, phase: Phase) -> None:
        self.lexicon = lexicon
        self.phase = phase
        shifted = frozenset(shift.german for shift in lexicon.shifts)
        substances = SUBSTANCES | _substances(lexicon)
        wares = []
        for category in lexicon.categories:
            heads = [head for head in category.heads if belongs(phase, category.identifier, head.lemma)]
            if phase == "news":
                heads = [head for head in heads if head.lemma not in shifted and exposed(head.lemma, False)]
            for head in heads:
                weight = 0.4 + stable_fraction("popularity", category.identifier, head.lemma)
                wares.append((_ware(category, head, phase, shifted, substances), weight))
        self.wares = Weighted(wares)
