"""Language codes, and the convention that text follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.languages import LOWERCASED_MOSES, LanguagePair, is_language, is_lowercased, is_single_spaced


@pytest.mark.parametrize("code", ["de", "en", "pt-BR", "zh-Hans-CN", "gsw"])
def test_language_codes(code):
    assert is_language(code)


@pytest.mark.parametrize("code", ["", "d", "DE", "german", "../de", "de_AT", "de-", "de\n", "d3"])
def test_what_cannot_stand_in_a_file_name_is_no_language_code(code):
    assert not is_language(code)


def test_a_language_pair_is_a_pair():
    source, target = pair = LanguagePair("de", "en")
    assert (source, target, str(pair)) == ("de", "en", "de-en")


@given(st.lists(st.text("abß.,", min_size=1)))
def test_tokens_joined_by_a_space_follow_the_convention(tokens):
    assert is_single_spaced(" ".join(tokens))
    assert is_lowercased(" ".join(tokens))


@pytest.mark.parametrize("text", [" a", "a ", "a  b", "a\tb", "a\u00a0b", "a\n"])
def test_other_whitespace_breaks_the_convention(text):
    assert not is_single_spaced(text)


@pytest.mark.parametrize(("text", "is_lower"), [("größe 5", True), ("Größe", False), ("ΣΑΣ", False), ("中文", True)])
def test_capitals_break_the_convention(text, is_lower):
    assert is_lowercased(text) is is_lower


def test_the_convention_has_a_signature():
    assert LOWERCASED_MOSES.signature == "case:lower|tok:moses|sep:space|v:1"
