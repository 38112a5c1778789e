"""Product records: what can be said of a product, without redundancy."""

import pytest

from corpora.synth.lexicon.entries import Attribute, GeneratorLexicon, MeasurementUnit
from corpora.synth.lexicon.notation import EVERYWHERE, parse_adjective, parse_noun, parse_values
from corpora.synth.product_records import UnfillableSlotError, sample_record
from corpora.synth.random_stream import RandomStream
from corpora.synth.templates import compile_template
from tests.corpora.synth.words import BAG, BLANKET, COTTON, RED, SOFT, STURDY, UNITS, WEIGHT


def sample_records(product_type, *requirements, seeds=range(60), **lists):
    """Yield the records of some seeds, without those that the product cannot fill."""
    for seed in seeds:
        try:
            yield sample_record(product_type, GeneratorLexicon(**lists), requirements, RandomStream(seed))
        except UnfillableSlotError:
            continue


def test_a_slot_that_the_product_cannot_fill_is_an_error(product_type):
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("accessory",), RandomStream(1))


def test_a_warranty_card_is_not_named_as_missing(product_type):
    product_type.accessories = [parse_noun("die garantiekarte, garantiekarten", "warranty card", {}), BAG]
    assert {record.accessory for record in sample_records(product_type, "missed accessory")} == {BAG}


def test_a_count_is_no_measure(product_type):
    product_type.attributes = [Attribute(WEIGHT, parse_values("2..4 stück"), EVERYWHERE)]
    pieces = GeneratorLexicon(units={"stück": MeasurementUnit("stück", "pieces", "piece", "")})
    value = sample_record(product_type, pieces, ("value",), RandomStream(1)).value
    assert value is not None
    assert value.unit == "stück"
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, pieces, ("measure",), RandomStream(1))


def test_only_small_products_are_sold_by_the_dozen(product_type):
    assert max(record.count for record in sample_records(product_type, "count", seeds=range(300))) == 4
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("pack",), RandomStream(1))
    product_type.head = parse_noun("die tasse, tassen", "cup", {})
    assert max(record.count for record in sample_records(product_type, "pack", seeds=range(300))) > 12


def test_a_record_is_not_redundant(product_type):
    assert {record.features[0] for record in sample_records(product_type, "feature", "padj")} == {SOFT}
    product_type.compounds = [parse_noun("die weichdecke, weichdecken", "plush blanket", {})]
    softer = [record for record in sample_records(product_type, "feature") if record.product is not BLANKET]
    assert {record.features[0] for record in softer} == {STURDY}
    product_type.materials = [COTTON, parse_noun("das plüsch, -", "plush/-", {})]
    product_type.compounds_without_material = product_type.compounds
    plush = [record for record in sample_records(product_type, "material") if record.product is not BLANKET]
    assert {record.material for record in plush} == {COTTON}


def test_a_colorful_product_has_no_other_color(product_type):
    product_type.features = [parse_adjective("bunt", "colorful"), SOFT]
    assert {record.features[0] for record in sample_records(product_type, "feature", "color", colors=[RED])} == {SOFT}


def test_a_gold_product_has_no_other_color(product_type):
    ring = parse_noun("die golddecke, golddecken", "gold blanket", {})
    product_type.compounds, product_type.compounds_of_any_color = [ring], []
    assert {record.product for record in sample_records(product_type, "feature")} == {ring, BLANKET}
    assert {record.product for record in sample_records(product_type, "color", colors=[RED])} == {BLANKET}


def test_a_value_without_its_attribute_has_a_unit(product_type):
    product_type.attributes = [Attribute(WEIGHT, parse_values("{solide=solid, sauber=clean}"), EVERYWHERE)]
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(units=UNITS), ("figure",), RandomStream(1))
    product_type.attributes = [Attribute(WEIGHT, parse_values("300..300 g"), EVERYWHERE)]
    record = sample_record(product_type, GeneratorLexicon(units=UNITS), ("figure",), RandomStream(1))
    assert compile_template("test", "{figure}", ["{figure}"]).render_german(record) == "300 g"


def test_a_head_is_not_named_twice(product_type):
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("plural", "heads"), RandomStream(1))


def test_only_a_purpose_follows_suitable(product_type):
    assert {record.use for record in sample_records(product_type, "fit")} == {product_type.uses[0]}
