"""What the lexicon's lines mean: words with their forms on both sides, and what each may be combined with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Gender = Literal["m", "f", "n", "p"]  # p: plural only


@dataclass(frozen=True, slots=True)
class EnglishNoun:
    """Either form may be missing: ``cotton`` has no plural, ``scissors`` no singular."""

    singular: str | None
    plural: str | None
    article: Literal["a", "an"] | None = None  # where the letters mislead


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity: its forms are looked up millions of times
class Noun:
    lemma: str
    gender: Gender
    plural: str | None
    genitive: str
    weak: bool
    english: EnglishNoun

    @property
    def is_mass(self) -> bool:
        """Nothing that can be counted in either language: ``sheabutter``, but not ``windschutz``, a windscreen."""
        return self.plural is None and self.english.plural is None


@dataclass(frozen=True, slots=True)
class Adjective:
    lemma: str
    stem: str | None  # before an ending; None when the word is never inflected
    english: str


@dataclass(frozen=True, slots=True)
class EnglishVerb:
    base: str
    third: str
    past: str
    participle: str


@dataclass(frozen=True, slots=True)
class Verb:
    """Finite forms are kept without the separable prefix, which stands apart in a main clause."""

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
    """Which heads of a category an entry goes with."""

    only: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def admits(self, head: str) -> bool:
        return head not in self.excluded and (not self.only or head in self.only)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Free text that means the same on both sides."""

    german: str
    english: str
    scope: Scope = Scope()


@dataclass(frozen=True, slots=True)
class Modifier:
    """The first member of a compound; ``joint`` is glued to the head, or hyphenated when it ends in a hyphen."""

    joint: str
    english: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Material:
    noun: Noun
    scope: Scope


@dataclass(frozen=True, slots=True)
class Feature:
    adjective: Adjective
    scope: Scope


@dataclass(frozen=True, slots=True)
class Part:
    noun: Noun
    adjectives: tuple[Adjective, ...]
    in_plural: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class Accessory:
    """What comes in the box with some products."""

    noun: Noun
    scope: Scope


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers ``low``, ``low + step``, ... up to ``high``, kept as integers in units of 10 ** -decimals."""

    low: int
    high: int
    step: int
    decimals: int


@dataclass(frozen=True, slots=True)
class Values:
    """What an attribute can be: one or more ranges with a unit, a list of adjectives or words, or a shared list."""

    ranges: tuple[Range, ...] = ()
    unit: str = ""
    choices: tuple[Phrase, ...] = ()
    shared: Literal["", "colors", "materials", "sizes"] = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    noun: Noun
    values: Values
    scope: Scope


@dataclass(frozen=True, slots=True)
class Action:
    """What a product does: ``sorgt`` ... ``für guten schlaf``, with the English verb apart for its third person."""

    present: str
    prefix: str
    infinitive: str
    rest: str
    english: EnglishVerb
    english_rest: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Handling:
    """What a customer does with a product: ``lässt sich leicht anziehen``."""

    verb: Verb
    scope: Scope


@dataclass(slots=True)
class Category:
    """One kind of product: whatever stands here may be combined, within the scopes."""

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
class ClassedNoun:
    noun: Noun
    classes: tuple[str, ...]
    preposition: str  # "in", "an" or "auf", for places


@dataclass(frozen=True, slots=True)
class ClassedAdjective:
    adjective: Adjective
    of: tuple[str, ...]
    predicative: bool = True  # whether "der vorschlag ist ..." can be said


@dataclass(frozen=True, slots=True)
class Preposition:
    german: str
    case: Literal["acc", "dat", "gen"]
    english: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A verb with what it asks for. At most one of object, dative, prepositional object and clause."""

    verb: Verb
    subject: tuple[str, ...]
    object: tuple[str, ...] = ()
    dative: tuple[str, ...] = ()
    preposition: Preposition | None = None
    prepositional_object: tuple[str, ...] = ()
    clause: Literal["", "that", "zu"] = ""


@dataclass(slots=True)
class Topic:
    identifier: str
    german: str
    english: str
    nouns: list[ClassedNoun] = field(default_factory=list)
    adjectives: list[ClassedAdjective] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)


@dataclass(slots=True)
class General(Topic):
    """What every topic uses, and names, places and times."""

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
class Shift:
    """A German word that means one thing in the news and another in the shop."""

    german: str
    news: str
    shop: str


@dataclass(frozen=True, slots=True)
class Unit:
    german: str
    english: str
    english_long: str  # of "32-ounce"; empty when there is none
    german_long: str


@dataclass(slots=True)
class Lexicon:
    categories: list[Category] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    general: General = field(default_factory=lambda: General("general", "allgemein", "general"))
    shifts: list[Shift] = field(default_factory=list)
    colors: list[Adjective] = field(default_factory=list)
    brands: list[str] = field(default_factory=list)
    units: Mapping[str, Unit] = field(default_factory=dict)
