"""A product record: one ware with the brand, part number, color, value and so on that a template asks for."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from corpora.synth import english_morphology
from corpora.synth.lexicon.entries import (
    Action,
    Adjective,
    Attribute,
    GeneratorLexicon,
    Noun,
    NumberRange,
    Part,
    Phrase,
    Verb,
)
from corpora.synth.random_stream import RandomStream
from corpora.synth.usage import DOZENS, PAPERS, PIECES, PLAIN, RIVALS, SETS, TINTED, echoes, kind, overlap
from corpora.synth.wares import SIZES, Ware

COMPOUND_SHARE = 0.5
MATERIAL = frozenset({"material", "value", "figure"})
CODE_LETTERS = "abcdefghklmnprstvwxz"


class Value(NamedTuple):
    """An attribute's value: text on both sides and, for a plain number, the number and its unit."""

    german: str
    english: str
    number: str = ""
    unit: str = ""


@dataclass(slots=True)
class Record:
    """Everything a template can mention; only what it asks for is drawn."""

    ware: Ware
    lexicon: GeneratorLexicon
    product: Noun
    features: tuple[Adjective, ...] = ()
    color: Adjective | None = None
    material: Noun | None = None
    part: Part | None = None
    part_adjective: Adjective | None = None
    attribute: Attribute | None = None
    value: Value | None = None
    use: Phrase | None = None
    other_use: Phrase | None = None
    action: Action | None = None
    accessory: Noun | None = None
    handling: Verb | None = None
    brand: str = ""
    code: str = ""
    count: int = 0
    size: str = ""
    numbers: dict[str, str] = field(default_factory=dict)

    def stutters(self, german: str) -> bool:
        """Whether an adjective is heard twice in either language: ``leise rotorblätter``, ``arbeitet leise``."""
        adjectives = self.features if self.part_adjective is None else (*self.features, self.part_adjective)
        if not adjectives:
            return False
        return echoes(german, [one.stem or one.lemma for one in adjectives]) or echoes(
            self._english(adjectives), [one.english for one in adjectives]
        )

    def _english(self, adjectives: tuple[Adjective, ...]) -> str:
        """All that a template can put into its English slots, in no order."""
        said = [english_morphology.noun_form(self.product.english, False), *(one.english for one in adjectives)]
        if self.part is not None:
            said.append(english_morphology.noun_form(self.part.noun.english, False))
        if self.attribute is not None and self.value is not None:
            said += (english_morphology.noun_form(self.attribute.noun.english, False), self.value.english)
        if self.use is not None:
            said.append(self.use.english)
        if self.other_use is not None:
            said.append(self.other_use.english)
        if self.action is not None:
            said += (self.action.english.base, self.action.english_rest)
        if self.accessory is not None:
            said.append(english_morphology.noun_form(self.accessory.english, False))
        return " ".join(said)


class UnavailableError(Exception):
    """The ware has nothing of what the template asks for."""


def _need(options: object) -> None:
    if not options:
        raise UnavailableError


def _feature(record: Record, rng: RandomStream) -> None:
    _need(record.ware.features)
    record.features = (rng.choice(record.ware.features),)


def _two_features(record: Record, rng: RandomStream) -> None:
    _need(len(record.ware.features) > 1)
    first = rng.choice(record.ware.features)
    second = rng.choice(record.ware.features)
    _need(first is not second and second.lemma not in RIVALS.get(first.lemma, ()))
    record.features = (first, second)


def _color(record: Record, rng: RandomStream) -> None:
    _need(record.ware.colorful)
    record.color = rng.skewed_choice(record.lexicon.colors)


def _material(record: Record, rng: RandomStream) -> None:
    _need(record.ware.materials)
    record.material = rng.choice(record.ware.materials)


def _part(record: Record, rng: RandomStream) -> None:
    options = [part for part in record.ware.parts if part.noun.lemma not in PLAIN]
    _need(options)
    record.part = rng.choice(options)


def _part_adjective(record: Record, rng: RandomStream) -> None:
    _need(record.ware.described_parts)
    record.part = rng.choice(record.ware.described_parts)
    record.part_adjective = rng.choice(record.part.adjectives)


def _value(record: Record, rng: RandomStream) -> None:
    _need(record.ware.attributes)
    attribute = rng.choice(record.ware.attributes)
    record.attribute, record.value = attribute, _draw_value(attribute, record, rng)


