"""Text from servers, made safe to print."""

from __future__ import annotations

import re

_JOINERS = "\u200c\u200d"  # not printable by themselves, but words of many languages need them
_CONTROL_OR_SURROGATE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def is_one_line(text: str) -> bool:
    """Return whether a text has no control characters (line breaks and tabs included) and no lone surrogates."""
    return _CONTROL_OR_SURROGATE.search(text) is None


def printable(text: str) -> str:
    """Return a text as one line that changes neither the state of a terminal nor the direction of writing.

    White space becomes spaces. Other characters that are not printable, such as those of escape sequences and marks of
    direction, are written as Python would in a string: ``\\x1b``, ``\\u202e``.
    """
    return text if text.isprintable() else "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else ascii(character)[1:-1]
