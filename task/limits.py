"""How long texts may be, and which characters they may contain."""

import math
import re

MAX_TRANSLATION_CHARACTERS = 4_000  # some 25 times the longest sentence of the WMT 2017 task
MAX_SENTENCE_CHARACTERS = 2_000  # of a source or a reference: a system that copies its source stays within its limit
MAX_IN_DOMAIN_TOKENS = 25  # the longest source sentences of Sokolov et al. 2017, table 2
MAX_OUT_OF_DOMAIN_TOKENS = 150

_CONTROL_OR_SURROGATE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_REPLACEMENT_CHARACTER = "\ufffd"


def is_log_probability(number: float) -> bool:
    """Return whether a number can be the natural logarithm of a probability above zero."""
    return math.isfinite(number) and number <= 0


def is_one_line(text: str) -> bool:
    """Return whether a text has no control characters (line breaks and tabs included) and no lone surrogates."""
    return _CONTROL_OR_SURROGATE.search(text) is None


def has_undecoded_bytes(text: str) -> bool:
    """Return whether a text contains U+FFFD, which decoders put in place of bytes that are not UTF-8."""
    return _REPLACEMENT_CHARACTER in text
