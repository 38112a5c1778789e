"""The lexicon's files follow their own rules, and the reader refuses what does not."""

import re
from pathlib import Path

import pytest

from corpora.cleaning import Cleaner, Settings
from corpora.synth import lexicon, plausibility
from corpora.synth.lexicon.__main__ import main
from corpora.synth.lexicon.entries import NumberRange
from corpora.synth.lexicon.notation import (
    EVERYWHERE,
    NotationError,
    parse_action,
    parse_noun,
    parse_preposition,
    parse_values,
    parse_verb,
    tokenised_text,
)
from corpora.synth.lexicon.reader import LexiconReader
from corpora.synth.topic_lexicon import TopicLexicon
from corpora.task import Pair


def test_the_lexicon_has_no_mistakes(capsys):
    assert main() == 0
    assert "0 mistakes" in capsys.readouterr().out


def test_there_are_several_thousand_stems():
    words = lexicon.load()
    nouns = {noun.lemma for category in words.categories for noun in category.heads}
    nouns |= {accessory.noun.lemma for category in words.categories for accessory in category.accessories}
    nouns |= {part.noun.lemma for category in words.categories for part in category.parts}
    nouns |= {entry.noun.lemma for topic in words.topics for entry in topic.nouns}
    assert len(nouns) > 3000
    assert len(words.categories) >= 30
    assert len(words.topics) >= 10


def test_at_least_150_words_change_their_sense():
    shifts = lexicon.load().shifts
    assert len({shift.german for shift in shifts}) >= 150
    for shift in shifts:
        assert (set(shift.news.split("/")) - {"-"}).isdisjoint(shift.shop.split("/")), shift


def test_rules_of_usage_are_about_words_that_there_are():
    categories = lexicon.load().categories
    assert {head.lemma for category in categories for head in category.heads} >= plausibility.SOLD_BY_THE_DOZEN
    assert {part.noun.lemma for category in categories for part in category.parts} >= plausibility.STANDARD_PARTS
    assert {
        feature.adjective.lemma for category in categories for feature in category.features
    } >= plausibility.COLORED_ADJECTIVES
    accessories = {accessory.noun.lemma for category in categories for accessory in category.accessories}
    assert all(any(lemma.endswith(paper) for lemma in accessories) for paper in plausibility.MINOR_ACCESSORY_ENDINGS)


def test_no_line_contradicts_itself_or_stutters():
    assert plausibility.is_contradictory("herrenschuh für damen")
    assert not plausibility.is_contradictory("herrenschuh für den winter")
    assert plausibility.repeats_template_word("der napf überzeugt durch füße und überzeugt tierhalter .")
    assert not plausibility.repeats_template_word("der napf überzeugt durch füße .")


def test_weak_nouns_are_told_by_their_genitive():
    assert parse_noun("der kunde, kunden, kunden", "customer", {}).weak
    assert not parse_noun("der name, namen, namens", "name", {}).weak
    assert not parse_noun("der wagen, wagen, wagens", "car", {}).weak


def test_notation_of_verbs_and_actions():
    agreed = parse_verb("sich einigen: einigt, einigte, geeinigt", "agree")
    assert (agreed.infinitive, agreed.reflexive, agreed.prefix) == ("einigen", True, "")
    adapts = parse_action("passt an, anpassen", "sich dem körper", "adapt to the body", EVERYWHERE)
    assert (adapts.present, adapts.prefix, adapts.english.third, adapts.english_rest) == (
        "passt",
        "an",
        "adapts",
        "to the body",
    )
    assert parse_preposition("über+acc/on_top_of").english == "on top of"


def test_notation_of_values():
    assert parse_values("0.5..3:0.5 kg").ranges == (NumberRange(5, 30, 5, 1),)
    assert [r.high for r in parse_values("140..240:20 x 200..220 cm").ranges] == [240, 220]
    assert [c.english for c in parse_values("{rund=round, eckig=square}").choices] == ["round", "square"]
    assert parse_values("@colors").shared == "colors"


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("weich, warm", "spaces around punctuation"),
        ("bis 20 m²", "spaces around punctuation"),
        ("inkl. 16 ringe", "the tokeniser would split 'inkl.'"),
        ("größe {size}", "unknown slot"),
        ("10 bis 20 stück", "has more than one number"),
    ],
)
def test_free_text_must_be_tokenised(written, reason):
    with pytest.raises(NotationError, match=reason):
        tokenised_text(written)


