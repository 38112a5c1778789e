"""The notation of the lexicon's lines is parsed, and mistakes in it are refused."""

import pytest

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


def test_a_weak_noun_is_recognised_by_its_genitive():
    assert parse_noun("der kunde, kunden, kunden", "customer", {}).weak
    assert not parse_noun("der name, namen, namens", "name", {}).weak
    assert not parse_noun("der wagen, wagen, wagens", "car", {}).weak


def test_verbs_actions_and_prepositions_are_parsed():
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


def test_values_are_parsed():
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
def test_text_must_be_tokenised(written, reason):
    with pytest.raises(NotationError, match=reason):
        tokenised_text(written)
