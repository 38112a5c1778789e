"""Language codes in any spelling."""

import pytest

from corpora.readers.language_codes import list_languages, same_language


@pytest.mark.parametrize(
    ("wanted", "given", "same"),
    [("de", "DE", True), ("de", "de_AT.UTF-8", True), ("pt-BR", "pt_BR@x", True), ("pt-BR", "pt", False),
     ("de", "den", False)],
)  # fmt: skip
def test_language_codes_match_in_any_spelling(wanted, given, same):
    assert same_language(wanted, given) is same


def test_a_list_of_languages_is_bounded():
    assert list_languages(["en", "de", "en"]) == "de, en"
    assert list_languages(f"{number:03}" for number in range(500)).endswith("018, 019, and 480 more")
