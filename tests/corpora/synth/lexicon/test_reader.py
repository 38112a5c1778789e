"""The reader of the lexicon's files reports every mistake with its file and line."""

from pathlib import Path

import pytest

from corpora.synth.lexicon.reader import LexiconReader
from tests.corpora.synth.lexicon.lexicons import SHOP, write_lexicon


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
def test_mistakes_in_a_category_are_reported_with_file_and_line(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(write_lexicon(tmp_path, shop=SHOP + line))
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
def test_mistakes_in_a_topic_are_reported(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(write_lexicon(tmp_path, news="[topic]\ny | Y | y\n" + line))
    reader.read()
    assert any(complaint in mistake for mistake in reader.mistakes)


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
def test_mistakes_in_the_sense_shifts_are_reported(tmp_path: Path, line: str, complaint: str):
    reader = LexiconReader(write_lexicon(tmp_path, news="[topic]\ny | Y | y\n", shifts=line))
    reader.read()
    assert any(complaint in mistake for mistake in reader.mistakes)


def test_a_noun_with_a_sense_shift_is_added_to_both_domains(tmp_path: Path):
    line = "[nouns]\nder Absatz, Absätze | sales/- | heel ; class=amount topics=y role=part cats=x"
    words = LexiconReader(write_lexicon(tmp_path, news="[topic]\ny | Y | y\n", shifts=line)).read()
    assert words.topics[0].nouns[0].noun.english.singular == "sales"
    assert words.categories[0].parts[0].noun.english.singular == "heel"
