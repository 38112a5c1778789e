"""The fast normaliser and tokeniser have the output of sacremoses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer, MosesTokenizer

from corpora.moses import FastNormalizer, FastTokenizer

# everything that the rules match, and words that it can be attached to
PIECES = [
    *"abz ABZ 059 .,;:!?'\"`´()[]<>%&|#@/-–—_~°+* \u00a0\u00ad„“”‘’‚«»…，。、：？（）％０９ÄÖßéñ中文अ",
    "..", "...", " z.b.", " nr. 5", " no. 7", "it's", "l'homme", "''", "´´", " %", " :", "nº\u00a0", "ºC", "a.b/c",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from([*PIECES, "wort ", " word", "Gr.", " 16.5x20"]), max_size=25).map("".join),
    st.text(max_size=40),
)

PLAIN = {language: (MosesPunctNormalizer(language, pre_replace_unicode_punct=True), MosesTokenizer(language))
         for language in ("de", "en", "fr", "zh")}  # fmt: skip
FAST = {language: (FastNormalizer(language), FastTokenizer(language)) for language in PLAIN}


@pytest.mark.parametrize("language", PLAIN)
@given(text=TEXTS)
@settings(max_examples=60, deadline=None)
def test_the_output_equals_that_of_sacremoses(language, text):
    plain_normaliser, plain_tokeniser = PLAIN[language]
    normaliser, tokeniser = FAST[language]
    assert normaliser.normalize(text) == plain_normaliser.normalize(text)
    assert tokeniser.tokenize(text, escape=False) == plain_tokeniser.tokenize(text, escape=False)


def test_no_rule_has_alternatives():
    rules = [*MosesPunctNormalizer.REPLACE_UNICODE_PUNCTUATION, *MosesPunctNormalizer("de").substitutions]
    assert not any("|" in pattern for pattern, _ in rules)  # an alternative could do without the character
