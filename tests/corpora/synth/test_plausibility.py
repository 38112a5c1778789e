"""Lines are plausible: no repetitions, no contradictions, and no products that a shop would not sell."""

import re
from contextlib import suppress
from itertools import combinations

import pytest

from corpora.synth import lexicon
from corpora.synth.generator import CorpusGenerator
from corpora.synth.plausibility import (
    COLORED_ADJECTIVES,
    EXCLUSIVE_ADJECTIVES,
    MINOR_ACCESSORY_ENDINGS,
    SOLD_BY_THE_DOZEN,
    SOLD_IN_SETS,
    STANDARD_PARTS,
    is_contradictory,
    repeats_any,
    repeats_template_word,
    shares_stem,
    use_kind,
)
from corpora.synth.product_records import UnfillableSlotError, sample_record
from corpora.synth.random_stream import RandomStream
from corpora.synth.shop import Shop

ENDING = "(?:e[mnrs]?)?"


@pytest.fixture(scope="module")
def drafts():
    """Lines before editing, with the records that they render."""
    shop, rng = Shop(lexicon.load(), "training"), RandomStream(3, "clean lines")
    return [shop.draft(rng) for _ in range(10_000)]


def adjectives(record):
    return [one for one in (*record.features, record.part_adjective) if one is not None]


def test_no_line_repeats_an_adjective_in_german(drafts):
    for draft in drafts:
        for one in adjectives(draft.record):
            found = re.findall(rf"(?<!\S)(?:{one.lemma}|{one.stem or one.lemma}{ENDING})(?!\S)", draft.german)
            assert len(found) <= 1, draft.german


def test_no_line_repeats_an_adjective_in_english(drafts):
    for draft in drafts:
        english = f" {draft.template.render_english(draft.record, 0)} "
        for one in adjectives(draft.record):
            found = english.count(f" {one.english} ") + english.count(f" {one.english}ly ")
            assert found <= 1, english


def test_no_two_features_are_synonyms_or_opposites(drafts):
    pairs = {frozenset(one.lemma for one in draft.record.features) for draft in drafts}
    for group in (
        {"günstig", "preisgünstig", "preiswert"},
        {"lang", "kurz"},
        {"groß", "klein", "kompakt", "geräumig"},
        {"leise", "laut", "geräuscharm", "lautlos"},
        {"wasserdicht", "wasserabweisend", "spritzwassergeschützt"},
        {"haltbar", "langlebig", "unverwüstlich"},
    ):
        assert not {frozenset(pair) for pair in combinations(group, 2)} & pairs


def test_the_rules_name_features_and_products_of_the_lexicon():
    words = lexicon.load()
    features = {feature.adjective.lemma for category in words.categories for feature in category.features}
    heads = {head.lemma for category in words.categories for head in category.heads}
    assert set(EXCLUSIVE_ADJECTIVES) <= features
    assert heads >= SOLD_IN_SETS | SOLD_BY_THE_DOZEN
    assert not SOLD_IN_SETS & SOLD_BY_THE_DOZEN


def test_only_products_sold_in_sets_or_by_the_dozen_have_a_number(drafts):
    counted = {draft.record.product_type.head.lemma for draft in drafts if draft.record.count}
    assert len(counted) > 30
    assert not {"bett", "sofa", "aquarium", "dashcam", "waschmaschine", "sneaker", "gitarrenkoffer"} & counted
    assert counted <= SOLD_IN_SETS | SOLD_BY_THE_DOZEN


def test_no_feature_is_attributive_only_in_english():
    attributive = {"swivel", "folding", "rotating", "polka-dot", "solid-color", "off-road", "all-weather", "dead-blow"}
    for category in lexicon.load().categories:
        assert not attributive & {feature.adjective.english for feature in category.features}, category.identifier


def test_no_accessory_is_instructions_in_the_singular():
    for category in lexicon.load().categories:
        for accessory in category.accessories:
            assert "instructions " not in (accessory.noun.english.singular or "").replace("instructions for use", "")


