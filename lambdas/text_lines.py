"""Sources and references as lines of a block: the sentence, and after tabs what the service needs to know of it.

A phase with documents keeps the position of each sentence in its document after the source. A phase that shows
post-edits keeps after each reference the words that recall is measured on, which depend on the references before it:
those that no earlier reference has, and those that exactly one has.
"""

from collections.abc import Sequence
from typing import NamedTuple

SEPARATOR = "\t"  # no sentence contains it


class Source(NamedTuple):
    """A sentence to be translated."""

    text: str
    position: int | None = None  # in its document, counted from 0; None in a phase without documents


class Reference(NamedTuple):
    """What a translation is compared with."""

    text: str
    wanted: Sequence[Sequence[str]] = ()  # in a post-edit phase: its words without, and with one earlier reference


def source_line(text: str, position: int | None) -> str:
    """Return the line of a source."""
    return text if position is None else f"{text}{SEPARATOR}{position}"


def parse_source(line: str, *, has_position: bool) -> Source:
    """Return the source that a line holds."""
    if not has_position:
        return Source(line)
    text, _, position = line.partition(SEPARATOR)
    return Source(text, int(position))


def reference_line(text: str, wanted: Sequence[Sequence[str]]) -> str:
    """Return the line of a reference."""
    return SEPARATOR.join((text, *(" ".join(words) for words in wanted)))


def parse_reference(line: str, *, has_words: bool) -> Reference:
    """Return the reference that a line holds."""
    if not has_words:
        return Reference(line)
    text, new, repeated = line.split(SEPARATOR)
    return Reference(text, (new.split(), repeated.split()))
