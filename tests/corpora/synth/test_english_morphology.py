"""English inflection."""

import pytest

from corpora.synth import english_morphology
from corpora.synth.german_morphology import compound
from corpora.synth.lexicon.notation import parse_english_noun, parse_english_verb, parse_noun


@pytest.mark.parametrize(
    ("written", "singular", "plural"),
    [
        ("blanket", "blanket", "blankets"),
        ("box", "box", "boxes"),
        ("battery", "battery", "batteries"),
        ("tray", "tray", "trays"),
        ("knife/knives", "knife", "knives"),
        ("cotton/-", "cotton", "cotton"),
        ("-/scissors", "scissors", "scissors"),
    ],
)
def test_noun_forms(written, singular, plural):
    word = parse_english_noun(written, {})
    assert (english_morphology.noun_form(word, False), english_morphology.noun_form(word, True)) == (singular, plural)


@pytest.mark.parametrize(
    ("written", "article", "adjectives", "plural", "expected"),
    [
        ("blanket", "a", (), False, "a blanket"),
        ("umbrella", "a", (), False, "an umbrella"),
        ("umbrella", "a", ("red",), False, "a red umbrella"),
        ("blanket", "a", ("electric",), False, "an electric blanket"),
        ("cable", "a", ("usb",), False, "a usb cable"),
        ("led tail light", "a", (), False, "an led tail light"),
        ("user manual", "a", (), False, "a user manual"),
        ("blanket", "a", ("soft",), True, "soft blankets"),
        ("cotton/-", "a", ("soft",), False, "soft cotton"),
        ("-/scissors", "the", ("sharp",), False, "the sharp scissors"),
    ],
)
def test_noun_phrases(written, article, adjectives, plural, expected):
    assert english_morphology.noun_phrase(parse_english_noun(written, {}), article, adjectives, plural) == expected


def test_the_article_of_an_entry_overrides_the_spelling_rule():
    word = parse_english_noun("herb", {"an": ""})
    assert english_morphology.noun_phrase(word, "a", (), False) == "an herb"
    assert english_morphology.noun_phrase(word, "a", ("fresh",), False) == "a fresh herb"


def test_the_article_of_a_compound_is_that_of_its_first_word():
    light = parse_noun("das Rücklicht, Rücklichter", "tail light", {})
    assert english_morphology.noun_phrase(compound("led-", light, "led").english, "a", (), False) == "an led tail light"


def test_verbs_agree_with_the_english_noun():
    assert english_morphology.is_plural(parse_english_noun("-/police", {}), False)
    assert not english_morphology.is_plural(parse_english_noun("furniture/-", {}), True)


@pytest.mark.parametrize(
    ("written", "forms"),
    [
        ("announce", ("announce", "announces", "announced", "announced")),
        ("carry out", ("carry out", "carries out", "carried out", "carried out")),
        ("rise/rises/rose/risen", ("rise", "rises", "rose", "risen")),
    ],
)
def test_verb_forms(written, forms):
    verb = parse_english_verb(written)
    assert (verb.base, verb.third, verb.past, verb.participle) == forms


@pytest.mark.parametrize(
    ("tense", "affirmative", "negative"),
    [
        ("present", "rises", "does not rise"),
        ("preterite", "rose", "did not rise"),
        ("perfect", "has risen", "has not risen"),
        ("pluperfect", "had risen", "had not risen"),
        ("future", "will rise", "will not rise"),
        ("modal", "can rise", "can not rise"),
    ],
)
def test_verb_groups(tense, affirmative, negative):
    verb = parse_english_verb("rise/rises/rose/risen")
    assert english_morphology.verb_group(verb, tense, False) == affirmative
    assert english_morphology.negated_verb_group(verb, tense, False) == negative