@pytest.mark.parametrize(
    "text",
    [
        "der stuhl überzeugt durch hohe qualität und überzeugt kenner .",
        "der teller ist mikrowellengeeignet , ländlich und für festliche anlässe geeignet .",
        "die stiefelette bietet hohen tragekomfort und überzeugt durch hohe qualität .",
    ],
)
def test_a_slot_that_repeats_a_word_of_its_template_is_found(text):
    assert repeats_template_word(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("der ventilator mit leisen rotorblättern arbeitet angenehm leise .", "leis"),
        ("günstig , preisgünstig und ideal für heimwerker", "günstig"),
        ("heimtrainer von yormark schonen die gelenke und sind gelenkschonend .", "gelenkschonend"),
        ("the brake is reliable and brakes reliably", "reliable"),
        ("der mantel ist lang , sodass sie lange freude daran haben werden .", "lang"),
    ],
)
def test_words_with_the_stem_of_an_adjective_are_repetitions(text, word):
    assert repeats_any(text, [word])


def test_a_short_word_within_another_is_no_repetition():
    assert not repeats_any("rote jacke mit schrotkette", ["rot"])


def test_uses_that_name_the_same_thing_share_a_stem():
    assert shares_stem("für breite füße", "für empfindliche füße")
    assert not shares_stem("für die küche", "für den garten")


@pytest.mark.parametrize(
    "text",
    [
        "moderne gartensitzbank für wohn- und esszimmer",
        "gastro-entsafter für den haushalt",
        "felgengröße : mindestens 21 zoll",
        "lieferumfang : hemd und geschenkverpackung , originalverpackt",
    ],
)
def test_contradictory_lines_are_found(text):
    assert is_contradictory(text)


def test_the_news_rarely_repeats_a_long_word_in_a_line():
    lines = [german.split() for german, _ in CorpusGenerator(4).out_of_domain(2000)]
    short = [[word for word in line if len(word) > 8] for line in lines if len(line) <= 40]
    repeated = sum(len(set(words)) < len(words) for words in short)
    assert repeated / len(short) < 0.006


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("für heimwerker und profis", "person"),
        ("für die ganze familie", "person"),
        ("für büro und werkstatt", "place"),
        ("für das schlafzimmer", "place"),
        ("für arbeit und werkstatt", ""),
        ("für kuchen und torten", ""),
        ("zum geburtstag", "occasion"),
        ("für den perfekten auftritt", ""),
    ],
)
def test_uses_name_persons_places_or_occasions(use, expected):
    assert use_kind(use) == expected


def test_two_uses_in_a_line_are_of_one_kind(drafts):
    pairs = []
    for draft in drafts:
        with suppress(UnfillableSlotError):
            record = sample_record(
                draft.record.product_type, draft.record.lexicon, ("fit2",), RandomStream(draft.german)
            )
            assert record.use
            assert record.other_use
            pairs.append((record.use, record.other_use))
    assert len(pairs) > 100
    assert all(use_kind(one.german) == use_kind(other.german) != "" for one, other in pairs)


@pytest.mark.parametrize("line", ["saugfähiges silikonlätzchen", "höchsttemperatur : mindestens 200 grad celsius"])
def test_impossible_properties_are_found(line):
    assert is_contradictory(line)


def test_the_rules_name_words_of_the_lexicon():
    categories = lexicon.load().categories
    assert {head.lemma for category in categories for head in category.heads} >= SOLD_BY_THE_DOZEN
    assert {part.noun.lemma for category in categories for part in category.parts} >= STANDARD_PARTS
    assert {feature.adjective.lemma for category in categories for feature in category.features} >= COLORED_ADJECTIVES
    accessories = {accessory.noun.lemma for category in categories for accessory in category.accessories}
    assert all(any(lemma.endswith(paper) for lemma in accessories) for paper in MINOR_ACCESSORY_ENDINGS)


def test_contradictions_and_repetitions_are_found():
    assert is_contradictory("herrenschuh für damen")
    assert not is_contradictory("herrenschuh für den winter")
    assert repeats_template_word("der napf überzeugt durch füße und überzeugt tierhalter .")
    assert not repeats_template_word("der napf überzeugt durch füße .")