def _figure(record: Record, rng: RandomStream) -> None:
    """A value that says something without its name: ``30x40 cm``, but not ``solide``."""
    _value(record, rng)
    assert record.value is not None
    assert record.attribute is not None
    values = record.attribute.values
    _need(values.shared or values.unit or any(character.isdigit() for character in record.value.german[:-1]))


def _measure(record: Record, rng: RandomStream) -> None:
    """A plain number whose unit has a long English name: ``32-ounce``."""
    units = record.lexicon.units
    options = [a for a in record.ware.attributes if len(a.values.ranges) == 1 and a.values.unit in units]
    options = [a for a in options if units[a.values.unit].english_long and a.values.unit not in PIECES]
    _need(options)
    attribute = rng.choice(options)
    record.attribute, record.value = attribute, _draw_value(attribute, record, rng)


def _use(record: Record, rng: RandomStream) -> None:
    _need(record.ware.uses)
    record.use = rng.choice(record.ware.uses)


def _fit(record: Record, rng: RandomStream) -> None:
    """A use that can follow "geeignet": a purpose, not a place."""
    _need(record.ware.purposes)
    record.use = rng.choice(record.ware.purposes)


def _two_fits(record: Record, rng: RandomStream) -> None:
    _fit(record, rng)
    record.other_use = rng.choice(record.ware.purposes)
    assert record.use is not None
    _need(kind(record.use.german) and kind(record.use.german) == kind(record.other_use.german))
    _need(not overlap(record.use.german, record.other_use.german))
    _need(not overlap(record.use.english, record.other_use.english))


def _action(record: Record, rng: RandomStream) -> None:
    _need(record.ware.actions)
    record.action = rng.choice(record.ware.actions)
    _need(record.use is None or not overlap(record.use.german, record.action.rest))


def _accessory(record: Record, rng: RandomStream) -> None:
    _need(record.ware.accessories)
    record.accessory = rng.choice(record.ware.accessories)


def _missed_accessory(record: Record, rng: RandomStream) -> None:
    """One whose absence is worth a word."""
    options = [noun for noun in record.ware.accessories if not noun.lemma.endswith(PAPERS)]
    _need(options)
    record.accessory = rng.choice(options)


def _single_accessory(record: Record, rng: RandomStream) -> None:
    """One that can be counted, in both languages."""
    options = [noun for noun in record.ware.accessories if noun.gender != "p" and noun.plural]
    options = [noun for noun in options if noun.english.singular and noun.english.plural]
    _need(options)
    record.accessory = rng.choice(options)


def _handling(record: Record, rng: RandomStream) -> None:
    _need(record.ware.handlings)
    record.handling = rng.choice(record.ware.handlings)


def _brand(record: Record, rng: RandomStream) -> None:
    record.brand = rng.skewed_choice(record.lexicon.brands)


def _code(record: Record, rng: RandomStream) -> None:
    letters = "".join(rng.choice(CODE_LETTERS) for _ in range(2 + rng.below(2)))
    record.code = f"{letters}{'-' if rng.chance(0.5) else ''}{100 + rng.below(9900)}"


def _count(record: Record, rng: RandomStream) -> None:
    """Some things are sold by the dozen, and nobody buys a dozen sofas."""
    if record.ware.head.lemma in DOZENS:
        record.count = 4 + 2 * int(rng.random() ** 2 * 11)
    else:
        record.count = 2 + int(rng.random() ** 3 * 3)


def _pack(record: Record, rng: RandomStream) -> None:
    """A number of something that comes in packs."""
    _need(record.ware.head.lemma in DOZENS or record.ware.head.lemma in SETS)
    _count(record, rng)


def _size(record: Record, rng: RandomStream) -> None:
    _need(record.ware.sized)
    record.size = rng.choice(SIZES)


def _plural(record: Record, rng: RandomStream) -> None:  # noqa: ARG001
    _need(record.product.plural and record.product.english.plural)


def _head_plural(record: Record, rng: RandomStream) -> None:  # noqa: ARG001
    _need(record.ware.head.plural and record.ware.head.english.plural)


def _single(record: Record, rng: RandomStream) -> None:  # noqa: ARG001
    _need(record.product.gender != "p" and record.product.english.singular)