SHOP = "[category]\nx | X | x\n[heads]\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("Decke, Decken | blanket", "shop/x.txt:4: 'decke, decken' does not start with der, die, das or pl"),
        ("die Decke | blanket", "shop/x.txt:4: 'die decke' should be: article lemma, plural[, genitive]"),
        ("die Decke, Decken", "shop/x.txt:4: has 1 columns, but should have 2"),
        ("die Decke, Decken | ", "shop/x.txt:4: has an empty column"),
        ("die Decke, Decken | blanket ; color=red", "shop/x.txt:4: has the unknown option color"),
        ("[products]\ndie Decke, Decken | blanket", "shop/x.txt:5: unknown section [products]"),
        ("[modifiers]\nWinter | winter ; only=Hut", "shop/x.txt:5: [heads] does not list hut"),
        ("[attributes]\ndie Höhe, - | height/- | 1..3 ell", "shop/x.txt:5: units.txt does not list the unit 'ell'"),
        ("[attributes]\ndie Höhe, - | height/- | viel", "shop/x.txt:5: 'viel' should be from..to:step"),
        ("[attributes]\ndie Höhe, - | height/- | 3..1 g", "shop/x.txt:5: the range '3..1' is empty"),
        ("[lines]\naus {material} | nothing", "shop/x.txt:5: both sides must have the same slots, each of them once"),
        ("[actions]\nsorgt | für Ruhe | ensure quiet", "shop/x.txt:5: 'sorgt' should be: 3sg, infinitive"),
    ],
)
def test_mistakes_are_reported_with_file_and_line(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(_lexicon(tmp_path, shop=SHOP + line))
    reader.read()
    assert complaint in reader.mistakes


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[nouns]\nder Rat, Räte | council ; class=body", "news/y.txt:4: class=body should be some of "),
        (
            "[verbs]\ngehen: geht, ging | go ; subj=person",
            "news/y.txt:4: 'gehen: geht, ging' should be infinitive: present",
        ),
        ("[verbs]\nanrufen: ruft an, rief auf, angerufen | call ; subj=person", "does not start with the prefix 'auf'"),
        (
            "[verbs]\nloben: lobt, lobte, gelobt | praise ; subj=person obj=plan that",
            "needs a line for each of obj, that",
        ),
        ("[verbs]\nwarnen: warnt, warnte, gewarnt | warn ; subj=person pobj=plan", "prep= and pobj= go together"),
    ],
)
def test_mistakes_in_the_news(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(_lexicon(tmp_path, news="[topic]\ny | Y | y\n" + line))
    reader.read()
    assert any(complaint in mistake for mistake in reader.mistakes)


def test_some_adjectives_cannot_be_predicates(tmp_path: Path):
    lines = "[adjectives]\nehemalig | former ; of=person attributive\nmutig | brave ; of=person\n"
    reader = LexiconReader(_lexicon(tmp_path, news="[topic]\ny | Y | y\n" + lines))
    words = reader.read()
    topic = TopicLexicon(words.topics[0], words.general)
    assert [word.lemma for word in topic.adjectives["person"]][:2] == ["ehemalig", "mutig"]
    assert [word.lemma for word in topic.predicates["person"]][:1] == ["mutig"]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[nouns]\nder Absatz, Absätze | heel | heel ; class=thing topics=y role=part cats=x", "in both domains"),
        (
            "[nouns]\nder Absatz, Absätze | sales/- | heel ; class=thing topics=y role=part cats=shoes",
            "there is no file of shoes",
        ),
        (
            "[nouns]\nder Absatz, Absätze | sales/- | heel ; class=thing topics=y role=foot cats=x",
            "role=foot should be one of",
        ),
        ("[adjectives]\nfein | fine | delicate ; of=org", "must name files, or *"),
    ],
)
def test_mistakes_in_the_shifts(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(_lexicon(tmp_path, news="[topic]\ny | Y | y\n", shifts=line))
    reader.read()
    assert any(complaint in mistake for mistake in reader.mistakes)


def test_a_shifted_noun_enters_both_domains(tmp_path: Path):
    line = "[nouns]\nder Absatz, Absätze | sales/- | heel ; class=amount topics=y role=part cats=x"
    words = LexiconReader(_lexicon(tmp_path, news="[topic]\ny | Y | y\n", shifts=line)).read()
    assert words.topics[0].nouns[0].noun.english.singular == "sales"
    assert words.categories[0].parts[0].noun.english.singular == "heel"


def _lexicon(home: Path, *, shop: str = SHOP, news: str = "", shifts: str = "") -> Path:
    for name in ("shop", "news"):
        (home / name).mkdir()
    (home / "shop" / "x.txt").write_text(shop, "utf-8")
    (home / "news" / "y.txt").write_text(news, "utf-8")
    (home / "shifts.txt").write_text(shifts, "utf-8")
    (home / "colors.txt").write_text("[colors]\nrot | red\n", "utf-8")
    (home / "brands.txt").write_text("[brands]\nNorsen\n", "utf-8")
    (home / "units.txt").write_text("[units]\ng | g | gram | gramm\n", "utf-8")
    return home


def test_cleaning_leaves_every_line_of_every_category_as_it_is():
    words = lexicon.load()
    cleaner = Cleaner(Settings("de", "en", 25))
    for category in words.categories:
        for line in [*category.lines, *category.uses]:
            sides = [re.sub(r"\{n:(\d+)[^}]*\}", r"\1", side) for side in (line.german, line.english)]
            pair = Pair(*(re.sub(r"\{\w+\}", "rot", side) for side in sides))
            assert cleaner.clean(pair) == pair
