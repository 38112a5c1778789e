"""Slots are inflected in agreement with what fills them."""

import pytest

from corpora.synth.lexicon import load
from corpora.synth.lexicon.entries import Attribute, Category, GeneratorLexicon, MeasurementUnit, Part, Phrase
from corpora.synth.lexicon.notation import EVERYWHERE, parse_action, parse_adjective, parse_noun, parse_values
from corpora.synth.products import ProductType
from corpora.synth.random_stream import RandomStream
from corpora.synth.records import AttributeValue, ProductRecord, UnfillableSlotError, sample_record
from corpora.synth.templates import (
    TEMPLATE_DIRECTORY,
    TextTemplateError,
    compile_template,
    from_category_line,
    read_templates,
)

BLANKET = parse_noun("die decke, decken", "blanket", {})
HANDLE = parse_noun("der griff, griffe", "handle", {})
COTTON = parse_noun("die baumwolle, -", "cotton/-", {})
WEIGHT = parse_noun("das gewicht, gewichte, gewichts", "weight", {})
BAG = parse_noun("der beutel, beutel", "bag", {})
SOFT = parse_adjective("weich", "soft")
STURDY = parse_adjective("robust", "sturdy")
RED = parse_adjective("rot", "red")
ENSURE = parse_action("passt an, anpassen", "sich dem körper", "adapt to the body", EVERYWHERE)
UNITS = {"g": MeasurementUnit("g", "g", "gram", "gramm"), "monate": MeasurementUnit("monate", "months", "month", "")}


@pytest.fixture
def product_type():
    weight = Attribute(WEIGHT, parse_values("300..300 g"), EVERYWHERE)
    return ProductType(
        category=Category("bedding", "bettwaren", "bedding"),
        head=BLANKET,
        compounds=[],
        features=[SOFT, STURDY],
        materials=[COTTON],
        parts=[Part(HANDLE, (STURDY,), False, EVERYWHERE)],
        attributes=[weight],
        uses=[Phrase("für kinder", "for children"), Phrase("im garten", "in the garden")],
        actions=[ENSURE],
        accessories=[],
        handlings=[],
        colorful=True,
        sized=False,
        compounds_without_material=[],
        compounds_of_any_color=[],
    )


@pytest.fixture
def record(product_type):
    return ProductRecord(
        product_type,
        GeneratorLexicon(colors=[RED], brands=["norsen"], units=UNITS),
        BLANKET,
        features=(SOFT, STURDY),
        color=RED,
        material=COTTON,
        part=product_type.parts[0],
        part_adjective=STURDY,
        attribute=product_type.attributes[0],
        value=AttributeValue("300 g", "300 g", "300", "g"),
        use=product_type.uses[0],
        action=ENSURE,
        brand="norsen",
        code="ab-123",
    )


@pytest.mark.parametrize(
    ("german", "english", "expected"),
    [
        ("{color product}", "{color product}", ("rote decke", "red blanket")),
        ("{ein feature product:dat}", "{a feature product}", ("einer weichen decke", "a soft blanket")),
        ("mit {padj part:dat}", "with {a padj part}", ("mit robustem griff", "with a sturdy handle")),
        ("{der feature feature2 products:dat}", "{the products}", ("den weichen robusten decken", "the blankets")),
        (
            "{der product} {action}",
            "{the product} {action}",
            ("die decke passt sich dem körper an", "the blanket adapts to the body"),
        ),
        (
            "{products} {action:pl}",
            "{products} {action:base}",
            ("decken passen sich dem körper an", "blankets adapt to the body"),
        ),
        (
            "{ein product} , {rel} {action:sub}",
            "{a product} that {action}",
            ("eine decke , die sich dem körper anpasst", "a blanket that adapts to the body"),
        ),
        ("{long} {measured}", "{hyphenated} {measured}", ("300 gramm gewicht", "300-gram weight")),
        ("{der measured} {der product:gen} : {measure:dat}", "{measure}", ("das gewicht der decke : 300 g", "300 g")),
        ("{brand} {code} , {personal}", "{brand} {code}", ("norsen ab-123 , sie", "norsen ab-123")),
    ],
)
def test_rendering(record, german, english, expected):
    template = compile_template("test", german, [english])
    assert (template.render_german(record), template.render_english(record, 0)) == expected


