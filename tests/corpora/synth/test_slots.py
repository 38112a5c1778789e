"""Slots are filled from a product record and inflected in agreement."""

import pytest

from corpora.synth.lexicon.entries import Attribute, Part
from corpora.synth.lexicon.notation import EVERYWHERE, parse_noun, parse_values
from corpora.synth.product_records import AttributeValue
from corpora.synth.templates import compile_template
from tests.corpora.synth.words import SOFT


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
def test_slots_are_inflected_in_agreement(record, german, english, expected):
    template = compile_template("test", german, [english])
    assert (template.render_german(record), template.render_english(record, 0)) == expected


def test_a_measured_attribute_has_an_article(record):
    record.attribute = Attribute(parse_noun("das volumen, -", "capacity/-", {}), parse_values("3..3 l"), EVERYWHERE)
    template = compile_template("test", "mit {ein measured:dat} von {measure:dat}", ["with {a measured} of {measure}"])
    assert template.render_german(record) == "mit einem volumen von 300 g"
    assert template.render_english(record, 0) == "with a capacity of 300 g"


def test_units_that_are_words_are_inflected(record):
    record.value = AttributeValue("12 monate", "12 months", "12", "monate")
    assert compile_template("test", "bei {measure:dat}", ["{measure}"]).render_german(record) == "bei 12 monaten"


def test_a_mass_noun_has_no_indefinite_article(record):
    record.part = Part(parse_noun("die sheabutter, -", "shea butter/-", {}), (SOFT,), False, EVERYWHERE)
    record.part_adjective = SOFT
    template = compile_template("test", "bietet {ein padj part:acc}", ["offers {a padj part}"])
    assert template.render_german(record) == "bietet weiche sheabutter"
    assert template.render_english(record, 0) == "offers soft shea butter"
