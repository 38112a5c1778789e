"""The lexicon itself: it has no mistakes and enough words."""

import re

from corpora.cleaning import Cleaner, CleaningSettings
from corpora.synth import lexicon
from corpora.synth.lexicon.__main__ import main
from corpora.task import Pair


def test_the_lexicon_has_no_mistakes(capsys):
    assert main() == 0
    assert "0 mistakes" in capsys.readouterr().out


def test_the_lexicon_has_several_thousand_nouns():
    words = lexicon.load()
    nouns = {noun.lemma for category in words.categories for noun in category.heads}
    nouns |= {accessory.noun.lemma for category in words.categories for accessory in category.accessories}
    nouns |= {part.noun.lemma for category in words.categories for part in category.parts}
    nouns |= {entry.noun.lemma for topic in words.topics for entry in topic.nouns}
    assert len(nouns) > 3000
    assert len(words.categories) >= 30
    assert len(words.topics) >= 10


def test_at_least_150_words_have_another_translation_in_the_shop():
    shifts = lexicon.load().shifts
    assert len({shift.german for shift in shifts}) >= 150
    for shift in shifts:
        assert (set(shift.news.split("/")) - {"-"}).isdisjoint(shift.shop.split("/")), shift


def test_cleaning_changes_no_line_of_a_category():
    words = lexicon.load()
    cleaner = Cleaner(CleaningSettings("de", "en", 25))
    for category in words.categories:
        for line in [*category.lines, *category.uses]:
            sides = [re.sub(r"\{n:(\d+)[^}]*\}", r"\1", side) for side in (line.german, line.english)]
            pair = Pair(*(re.sub(r"\{\w+\}", "rot", side) for side in sides))
            assert cleaner.clean(pair) == pair
