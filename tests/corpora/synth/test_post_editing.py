"""Every kind of change in Sokolov et al. 2017, Table 1."""

import pytest

from corpora.synth import post_editing
from corpora.synth.post_editing import HouseStyle
from corpora.synth.random_stream import RandomStream


def outcomes(make, times=300):
    """Return everything that a random operation can produce."""
    rng = RandomStream("outcomes")
    return {make(rng) for _ in range(times)}


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("schwarz , größe xxl", "schwarz , gr. xxl"),
        ("ladezeit : ungefähr ein tag", "ladezeit : ca. ein tag"),
        ("brenndauer 40 stunden", "brenndauer 40 std"),
        ("für elektrogitarre entworfen", "für e-gitarre entworfen"),
        ("inklusive 16 ringe", "inklusive 16 ringe"),  # the tokenizer would split "inkl." before a number
    ],
)
def test_vendors_abbreviate(full, short):
    assert " ".join(post_editing.abbreviate(full.split())) == short


def test_vendors_make_typos():
    slips = outcomes(lambda rng: " ".join(post_editing.add_typo(["nahtlose", "verarbeitung"], "", rng)))
    assert "nahtlose verarbeitung" not in slips
    assert {"nahtlose verarebitung", "nahtlose verabeitung", "nathlose verarbeitung"} <= slips


def test_brands_are_not_mistyped():
    words = outcomes(lambda rng: post_editing.add_typo(["norsen", "größe"], "norsen", rng)[0])
    assert words == {"norsen"}


def test_umlauts_are_transcribed():
    assert post_editing.add_typo(["größe"], "", RandomStream(0)) != ["größe"]
    assert "groeße" in outcomes(lambda rng: post_editing.add_typo(["größe"], "", rng)[0])


def test_vendors_leave_stray_punctuation():
    texts = outcomes(lambda rng: " ".join(post_editing.add_stray_punctuation(["147", "cm"], rng)))
    assert texts == {", 147 cm", "- 147 cm", "147 cm ,", "147 cm :"}


def test_editors_spell_out_degrees():
    edited = outcomes(lambda rng: post_editing.editor_english("machine washable at 30 ° c", HouseStyle(0), rng))
    assert edited == {"machine washable at 30 degrees", "machine washable at 30 ° c"}


def test_a_house_style_prefers_one_variant_but_not_always():
    style = HouseStyle.of("bedding")
    rng = RandomStream("house")
    chosen = [style.variant("{brand} {product}", 3, rng) for _ in range(1000)]
    shares = sorted(chosen.count(variant) / 1000 for variant in range(3))
    assert shares[2] > 0.78
    assert shares[0] > 0.03


def test_house_styles_differ():
    renderings = {
        tuple(HouseStyle(n).variant(name, 3, RandomStream(0)) for name in "abcdefgh")
        for n in range(post_editing.HOUSE_STYLES)
    }
    assert len(renderings) == post_editing.HOUSE_STYLES


def test_synonyms_replace_whole_words_only():
    rephrased = {
        HouseStyle(n).rephrase("modern enlarged box", RandomStream(n)) for n in range(post_editing.HOUSE_STYLES)
    }
    assert rephrased <= {"modern enlarged box", "contemporary enlarged box"}


def test_a_synonym_has_its_own_article():
    rephrased = outcomes(lambda rng: HouseStyle(rng.below(post_editing.HOUSE_STYLES)).rephrase("an elegant bag", rng))
    assert rephrased == {"an elegant bag", "a stylish bag"}


def test_a_synonym_does_not_repeat_a_word_of_the_line():
    for number in range(post_editing.HOUSE_STYLES):
        for seed in range(20):
            assert HouseStyle(number).rephrase("sturdy and durable", RandomStream(seed)) == "sturdy and durable"


def test_vendors_write_poor_english():
    poor = outcomes(lambda rng: post_editing.vendor_english("the nylon bag ensures 1050 denier quality .", rng))
    assert "nylon bag ensures 1050 denier quality ." in poor  # no articles
    assert "the nylon bag ensure 1050 denier quality ." in poor  # no agreement
    assert "the nylon bag ensures 1050d qlty ." in poor  # abbreviated
    assert "the nylon bag ensures 1050 denier quality !" in poor
    assert "great for nails" in outcomes(lambda rng: post_editing.vendor_english("for nails", rng))
