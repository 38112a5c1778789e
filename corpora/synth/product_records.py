"""A product record: one product with the brand, part number, color, attribute value and so on that a template names."""

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
from corpora.synth.plausibility import (
    COLORED_ADJECTIVES,
    COUNTING_UNITS,
    EXCLUSIVE_ADJECTIVES,
    MINOR_ACCESSORY_ENDINGS,
    SOLD_BY_THE_DOZEN,
    SOLD_IN_SETS,
    STANDARD_PARTS,
    repeats_any,
    shares_stem,
    use_kind,
)
from corpora.synth.products import CLOTHING_SIZES, ProductType
from corpora.synth.random_stream import RandomStream

COMPOUND_SHARE = 0.5  # of products that are named by a compound
MATERIAL_REQUIREMENTS = frozenset({"material", "value", "figure"})  # these can name a material
PART_NUMBER_LETTERS = "abcdefghklmnprstvwxz"


class AttributeValue(NamedTuple):
    """The value of an attribute in both languages and, if it is a plain number, the number and its unit."""

    german: str
    english: str
    number: str = ""
    unit: str = ""


@dataclass(slots=True)
class ProductRecord:
    """Everything that a template can name. Only what the template requires is sampled."""

    product_type: ProductType
    lexicon: GeneratorLexicon
    product: Noun
    features: tuple[Adjective, ...] = ()
    color: Adjective | None = None
    material: Noun | None = None
    part: Part | None = None
    part_adjective: Adjective | None = None
    attribute: Attribute | None = None
    value: AttributeValue | None = None
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

    def repeats_adjective(self, german: str) -> bool:
        """Return whether either language has an adjective twice: ``leise rotorblätter``, ``arbeitet leise``."""
        adjectives = self.features if self.part_adjective is None else (*self.features, self.part_adjective)
        if not adjectives:
            return False
        return repeats_any(german, [one.stem or one.lemma for one in adjectives]) or repeats_any(
            self._english_words(adjectives), [one.english for one in adjectives]
        )

    def _english_words(self, adjectives: tuple[Adjective, ...]) -> str:
        """Return all words that a template can put into its English slots, in any order."""
        words = [english_morphology.noun_form(self.product.english, False), *(one.english for one in adjectives)]
        if self.part is not None:
            words.append(english_morphology.noun_form(self.part.noun.english, False))
        if self.attribute is not None and self.value is not None:
            words += (english_morphology.noun_form(self.attribute.noun.english, False), self.value.english)
        if self.use is not None:
            words.append(self.use.english)
        if self.other_use is not None:
            words.append(self.other_use.english)
        if self.action is not None:
            words += (self.action.english.base, self.action.english_rest)
        if self.accessory is not None:
            words.append(english_morphology.noun_form(self.accessory.english, False))
        return " ".join(words)


class UnfillableSlotError(Exception):
    """The product has nothing to fill a slot of the template with."""


def _require(condition: object) -> None:
    if not condition:
        raise UnfillableSlotError


def _fill_feature(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.features)
    record.features = (rng.choice(record.product_type.features),)


def _fill_two_features(record: ProductRecord, rng: RandomStream) -> None:
    _require(len(record.product_type.features) > 1)
    first = rng.choice(record.product_type.features)
    second = rng.choice(record.product_type.features)
    _require(first is not second and second.lemma not in EXCLUSIVE_ADJECTIVES.get(first.lemma, ()))
    record.features = (first, second)


def _fill_color(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.colorful)
    record.color = rng.skewed_choice(record.lexicon.colors)


def _fill_material(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.materials)
    record.material = rng.choice(record.product_type.materials)


def _fill_part(record: ProductRecord, rng: RandomStream) -> None:
    options = [part for part in record.product_type.parts if part.noun.lemma not in STANDARD_PARTS]
    _require(options)
    record.part = rng.choice(options)


def _fill_part_adjective(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.described_parts)
    record.part = rng.choice(record.product_type.described_parts)
    record.part_adjective = rng.choice(record.part.adjectives)


def _fill_value(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.attributes)
    attribute = rng.choice(record.product_type.attributes)
    record.attribute, record.value = attribute, _sample_value(attribute, record, rng)


