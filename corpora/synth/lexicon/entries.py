"""The entries of the lexicon: words with their forms in both languages, and what each may be combined with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Gender = Literal["m", "f", "n", "p"]  # "p" is for nouns without a singular


@dataclass(frozen=True, slots=True)
class EnglishNoun:
    """The forms of an English noun. Either may be missing: ``cotton`` has no plural, ``scissors`` no singular."""

    singular: str | None
    plural: str | None
    article: Literal["a", "an"] | None = None  # set where the spelling would give the wrong one


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: forms are looked up millions of times
class Noun:
    """A German noun with its forms and its English translation."""

    lemma: str
    gender: Gender
    plural: str | None
    genitive: str
    weak: bool  # n-declension
    english: EnglishNoun

    @property
    def is_mass(self) -> bool:
        """Whether the noun has no plural in either language: ``sheabutter``, but not ``windschutz``, a windscreen."""
        return self.plural is None and self.english.plural is None


@dataclass(frozen=True, slots=True)
class Adjective:
    """A German adjective with its English translation."""

    lemma: str
    stem: str | None  # takes the endings; None if the word is never inflected
    english: str


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    """The forms of an English verb."""

    base: str
    third: str  # third person singular, present
    past: str
    participle: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A German verb. Its finite forms lack the separable prefix, which stands apart in a main clause."""

    infinitive: str
    prefix: str
    present: str
    preterite: str
    participle: str
    perfect_with_sein: bool
    reflexive: bool
    english: EnglishVerb


@dataclass(frozen=True, slots=True)
class Scope:
    """The heads of a category that an entry can be combined with."""

    only: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def admits(self, head: str) -> bool:
        """Return whether the entry can be combined with this head."""
        return head not in self.excluded and (not self.only or head in self.only)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text in German and its English translation."""

    german: str
    english: str
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Modifier:
    """The first member of a compound: ``baumwoll`` in ``baumwolldecke``.

    The combining form is put directly before the head. Where it ends in a hyphen, the compound has one.
    """

    combining_form: str
    english: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Material:
    """A material that a product can be made of."""

    noun: Noun
    scope: Scope


@dataclass(frozen=True, slots=True)
class Feature:
    """An adjective that can describe a product."""

    adjective: Adjective
    scope: Scope


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a product, with the adjectives that can describe it."""

    noun: Noun
    adjectives: tuple[Adjective, ...]
    in_plural: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Accessory:
    """Something that comes in the box with a product."""

    noun: Noun
    scope: Scope


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The numbers ``low``, ``low + step``, ... up to ``high``, as integers in units of 10 ** -decimals."""

    low: int
    high: int
    step: int
    decimals: int


@dataclass(frozen=True, slots=True)
class ValueDomain:
    """The values of an attribute: one or more ranges with a unit, a list of words, or a list that categories share."""

    ranges: tuple[NumberRange, ...] = ()
    unit: str = ""
    choices: tuple[Phrase, ...] = ()
    shared: Literal["", "colors", "materials", "sizes"] = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of a product that has a value: weight, color, size."""

    noun: Noun
    values: ValueDomain
    scope: Scope


@dataclass(frozen=True, slots=True)
class Action:
    """What a product does: ``sorgt`` ... ``für guten schlaf``. The English verb is apart because it is inflected."""

    present: str
    prefix: str
    infinitive: str
    rest: str
    english: EnglishVerb
    english_rest: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Handling:
    """What a customer does with a product: ``anziehen`` in ``lässt sich leicht anziehen``."""

    verb: Verb
    scope: Scope


@dataclass(slots=True)
class Category:
    """A product category. All its entries may be combined with each other, within their scopes."""

    identifier: str
    german: str
    english: str
    heads: list[Noun] = field(default_factory=list)
    modifiers: list[Modifier] = field(default_factory=list)
    materials: list[Material] = field(default_factory=list)
    features: list[Feature] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    attributes: list[Attribute] = field(default_factory=list)
    uses: list[Phrase] = field(default_factory=list)
    accessories: list[Accessory] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    lines: list[Phrase] = field(default_factory=list)
    handlings: list[Handling] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NewsNoun:
    """A noun of the news with its semantic classes."""

    noun: Noun
    classes: tuple[str, ...]
    preposition: str  # of a place: "in", "an" or "auf"


@dataclass(frozen=True, slots=True)
class NewsAdjective:
    """An adjective of the news with the semantic classes of the nouns that it can describe."""

    adjective: Adjective
    noun_classes: tuple[str, ...]
    predicative: bool = True  # whether it can follow "der vorschlag ist"


@dataclass(frozen=True, slots=True)
class Preposition:
    """A preposition that a verb governs, with its case and its English translation."""

    german: str
    case: Literal["acc", "dat", "gen"]
    english: str


@dataclass(frozen=True, slots=True)
class VerbFrame:
    """A verb with its valency: at most one of object, dative, prepositional object and clause."""

    verb: Verb
    subject: tuple[str, ...]
    object: tuple[str, ...] = ()
    dative: tuple[str, ...] = ()
    preposition: Preposition | None = None
    prepositional_object: tuple[str, ...] = ()
    clause: Literal["", "that", "zu"] = ""


@dataclass(slots=True)
class Topic:
    """A topic of the news with its words."""

    identifier: str
    german: str
    english: str
    nouns: list[NewsNoun] = field(default_factory=list)
    adjectives: list[NewsAdjective] = field(default_factory=list)
    frames: list[VerbFrame] = field(default_factory=list)


@dataclass(slots=True)
class GeneralTopic(Topic):
    """The words that every topic uses, and the names, places and times."""

    cities: list[Phrase] = field(default_factory=list)
    countries: list[Phrase] = field(default_factory=list)
    surnames: list[str] = field(default_factory=list)
    firstnames: list[tuple[str, Literal["f", "m"]]] = field(default_factory=list)
    titles: list[Noun] = field(default_factory=list)
    times: list[Phrase] = field(default_factory=list)
    adverbs: list[Phrase] = field(default_factory=list)
    openers: list[Phrase] = field(default_factory=list)
    people: list[Phrase] = field(default_factory=list)  # "300 menschen"


@dataclass(frozen=True, slots=True)
class SenseShift:
    """A German word whose English translation in the news differs from that in the shop."""

    german: str
    news: str
    shop: str


@dataclass(frozen=True, slots=True)
class MeasurementUnit:
    """A unit of measurement: ``g`` with ``gram`` and ``gramm``."""

    german: str
    english: str
    english_long: str  # as in "32-ounce"; empty if there is none
    german_long: str


@dataclass(slots=True)
class GeneratorLexicon:
    """All entries of the generator's lexicon."""

    categories: list[Category] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    general: GeneralTopic = field(default_factory=lambda: GeneralTopic("general", "allgemein", "general"))
    shifts: list[SenseShift] = field(default_factory=list)
    colors: list[Adjective] = field(default_factory=list)
    brands: list[str] = field(default_factory=list)
    units: Mapping[str, MeasurementUnit] = field(default_factory=dict)
