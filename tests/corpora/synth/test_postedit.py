"""Every kind of editing in Table 1 of the task paper."""

import pytest

from corpora.synth import postedit
from corpora.synth.postedit import House
from corpora.synth.random_stream import RandomStream


def outcomes(make, times=300):
    """Everything a chance operation can produce."""
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
    assert " ".join(postedit.abbreviate(full.split())) == short


def test_vendors_mistype():
    slips = outcomes(lambda rng: " ".join(postedit.mistype(["nahtlose", "verarbeitung"], "", rng)))
    assert "nahtlose verarbeitung" not in slips
    assert {"nahtlose verarebitung", "nahtlose verabeitung", "nathlose verarbeitung"} <= slips


def test_brands_are_not_mistyped():
    assert outcomes(lambda rng: " ".join(postedit.mistype(["norsen", "größe"], "norsen", rng)).split()[0]) == {"norsen"}


def test_umlauts_are_transcribed():
    assert postedit.mistype(["größe"], "", RandomStream(0)) != ["größe"]
    assert "groeße" in outcomes(lambda rng: postedit.mistype(["größe"], "", rng)[0])


def test_vendors_leave_punctuation_behind():
    littered = outcomes(lambda rng: " ".join(postedit.litter(["147", "cm"], rng)))
    assert littered == {", 147 cm", "- 147 cm", "147 cm ,", "147 cm :"}


def test_editors_spell_out_degrees():
    edited = outcomes(lambda rng: postedit.editor_english("machine washable at 30 ° c", House(0), rng))
    assert edited == {"machine washable at 30 degrees", "machine washable at 30 ° c"}


def test_a_house_prefers_one_rendering_but_not_always():
    house = House.of("bedding")
    rng = RandomStream("house")
    chosen = [house.variant("{brand} {product}", 3, rng) for _ in range(1000)]
    shares = sorted(chosen.count(variant) / 1000 for variant in range(3))
    assert shares[2] > 0.78
    assert shares[0] > 0.03


def test_houses_differ():
    renderings = {
        tuple(House(n).variant(name, 3, RandomStream(0)) for name in "abcdefgh") for n in range(postedit.STYLES)
    }
    assert len(renderings) == postedit.STYLES


def test_synonyms_replace_whole_words_only():
    rephrased = {House(n).rephrase("modern enlarged box", RandomStream(n)) for n in range(postedit.STYLES)}
    assert rephrased <= {"modern enlarged box", "contemporary enlarged box"}


def test_a_synonym_has_its_own_article():
    rephrased = outcomes(lambda rng: House(rng.below(postedit.STYLES)).rephrase("an elegant bag", rng))
    assert rephrased == {"an elegant bag", "a stylish bag"}


def test_a_synonym_does_not_say_again_what_is_said():
    for number in range(postedit.STYLES):
        for seed in range(20):
            assert House(number).rephrase("sturdy and durable", RandomStream(seed)) == "sturdy and durable"


def test_vendors_write_poor_english():
    poor = outcomes(lambda rng: postedit.vendor_english("the nylon bag ensures 1050 denier quality .", rng))
    assert "nylon bag ensures 1050 denier quality ." in poor  # no articles
    assert "the nylon bag ensure 1050 denier quality ." in poor  # no agreement
    assert "the nylon bag ensures 1050d qlty ." in poor  # abbreviated
    assert "the nylon bag ensures 1050 denier quality !" in poor
    assert "great for nails" in outcomes(lambda rng: postedit.vendor_english("for nails", rng))
