"""Cleaning as in Sokolov et al. 2017, section 2: each step, and the counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora import cleaning
from corpora.cleaning import (
    Cleaner,
    CleaningCounts,
    CleaningSettings,
    clean_all,
    has_many_numerals,
    point_decimals,
    pretokenise,
)
from corpora.non_printing import first_non_printing
from corpora.task import Pair
from task.limits import MAX_IN_DOMAIN_TOKENS

IN_DOMAIN = CleaningSettings("de", "en", MAX_IN_DOMAIN_TOKENS)
TOKENISED = CleaningSettings("de", "en", MAX_IN_DOMAIN_TOKENS, tokenised=True)

# Words with characters that tokenisation, lowercasing, decoding or whitespace could change once more.
FRAGILE_WORDS = [
    "it's",
    "'s",
    "'",
    "it'",
    "&amp;",
    "&amp;lt;",
    "&NBSP;",
    "\xa0",
    "1,5",
    "3",
    "z.b.",
    "...",
    "\xad",
    "İ",
    "„",
]
texts = st.lists(st.text(max_size=5) | st.sampled_from(FRAGILE_WORDS), max_size=9).map(" ".join)


@pytest.mark.parametrize("kept", ["32 unzen volumen", "maschinenwaschbar bei 30 ° c", ", 147 cm", "16.5x20 cm", "1.5"])
def test_sources_with_one_numeral_are_kept(kept):
    assert not has_many_numerals(kept)


@pytest.mark.parametrize("dropped", ["2 x 3 m", "10.5 x 3", "1.000.000 und 2"])
def test_sources_with_several_numerals_are_removed(dropped):
    assert has_many_numerals(dropped)


def test_commas_between_digits_become_points():
    assert point_decimals("gewicht: 1,5 kg") == "gewicht: 1.5 kg"
    assert point_decimals("1,000 pieces") == "1.000 pieces"
    assert point_decimals("rot, 3, blau") == "rot, 3, blau"


def test_pretokenisation_rejoins_split_words():
    assert pretokenise("it' s the king' s", "en") == "it's the king's"
    assert pretokenise("l' homme d' état", "fr") == "l'homme d'état"
    assert pretokenise("es' so", "de") == "es' so"


def test_punctuation_becomes_ascii():
    assert cleaning.normalise_punctuation("„Grün“ – schön…", "de") == '"Grün" - schön...'


def test_tokens_are_split_and_not_escaped():
    assert cleaning.tokenise('gewicht: 1.5 kg (netto) & "mehr"', "de") == 'gewicht : 1.5 kg ( netto ) & " mehr "'
    assert cleaning.tokenise("don't touch it.'", "en") == "don 't touch it . '"


def test_a_pair_goes_through_all_steps_in_order():
    pair = Pair("Gewicht:\u00a01,5\u00adkg – „Größe XL“", "WEIGHT: 1,5 kg, it' s “XL”", "doc")
    assert Cleaner(IN_DOMAIN).clean(pair) == Pair(
        'gewicht : 1.5kg - " größe xl "', 'weight : 1.5 kg , it \'s " xl "', "doc"
    )


@pytest.mark.parametrize(
    ("source", "target", "step"),
    [
        ("2 x 3 m", "2 x 3 m", "several numerals"),
        ("\u00ad", "nothing", "empty side"),
        ("nichts", " \t ", "empty side"),
        ("wort " * 26, "word", "more than 25 tokens"),
        ("wort", "word " * 26, "more than 25 tokens"),
        ("w" * 10_001, "word", "more than 10,000 characters"),
    ],
)
def test_each_filter_counts_what_it_removes(source, target, step):
    cleaner = Cleaner(IN_DOMAIN)
    assert cleaner.clean(Pair(source, target)) is None
    assert {name: number for name, number in cleaner.counts.removed.items() if number} == {step: 1}
    assert (cleaner.counts.read, cleaner.counts.kept) == (1, 0)


def test_numerals_of_the_target_do_not_matter():
    assert Cleaner(IN_DOMAIN).clean(Pair("zwei mal drei", "2 x 3")) == Pair("zwei mal drei", "2 x 3")


def test_steps_count_the_pairs_that_they_change():
    cleaner = Cleaner(IN_DOMAIN)
    cleaner.clean(Pair("Rot", "red"))
    cleaner.clean(Pair("rot", "red"))
    assert {name: number for name, number in cleaner.counts.changed.items() if number} == {"lowercase": 1}


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_clean_pair_is_single_spaced_and_printable(source, target):
    pair = Cleaner(IN_DOMAIN).clean(Pair(source, target))
    for side in pair[:2] if pair else ():
        assert side
        assert side == " ".join(side.split())
        assert first_non_printing(side) is None


def test_entities_are_decoded_before_tokenisation():
    pair = Pair("Hosen &amp; R&ouml;cke: 5&nbsp;cm", "it&#39;s &amp;quot;new&amp;quot; &#91;xl&#93;")
    assert Cleaner(IN_DOMAIN).clean(pair) == Pair("hosen & röcke : 5 cm", 'it \'s " new " [ xl ]')


def test_tokenised_text_keeps_its_tokens():
    pair = Pair("Er  sagt : \u201e z.B. 1,5 kg \u201c", "it 's don 't \u2013 Moses wrote &apos;s", "doc")
    assert Cleaner(TOKENISED).clean(pair) == Pair(
        "er sagt : \u201e z.b. 1,5 kg \u201c", "it 's don 't \u2013 moses wrote 's", "doc"
    )


@pytest.mark.parametrize(
    ("source", "target", "step"),
    [
        ("2 x 3 m", "2 x 3 m", "several numerals"),
        ("\u00ad", "nothing", "empty side"),
        ("wort " * 26, "word", "more than 25 tokens"),
    ],
)
def test_tokenised_text_is_filtered_too(source, target, step):
    cleaner = Cleaner(TOKENISED)
    assert cleaner.clean(Pair(source, target)) is None
    assert {name for name, number in cleaner.counts.removed.items() if number} == {step}


@pytest.mark.parametrize("settings", [IN_DOMAIN, TOKENISED])
@given(source=texts, target=texts)
def test_cleaning_changes_clean_text_no_more_if_it_is_tokenised(settings, source, target):
    cleaned = Cleaner(settings).clean(Pair(source, target))
    if cleaned is not None:
        assert Cleaner(TOKENISED).clean(cleaned) == cleaned


@pytest.mark.parametrize("processes", [1, 2])
def test_order_and_counts_are_the_same_on_any_number_of_processes(processes, monkeypatch):
    monkeypatch.setattr(cleaning, "CHUNK_SIZE", 7)
    counts = CleaningCounts()
    pairs = (Pair(f"Satz {'1 2' if number % 10 == 0 else ''} x{number}", "Sentence") for number in range(100))
    cleaned = list(clean_all(pairs, IN_DOMAIN, counts, processes=processes))
    assert [pair.source for pair in cleaned] == [f"satz x{number}" for number in range(100) if number % 10]
    assert (counts.read, counts.kept) == (100, 90)
    assert counts.removed["several numerals"] == 10
    assert counts.as_record()["read"] == 100


@pytest.mark.parametrize("settings", [IN_DOMAIN, TOKENISED])
def test_every_step_is_counted_without_any_pairs(settings):
    counts = CleaningCounts()
    assert list(clean_all([], settings, counts)) == []
    assert list(counts.removed) == list(cleaning.cleaning_steps(settings))
