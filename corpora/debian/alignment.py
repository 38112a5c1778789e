"""Aligns a page with its translation by structure: translators keep headings, paragraphs and list items in place."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple


class Block(NamedTuple):
    """A piece of a page: what kind it is, and its text without markup."""

    kind: str
    text: str


HEADING = "heading"

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"“”)]?\s+(?=[\"„“(]?[A-ZÄÖÜ0-9])")
_RATIO = 2.5  # of characters; beyond it one side has something that the other has not
_LETTERS = re.compile(r"[^\W\d_]{2}")


def align(foreign: list[Block], english: list[Block]) -> Iterator[tuple[str, str]]:
    """Sentences of sections that have the same structure in both versions. Where versions differ nothing is guessed."""
    theirs, ours = _sections(foreign), _sections(english)
    if len(theirs) not in (len(ours), len(ours) + 1):  # the one more is a last section that names the translators
        return
    for section, counterpart in zip(theirs, ours, strict=False):
        if [block.kind for block in section] == [block.kind for block in counterpart]:
            for block, other in zip(section, counterpart, strict=True):
                yield from _sentences(block.text, other.text)


def _sections(blocks: list[Block]) -> list[list[Block]]:
    sections: list[list[Block]] = [[]]
    for is_heading, group in groupby(blocks, key=lambda block: block.kind == HEADING):
        for block in group:
            if is_heading:
                sections.append([])
            sections[-1].append(block)
    return sections


def _sentences(foreign: str, english: str) -> Iterator[tuple[str, str]]:
    """Sentence by sentence if both have as many, else as a whole."""
    theirs, ours = _SENTENCE_END.split(foreign), _SENTENCE_END.split(english)
    if len(theirs) != len(ours):
        theirs, ours = [foreign], [english]
    for sentence, counterpart in zip(theirs, ours, strict=True):
        if _is_translation(sentence, counterpart):
            yield sentence, counterpart


def _is_translation(foreign: str, english: str) -> bool:
    if foreign == english or not _LETTERS.search(foreign) or not _LETTERS.search(english):
        return False
    return 1 / _RATIO <= len(foreign) / len(english) <= _RATIO
