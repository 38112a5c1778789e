"""The languages of a task, and the convention that its text follows."""

import re
from typing import NamedTuple

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")  # BCP 47, as far as file names need it


class LanguagePair(NamedTuple):
    """The languages that are translated from and into, as codes such as ``de`` or ``pt-BR``."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


class TextConvention(NamedTuple):
    """How text is written, so that a system and a score can rely on it."""

    signature: str
    description: str


# The preprocessing of Sokolov et al. 2017, section 2. Every task follows it.
LOWERCASED_MOSES = TextConvention(
    "case:lower|tok:moses|sep:space|v:1",
    "lowercased, tokenised as the Moses scripts do (without escaping), tokens separated by single spaces; translations "
    "are scored as they are sent, split on whitespace",
)


def is_language(code: str) -> bool:
    """Return whether a text can be a language code, and thus part of a file name."""
    return _LANGUAGE.fullmatch(code) is not None


def is_single_spaced(text: str) -> bool:
    """Return whether single spaces separate the tokens of a text, with none at either end."""
    return " ".join(text.split()) == text


def is_lowercased(text: str) -> bool:
    """Return whether lowercasing leaves a text as it is."""
    return text.lower() == text
