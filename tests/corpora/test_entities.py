"""Character references of HTML, XML and Moses are decoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.entities import decode_entities
from corpora.non_printing import first_non_printing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rot &amp; blau", "rot & blau"),
        ("it&#39;s &quot;new&quot;", 'it\'s "new"'),
        ("it&#x27;s &lt;new&gt;", "it's <new>"),
        ("gr&uuml;n &Auml;rmel &AUML;", "grün Ärmel ä"),
        ("5&nbsp;cm", "5\u00a0cm"),
        ("soft&shy;ware&#10;next", "software next"),
        ("it &apos;s &#91; a &#124; b &#93;", "it 's [ a | b ]"),
        ("&bra; a &bar; b &ket;", "[ a | b ]"),
        ("&amp;quot;twice&amp;quot; &amp;amp;#39;", '"twice" \''),
    ],
)
def test_references_are_decoded(text, expected):
    assert decode_entities(text) == expected


@pytest.mark.parametrize(
    "text", ["AT&T; R&D", "a & b; c", "?a=1&copy=2&lang=en", "&File", "&unknownname;", "&;", "&#;", "&#x;", "100 %;&"]
)
def test_other_ampersands_stay(text):
    assert decode_entities(text) == text


references = st.sampled_from(["&amp;", "&", "amp;", "#38;", "&#38;", "&lt;", ";", "&shy;", "&#0;", "&#1114112;", "x"])


@given(st.lists(references, max_size=12).map("".join))
def test_no_reference_is_left_even_after_lowercasing(text):
    decoded = decode_entities(text)
    assert decode_entities(decoded.lower()) == decoded.lower()
    assert first_non_printing(decoded) is None