def _fill_figure(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in a value that is understood without its attribute: ``30x40 cm``, but not ``solide``."""
    _fill_value(record, rng)
    assert record.value is not None
    assert record.attribute is not None
    values = record.attribute.values
    _require(values.shared or values.unit or any(character.isdigit() for character in record.value.german[:-1]))


def _fill_measure(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in a plain number whose unit has a long English name: ``32-ounce``."""
    units = record.lexicon.units
    options = [a for a in record.product_type.attributes if len(a.values.ranges) == 1 and a.values.unit in units]
    options = [a for a in options if units[a.values.unit].english_long and a.values.unit not in COUNTING_UNITS]
    _require(options)
    attribute = rng.choice(options)
    record.attribute, record.value = attribute, _sample_value(attribute, record, rng)


def _fill_use(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.uses)
    record.use = rng.choice(record.product_type.uses)


def _fill_fit(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in a use that can follow "geeignet": a purpose, not a place."""
    _require(record.product_type.purposes)
    record.use = rng.choice(record.product_type.purposes)


def _fill_two_fits(record: ProductRecord, rng: RandomStream) -> None:
    _fill_fit(record, rng)
    record.other_use = rng.choice(record.product_type.purposes)
    assert record.use is not None
    _require(use_kind(record.use.german) and use_kind(record.use.german) == use_kind(record.other_use.german))
    _require(not shares_stem(record.use.german, record.other_use.german))
    _require(not shares_stem(record.use.english, record.other_use.english))


def _fill_action(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.actions)
    record.action = rng.choice(record.product_type.actions)
    _require(record.use is None or not shares_stem(record.use.german, record.action.rest))


def _fill_accessory(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.accessories)
    record.accessory = rng.choice(record.product_type.accessories)


def _fill_missed_accessory(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in an accessory whose absence is worth mentioning."""
    options = [noun for noun in record.product_type.accessories if not noun.lemma.endswith(MINOR_ACCESSORY_ENDINGS)]
    _require(options)
    record.accessory = rng.choice(options)


def _fill_single_accessory(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in an accessory that is countable in both languages."""
    options = [noun for noun in record.product_type.accessories if noun.gender != "p" and noun.plural]
    options = [noun for noun in options if noun.english.singular and noun.english.plural]
    _require(options)
    record.accessory = rng.choice(options)


def _fill_handling(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.handlings)
    record.handling = rng.choice(record.product_type.handlings)


def _fill_brand(record: ProductRecord, rng: RandomStream) -> None:
    record.brand = rng.skewed_choice(record.lexicon.brands)


def _fill_code(record: ProductRecord, rng: RandomStream) -> None:
    letters = "".join(rng.choice(PART_NUMBER_LETTERS) for _ in range(2 + rng.below(2)))
    record.code = f"{letters}{'-' if rng.chance(0.5) else ''}{100 + rng.below(9900)}"


def _fill_count(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in a number of products: screws are sold by the dozen, sofas are not."""
    if record.product_type.head.lemma in SOLD_BY_THE_DOZEN:
        record.count = 4 + 2 * int(rng.random() ** 2 * 11)
    else:
        record.count = 2 + int(rng.random() ** 3 * 3)


def _fill_pack(record: ProductRecord, rng: RandomStream) -> None:
    """Fill in a number of products that are sold in packs."""
    _require(record.product_type.head.lemma in SOLD_BY_THE_DOZEN or record.product_type.head.lemma in SOLD_IN_SETS)
    _fill_count(record, rng)


def _fill_size(record: ProductRecord, rng: RandomStream) -> None:
    _require(record.product_type.sized)
    record.size = rng.choice(CLOTHING_SIZES)


def _require_plural(record: ProductRecord, rng: RandomStream) -> None:  # noqa: ARG001
    _require(record.product.plural and record.product.english.plural)


def _require_head_plural(record: ProductRecord, rng: RandomStream) -> None:  # noqa: ARG001
    _require(record.product_type.head.plural and record.product_type.head.english.plural)


def _require_singular(record: ProductRecord, rng: RandomStream) -> None:  # noqa: ARG001
    _require(record.product.gender != "p" and record.product.english.singular)


# What fills each requirement of a template. Requirements are filled in this order.
SLOT_FILLERS: dict[str, Callable[[ProductRecord, RandomStream], None]] = {
    "singular": _require_singular,
    "plural": _require_plural,
    "heads": _require_head_plural,
    "feature": _fill_feature,
    "feature2": _fill_two_features,
    "color": _fill_color,
    "material": _fill_material,
    "part": _fill_part,
    "padj": _fill_part_adjective,
    "value": _fill_value,
    "figure": _fill_figure,
    "measure": _fill_measure,
    "use": _fill_use,
    "fit": _fill_fit,
    "fit2": _fill_two_fits,
    "action": _fill_action,
    "accessory": _fill_accessory,
    "missed accessory": _fill_missed_accessory,
    "single accessory": _fill_single_accessory,
    "handling": _fill_handling,
    "brand": _fill_brand,
    "code": _fill_code,
    "count": _fill_count,
    "pack": _fill_pack,
    "size": _fill_size,
}


def sample_record(
    product_type: ProductType, lexicon: GeneratorLexicon, requirements: tuple[str, ...], rng: RandomStream
) -> ProductRecord:
    """Return a record of this type of product that meets the requirements, or raise UnfillableSlotError."""
    compounds = product_type.compounds
    if not MATERIAL_REQUIREMENTS.isdisjoint(requirements):  # a cotton pillow is not made of polyester
        compounds = product_type.compounds_without_material
    elif "color" in requirements:  # and a gold ring is not green
        compounds = product_type.compounds_of_any_color
    product = rng.skewed_choice(compounds) if compounds and rng.chance(COMPOUND_SHARE) else product_type.head
    record = ProductRecord(product_type, lexicon, product)
    _require(not {"plural", "heads"}.issubset(requirements) or product is not product_type.head)  # "hosen und hosen"
    for requirement in requirements:
        SLOT_FILLERS[requirement](record, rng)
    _require(not _is_redundant(record))
    _require(record.color is None or COLORED_ADJECTIVES.isdisjoint(feature.lemma for feature in record.features))
    return record


def _is_redundant(record: ProductRecord) -> bool:
    """Return whether the record names a foldable folding chair, a leather jacket of leather or the like."""
    adjectives = [one for one in (*record.features, record.part_adjective, record.color) if one is not None]
    words = [one.english for one in adjectives]
    if record.material is not None:
        words += english_morphology.noun_form(record.material.english, False).split()
    name = english_morphology.noun_form(record.product.english, False)
    modifier = record.product.lemma.removesuffix(record.product_type.head.lemma).rstrip("-")
    return (
        len(set(words)) < len(words)
        or not set(words).isdisjoint(name.split())
        or (modifier != "" and any(one.lemma.startswith(modifier) for one in adjectives))
        or (modifier != "" and record.use is not None and modifier in record.use.german)
        or _names_part_twice(record)
    )


def _names_part_twice(record: ProductRecord) -> bool:
    """Return whether the record names a pendulum clock with a pendulum, or a temperature and a temperature control."""
    part, attribute, accessory = record.part, record.attribute, record.accessory
    if (
        part is not None
        and record.part_adjective is None
        and shares_stem(record.product_type.head.lemma, part.noun.lemma)
    ):
        return True
    if attribute is None:
        return False
    name = attribute.noun.lemma
    return (part is not None and shares_stem(name, part.noun.lemma)) or (
        accessory is not None and shares_stem(name, accessory.lemma)
    )


def sample_number(range_: NumberRange, rng: RandomStream) -> str:
    """Return a random number of the range, written with a decimal point."""
    drawn = range_.low + range_.step * rng.below((range_.high - range_.low) // range_.step + 1)
    if not range_.decimals:
        return str(drawn)
    digits = f"{drawn:0{range_.decimals + 1}d}"
    return f"{digits[: -range_.decimals]}.{digits[-range_.decimals :]}".rstrip("0").rstrip(".")


def _sample_value(attribute: Attribute, record: ProductRecord, rng: RandomStream) -> AttributeValue:
    values = attribute.values
    if values.choices:
        choice = rng.choice(values.choices)
        return AttributeValue(choice.german, choice.english)
    if values.shared == "colors":
        color = rng.skewed_choice(record.lexicon.colors)
        return AttributeValue(color.lemma, color.english)
    if values.shared == "sizes":
        size = rng.choice(CLOTHING_SIZES)
        return AttributeValue(size, size)
    if values.shared == "materials":
        _require(record.product_type.materials)
        material = rng.choice(record.product_type.materials)
        return AttributeValue(material.lemma, english_morphology.noun_form(material.english, False))
    numbers = "x".join(sample_number(one, rng) for one in values.ranges)
    unit = record.lexicon.units.get(values.unit)
    _require(numbers != "1" or len(values.unit) < 4)  # "1 stunden"
    if unit is None:
        return AttributeValue(numbers, numbers, numbers)
    return AttributeValue(f"{numbers} {unit.german}", f"{numbers} {unit.english}", numbers, values.unit)
