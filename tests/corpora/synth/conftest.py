"""A type of product and a record of it."""

import pytest

from corpora.synth.lexicon.entries import Attribute, Category, GeneratorLexicon, Part, Phrase
from corpora.synth.lexicon.notation import EVERYWHERE, parse_values
from corpora.synth.product_records import AttributeValue, ProductRecord
from corpora.synth.products import ProductType
from tests.corpora.synth.words import ADAPT, BLANKET, COTTON, HANDLE, RED, SOFT, STURDY, UNITS, WEIGHT


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
        actions=[ADAPT],
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
        action=ADAPT,
        brand="norsen",
        code="ab-123",
    )
