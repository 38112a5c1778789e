"""Texts for the public: any script, one line, and links to the web only."""

import pytest

from task.public_texts import MAX_URL_CHARACTERS, PublicTextError, check_public_text, check_url


@pytest.mark.parametrize(
    "text", ["x", "Universität Heidelberg", "東京大学", "جامعة", "می‌خواهم", "👩‍💻 lab", "<b>&amp;", "x" * 500]
)
def test_texts_of_any_script_are_accepted(text):
    check_public_text(text, "the name")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the name is empty, or begins or ends with a space"),
        ("\u200d\u200c", "the name is empty, or begins or ends with a space"),  # joins nothing, and shows nothing
        (" x", "the name is empty, or begins or ends with a space"),
        ("x\n", "the name is empty, or begins or ends with a space"),
        ("two\nlines", "the name is one line of printable characters"),
        ("a\tb", "the name is one line of printable characters"),
        ("a\u2028b", "the name is one line of printable characters"),
        ("a\u202eb", "the name is one line of printable characters"),  # turns the rest of a line around
        ("a\ud800b", "the name is one line of printable characters"),
        ("x" * 501, "the name has 501 characters, but at most 500 are allowed"),
    ],
)
def test_other_texts_are_refused(text, problem):
    with pytest.raises(PublicTextError, match=problem):
        check_public_text(text, "the name")


@pytest.mark.parametrize(
    "url", ["https://acme.example", "http://localhost:8000/x?y=1#z", "HTTPS://ACME.example/ü", "https://[::1]/"]
)
def test_addresses_of_the_web_are_accepted(url):
    check_url(url, "the link")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "acme.example",
        "//acme.example",
        "https://",
        "https:///x",
        "https://bank.example@evil.example",
        "https://acme.example/a b",
        "https://[::1/",
        "ftp://acme.example",
        "https://acme.example/\n",
        "https://acme.example/" + "x" * MAX_URL_CHARACTERS,
    ],
)
def test_other_addresses_are_refused(url):
    with pytest.raises(PublicTextError, match="the link"):
        check_url(url, "the link")
