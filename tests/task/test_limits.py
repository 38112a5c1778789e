"""The limits of texts, literally: participants rely on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task import limits


def test_the_limits():
    assert limits.MAX_TRANSLATION_CHARACTERS == 4_000
    assert limits.MAX_SENTENCE_CHARACTERS == 2_000
    assert limits.MAX_IN_DOMAIN_TOKENS == 25
    assert limits.MAX_OUT_OF_DOMAIN_TOKENS == 150


def test_a_copied_source_is_a_translation():
    assert limits.MAX_SENTENCE_CHARACTERS <= limits.MAX_TRANSLATION_CHARACTERS


@pytest.mark.parametrize("text", ["", "rotes seil", "𝄞 🇩🇪 größe", "a\u200db", "a\u00a0b", "a\u2028b", "<script>"])
def test_text_without_control_characters_is_one_line(text):
    assert limits.is_one_line(text)


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\0", "\x1f", "\x7f", "\x85", "\x9f", "\ud800"])
def test_control_characters_and_lone_surrogates_are_not_part_of_a_line(character):
    assert not limits.is_one_line(f"a{character}b")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_any_text_of_other_characters_is_one_line(text):
    assert limits.is_one_line(text)


def test_the_replacement_character_tells_of_undecoded_bytes():
    assert limits.has_undecoded_bytes(b"gr\xf6\xdfe".decode("utf-8", errors="replace"))
    assert not limits.has_undecoded_bytes("größe")