def test_what_is_measured_has_an_article(record):
    record.attribute = Attribute(parse_noun("das volumen, -", "capacity/-", {}), parse_values("3..3 l"), EVERYWHERE)
    template = compile_template("test", "mit {ein measured:dat} von {measure:dat}", ["with {a measured} of {measure}"])
    assert template.render_german(record) == "mit einem volumen von 300 g"
    assert template.render_english(record, 0) == "with a capacity of 300 g"


def test_units_that_are_words_have_a_dative(record):
    record.value = AttributeValue("12 monate", "12 months", "12", "monate")
    assert compile_template("test", "bei {measure:dat}", ["{measure}"]).render_german(record) == "bei 12 monaten"


def test_a_stronger_need_replaces_the_weaker():
    assert compile_template("test", "{feature product} {feature2word}", ["x"]).requirements == ("feature2",)
    assert compile_template("test", "{der padj part} {ein product}", ["x"]).requirements == ("singular", "padj")


def test_lines_of_a_category_have_numbers(product_type):
    template = from_category_line("bedding", Phrase("bei {n:30..30} ° c , {color}", "at {n:30..30} ° c , {color}"))
    record = sample_record(product_type, GeneratorLexicon(colors=[RED]), template.requirements, RandomStream(1))
    template.fill_numbers(record, RandomStream(1))
    assert template.render_german(record) == "bei 30 ° c , rot"
    assert template.render_english(record, 0) == "at 30 ° c , red"


def test_a_ware_without_what_is_needed_is_refused(product_type):
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("accessory",), RandomStream(1))


def test_nobody_misses_a_warranty_card(product_type):
    product_type.accessories = [parse_noun("die garantiekarte, garantiekarten", "warranty card", {}), BAG]
    assert {
        sample_record(product_type, GeneratorLexicon(), ("missed accessory",), RandomStream(seed)).accessory
        for seed in range(20)
    } == {BAG}


def test_exact_numbers_are_not_measured(product_type):
    product_type.attributes = [Attribute(WEIGHT, parse_values("2..4 stück"), EVERYWHERE)]
    pieces = GeneratorLexicon(units={"stück": MeasurementUnit("stück", "pieces", "piece", "")})
    value = sample_record(product_type, pieces, ("value",), RandomStream(1)).value
    assert value is not None
    assert value.unit == "stück"
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, pieces, ("measure",), RandomStream(1))


def test_only_small_things_come_by_the_dozen(product_type):
    assert (
        max(
            sample_record(product_type, GeneratorLexicon(), ("count",), RandomStream(seed)).count for seed in range(300)
        )
        == 4
    )
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("pack",), RandomStream(1))
    product_type.head = parse_noun("die tasse, tassen", "cup", {})
    assert (
        max(sample_record(product_type, GeneratorLexicon(), ("pack",), RandomStream(seed)).count for seed in range(300))
        > 12
    )


def drawn(product_type, requirements, seeds=range(60), **lists):
    """What is drawn with some seeds; a product_type that has it not is left out."""
    for seed in seeds:
        try:
            yield sample_record(product_type, GeneratorLexicon(**lists), requirements, RandomStream(seed))
        except UnfillableSlotError:
            continue


def test_nothing_is_said_twice(product_type):
    assert {record.features[0] for record in drawn(product_type, ("feature", "padj"))} == {SOFT}
    product_type.compounds = [parse_noun("die weichdecke, weichdecken", "plush blanket", {})]
    softer = [record for record in drawn(product_type, ("feature",)) if record.product is not BLANKET]
    assert {record.features[0] for record in softer} == {STURDY}
    product_type.materials = [COTTON, parse_noun("das plüsch, -", "plush/-", {})]
    product_type.compounds_without_material = product_type.compounds
    plush = [record for record in drawn(product_type, ("material",)) if record.product is not BLANKET]
    assert {record.material for record in plush} == {COTTON}


