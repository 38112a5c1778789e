"""Aligns a page with its translation by structure: translators keep headings, paragraphs and list items in order."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple


class PageBlock(NamedTuple):
    """A heading, paragraph or list item of a page, without markup."""

    kind: str
    text: str


HEADING = "heading"

_SENTENCE_END = re.compile(r"(?<=[.!?])[\"“”)]?\s+(?=[\"„“(]?[A-ZÀ-ÖØ-Þ0-9])")
_MAX_LENGTH_RATIO = 2.5  # of characters; beyond it, one side has text that the other lacks
_LETTERS = re.compile(r"[^\W\d_]{2}")


def align_pages(foreign: list[PageBlock], english: list[PageBlock]) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of sections that have the same structure on both pages. Other sections are left out."""
    foreign_sections, english_sections = _sections(foreign), _sections(english)
    extra = len(foreign_sections) - len(english_sections)
    if extra not in (0, 1):  # a translation may end with a section that names the translators
        return
    for section, counterpart in zip(foreign_sections, english_sections, strict=False):
        if [block.kind for block in section] == [block.kind for block in counterpart]:
            for block, other in zip(section, counterpart, strict=True):
                yield from _sentences(block.text, other.text)


def _sections(blocks: list[PageBlock]) -> list[list[PageBlock]]:
    sections: list[list[PageBlock]] = [[]]
    for is_heading, group in groupby(blocks, key=lambda block: block.kind == HEADING):
        for block in group:
            if is_heading:
                sections.append([])
            sections[-1].append(block)
    return sections


def _sentences(foreign: str, english: str) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of a block, or the whole block if the numbers of sentences differ."""
    foreign_sentences, english_sentences = _SENTENCE_END.split(foreign), _SENTENCE_END.split(english)
    if len(foreign_sentences) != len(english_sentences):
        foreign_sentences, english_sentences = [foreign], [english]
    for sentence, counterpart in zip(foreign_sentences, english_sentences, strict=True):
        if _is_translation(sentence, counterpart):
            yield sentence, counterpart


def _is_translation(foreign: str, english: str) -> bool:
    """Return whether both sides have words, differ, and have similar lengths."""
    if foreign == english or not _LETTERS.search(foreign) or not _LETTERS.search(english):
        return False
    return 1 / _MAX_LENGTH_RATIO <= len(foreign) / len(english) <= _MAX_LENGTH_RATIO