# what a template's slots need, in the order in which it is drawn
DRAWS: dict[str, Callable[[Record, RandomStream], None]] = {
    "singular": _single,
    "plural": _plural,
    "heads": _head_plural,
    "feature": _feature,
    "feature2": _two_features,
    "color": _color,
    "material": _material,
    "part": _part,
    "padj": _part_adjective,
    "value": _value,
    "figure": _figure,
    "measure": _measure,
    "use": _use,
    "fit": _fit,
    "fit2": _two_fits,
    "action": _action,
    "accessory": _accessory,
    "missed accessory": _missed_accessory,
    "single accessory": _single_accessory,
    "handling": _handling,
    "brand": _brand,
    "code": _code,
    "count": _count,
    "pack": _pack,
    "size": _size,
}


def draw(ware: Ware, lexicon: GeneratorLexicon, needs: tuple[str, ...], rng: RandomStream) -> Record:
    """A record of this ware that has what is needed; ``UnavailableError`` when the ware has it not."""
    compounds = ware.compounds
    if not MATERIAL.isdisjoint(needs):  # a cotton pillow is not made of polyester
        compounds = ware.neutral_compounds
    elif "color" in needs:  # nor a gold ring green
        compounds = ware.paintable_compounds
    product = rng.skewed_choice(compounds) if compounds and rng.chance(COMPOUND_SHARE) else ware.head
    record = Record(ware, lexicon, product)
    _need(not {"plural", "heads"}.issubset(needs) or product is not ware.head)  # "hosen und hosen"
    for need in needs:
        DRAWS[need](record, rng)
    _need(not _is_said_twice(record))
    _need(record.color is None or TINTED.isdisjoint(feature.lemma for feature in record.features))
    return record


def _is_said_twice(record: Record) -> bool:
    """Whether there would be a foldable folding chair, a leather jacket of leather or a rich cream with rich butter."""
    adjectives = [one for one in (*record.features, record.part_adjective, record.color) if one is not None]
    words = [one.english for one in adjectives]
    if record.material is not None:
        words += english_morphology.noun_form(record.material.english, False).split()
    name = english_morphology.noun_form(record.product.english, False)
    modifier = record.product.lemma.removesuffix(record.ware.head.lemma).rstrip("-")
    return (
        len(set(words)) < len(words)
        or not set(words).isdisjoint(name.split())
        or (modifier != "" and any(one.lemma.startswith(modifier) for one in adjectives))
        or (modifier != "" and record.use is not None and modifier in record.use.german)
        or _is_named_twice(record)
    )


def _is_named_twice(record: Record) -> bool:
    """Whether there would be a pendulum clock with a pendulum, or a temperature and a temperature control."""
    part, attribute, accessory = record.part, record.attribute, record.accessory
    if part is not None and record.part_adjective is None and overlap(record.ware.head.lemma, part.noun.lemma):
        return True
    if attribute is None:
        return False
    name = attribute.noun.lemma
    return (part is not None and overlap(name, part.noun.lemma)) or (
        accessory is not None and overlap(name, accessory.lemma)
    )


def number(range_: NumberRange, rng: RandomStream) -> str:
    """A number of the range, written with a period."""
    drawn = range_.low + range_.step * rng.below((range_.high - range_.low) // range_.step + 1)
    if not range_.decimals:
        return str(drawn)
    digits = f"{drawn:0{range_.decimals + 1}d}"
    return f"{digits[: -range_.decimals]}.{digits[-range_.decimals :]}".rstrip("0").rstrip(".")


def _draw_value(attribute: Attribute, record: Record, rng: RandomStream) -> Value:
    values = attribute.values
    if values.choices:
        choice = rng.choice(values.choices)
        return Value(choice.german, choice.english)
    if values.shared == "colors":
        color = rng.skewed_choice(record.lexicon.colors)
        return Value(color.lemma, color.english)
    if values.shared == "sizes":
        size = rng.choice(SIZES)
        return Value(size, size)
    if values.shared == "materials":
        _need(record.ware.materials)
        material = rng.choice(record.ware.materials)
        return Value(material.lemma, english_morphology.noun_form(material.english, False))
    numbers = "x".join(number(one, rng) for one in values.ranges)
    unit = record.lexicon.units.get(values.unit)
    _need(numbers != "1" or len(values.unit) < 4)  # "1 stunden"
    if unit is None:
        return Value(numbers, numbers, numbers)
    return Value(f"{numbers} {unit.german}", f"{numbers} {unit.english}", numbers, values.unit)
