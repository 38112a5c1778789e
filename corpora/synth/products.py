"""The assortment of the shop: types of product with everything that a line can say of them.

Some words, compounds and templates occur in one phase only, so that a system gains nothing from memorising another
phase. Which ones these are depends on the word alone, so it is the same for every seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from corpora.synth.german_morphology import compound
from corpora.synth.lexicon.entries import (
    Action,
    Adjective,
    Attribute,
    Category,
    GeneratorLexicon,
    Modifier,
    Noun,
    Part,
    Phrase,
    Verb,
)
from corpora.synth.random_stream import Weighted, stable_fraction

Subcorpus = Literal["mock", "dev", "training", "news"]  # a phase, or the out-of-domain side

DEV_ONLY_SHARE = 0.05  # of the words: they occur in dev and mock, but not in training
TRAINING_ONLY_SHARE = 0.12
NEWS_COMPOUND_SHARE = 0.5  # of the shop's compounds: the news has them too
NEWS_WORD_SHARE = 0.99  # of the shop's other words

# English words of compounds that name a material, beside the materials of the lexicon
MATERIAL_WORDS = frozenset({"wooden", "woolen", "metal", "golden", "solid", "diamond", "pearl", "thermal"})
# products whose English name has one of these have a color already
FIXED_COLOR_WORDS = frozenset(
    {"gold", "golden", "silver", "copper", "brass", "titanium", "diamond", "pearl", "rhinestone"}
)

CLOTHING_SIZES = ("xs", "s", "m", "l", "xl", "xxl", "36", "38", "40", "42", "44")


def occurs_in(subcorpus: Subcorpus, *word: str) -> bool:
    """Return whether a word occurs in a subcorpus. The news has what all phases share, and half of the rest."""
    position = stable_fraction("phase", *word)
    if subcorpus == "news":
        return position >= DEV_ONLY_SHARE / 2 and position < 1 - TRAINING_ONLY_SHARE / 2
    if position < DEV_ONLY_SHARE:
        return subcorpus != "training"
    return position < 1 - TRAINING_ONLY_SHARE or subcorpus == "training"


def appears_in_news(lemma: str, is_compound: bool) -> bool:
    """Return whether the news uses a word of the shop."""
    return stable_fraction("exposed", lemma) < (NEWS_COMPOUND_SHARE if is_compound else NEWS_WORD_SHARE)


@dataclass(slots=True)
class ProductType:
    """A type of product, such as "blanket", with everything that a line can say of it."""

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

    compounds_without_material: Sequence[Noun]  # those that name no material themselves
    compounds_of_any_color: Sequence[Noun]  # those that name no color themselves
    described_parts: Sequence[Part] = field(init=False)
    purposes: Sequence[Phrase] = field(init=False)

    def __post_init__(self) -> None:
        self.described_parts = [part for part in self.parts if part.adjectives]
        self.purposes = [use for use in self.uses if use.german.startswith(("für ", "zum ", "zur "))]


def _product_type(
    category: Category, head: Noun, subcorpus: Subcorpus, shifted: frozenset[str], material_words: frozenset[str]
) -> ProductType:
    lemma = head.lemma

    def is_usable(word: str) -> bool:
        return subcorpus != "news" or (word not in shifted and appears_in_news(word, False))

    modifiers = [
        m for m in category.modifiers if m.scope.admits(lemma) and occurs_in(subcorpus, m.combining_form, lemma)
    ]
    if lemma in shifted:  # the scopes of the modifiers were written without these heads in mind
        modifiers = [modifier for modifier in modifiers if lemma in modifier.scope.only]
    if subcorpus == "news":
        modifiers = [modifier for modifier in modifiers if appears_in_news(modifier.combining_form + lemma, True)]
    compounds = [(modifier, compound(modifier.combining_form, head, modifier.english)) for modifier in modifiers]
    attributes = [a for a in category.attributes if a.scope.admits(lemma) and is_usable(a.noun.lemma)]
    return ProductType(
        category=category,
        head=head,
        compounds=[word for _, word in compounds],
        features=[
            feature.adjective
            for feature in category.features
            if feature.scope.admits(lemma)
            and occurs_in(subcorpus, category.identifier, feature.adjective.lemma)
            and is_usable(feature.adjective.lemma)
        ],
        materials=[m.noun for m in category.materials if m.scope.admits(lemma) and is_usable(m.noun.lemma)],
        parts=[part for part in category.parts if part.scope.admits(lemma) and is_usable(part.noun.lemma)],
        attributes=attributes,
        uses=[use for use in category.uses if use.scope.admits(lemma)],
        actions=[action for action in category.actions if action.scope.admits(lemma)],
        accessories=[a.noun for a in category.accessories if a.scope.admits(lemma) and is_usable(a.noun.lemma)],
        handlings=[h.verb for h in category.handlings if h.scope.admits(lemma) and subcorpus != "news"],
        colorful=any(attribute.values.shared == "colors" for attribute in attributes),
        sized=any(attribute.values.shared == "sizes" for attribute in attributes),
        compounds_without_material=_without(material_words, compounds),
        compounds_of_any_color=_without(FIXED_COLOR_WORDS, compounds),
    )


def _without(words: frozenset[str], compounds: list[tuple[Modifier, Noun]]) -> list[Noun]:
    """Return the compounds whose English modifier has none of the words."""
    return [compound for modifier, compound in compounds if words.isdisjoint(modifier.english.split())]


def _material_words(lexicon: GeneratorLexicon) -> frozenset[str]:
    """Return every English word of the lexicon that names a material."""
    nouns = [material.noun for category in lexicon.categories for material in category.materials]
    return frozenset(word for noun in nouns for word in (noun.english.singular or "").split())


class Assortment:
    """All types of product of one subcorpus, weighted by how common they are."""

    def __init__(self, lexicon: GeneratorLexicon, subcorpus: Subcorpus) -> None:
        self.lexicon = lexicon
        self.subcorpus = subcorpus
        shifted = frozenset(shift.german for shift in lexicon.shifts)
        material_words = MATERIAL_WORDS | _material_words(lexicon)
        product_types = []
        for category in lexicon.categories:
            heads = [head for head in category.heads if occurs_in(subcorpus, category.identifier, head.lemma)]
            if subcorpus == "news":
                heads = [head for head in heads if head.lemma not in shifted and appears_in_news(head.lemma, False)]
            for head in heads:
                weight = 0.4 + stable_fraction("popularity", category.identifier, head.lemma)
                product_types.append((_product_type(category, head, subcorpus, shifted, material_words), weight))
        self.product_types = Weighted(product_types)