def test_what_is_colorful_has_no_other_color(product_type):
    product_type.features = [parse_adjective("bunt", "colorful"), SOFT]
    assert {record.features[0] for record in drawn(product_type, ("feature", "color"), colors=[RED])} == {SOFT}


def test_gold_has_one_color(product_type):
    ring = parse_noun("die golddecke, golddecken", "gold blanket", {})
    product_type.compounds, product_type.compounds_of_any_color = [ring], []
    assert {record.product for record in drawn(product_type, ("feature",))} == {ring, BLANKET}
    assert {record.product for record in drawn(product_type, ("color",), colors=[RED])} == {BLANKET}


def test_a_bare_value_says_what_it_is(product_type):
    product_type.attributes = [Attribute(WEIGHT, parse_values("{solide=solid, sauber=clean}"), EVERYWHERE)]
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(units=UNITS), ("figure",), RandomStream(1))
    product_type.attributes = [Attribute(WEIGHT, parse_values("300..300 g"), EVERYWHERE)]
    record = sample_record(product_type, GeneratorLexicon(units=UNITS), ("figure",), RandomStream(1))
    assert compile_template("test", "{figure}", ["{figure}"]).render_german(record) == "300 g"


def test_what_cannot_be_counted_has_no_indefinite_article(record):
    record.part = Part(parse_noun("die sheabutter, -", "shea butter/-", {}), (SOFT,), False, EVERYWHERE)
    record.part_adjective = SOFT
    template = compile_template("test", "bietet {ein padj part:acc}", ["offers {a padj part}"])
    assert template.render_german(record) == "bietet weiche sheabutter"
    assert template.render_english(record, 0) == "offers soft shea butter"


def test_blankets_and_other_blankets_are_not_the_same(product_type):
    with pytest.raises(UnfillableSlotError):
        sample_record(product_type, GeneratorLexicon(), ("plural", "heads"), RandomStream(1))


def test_suitable_for_takes_purposes_only(product_type):
    assert {
        sample_record(product_type, GeneratorLexicon(), ("fit",), RandomStream(seed)).use for seed in range(20)
    } == {product_type.uses[0]}


@pytest.mark.parametrize("german", ["{gadget}", "{ein}", "{pretty product}"])
def test_unknown_slots_are_refused(german):
    with pytest.raises(TextTemplateError, match="unknown slot"):
        compile_template("test", german, ["x"])


def test_english_cannot_mention_what_the_german_does_not():
    with pytest.raises(TextTemplateError, match=r"'in \{colorword\}' names color, but the German does not"):
        compile_template("test", "{product}", ["in {colorword}"])


def test_some_templates_are_for_some_categories(tmp_path):
    path = tmp_path / "templates.txt"
    path.write_text("[s]\na | a ; only=lamps,car\nb | b ; except=lamps\nc | c\n", "utf-8")
    assert [
        [category for category in ("lamps", "car", "toys") if template.scope.admits(category)]
        for _, template in read_templates(path)
    ] == [["lamps", "car"], ["car", "toys"], ["lamps", "car", "toys"]]


@pytest.mark.parametrize("name", ["templates.txt", "retail.txt"])
def test_scopes_name_categories(name):
    known = {category.identifier for category in load().categories}
    for _, template in read_templates(TEMPLATE_DIRECTORY / name):
        assert template.scope.only | template.scope.excluded <= known, template.name


def test_files_are_refused_with_their_line(tmp_path):
    path = tmp_path / "templates.txt"
    path.write_text("[s]\n{product} | {product}\n{product}\n", "utf-8")
    with pytest.raises(TextTemplateError, match=r"templates.txt:3: has no English text"):
        read_templates(path)
    path.write_text("[s]\n{product} | {product} ; cats=lamps\n", "utf-8")
    with pytest.raises(TextTemplateError, match=r"templates.txt:2: unknown option cats"):
        read_templates(path)
