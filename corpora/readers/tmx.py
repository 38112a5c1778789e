"""Translation memories (TMX 1.1 to 1.4b), streamed: what a tool's inline codes contain is not text and is left out.

A document id is a ``prop`` whose type has "document" in it. ``tuid`` need not be unique in TMX, so it is not checked.
"""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.readers.languages import same_language
from corpora.readers.xml_events import Event, read_events
from corpora.task import Pair

INLINE_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})  # "hi" only marks text
TEXTS = frozenset({"seg", "prop"})


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """The units that have both languages; of several versions in one language, the first."""
    (path,) = paths
    events = read_events(path, texts=TEXTS, skipped=INLINE_CODES)
    first = next(events)
    if first.name != "tmx":
        raise InputError(f"starts with <{first.name}>, so it is no TMX file", path, first.line)
    unit = _Unit(languages)
    for event in events:
        unit.take(event)
        if event.name == "tu" and not event.opens:
            if unit.source is not None and unit.target is not None:
                yield Pair(unit.source, unit.target, unit.document)
            unit = _Unit(languages)


class _Unit:
    """One ``tu`` as far as it has been read."""

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self._language = ""
        self._is_document = False
        self.source: str | None = None
        self.target: str | None = None
        self.document = ""

    def take(self, event: Event) -> None:
        if event.opens and event.name == "tuv":
            self._language = event.attributes.get("xml:lang") or event.attributes.get("lang") or ""
        elif event.opens and event.name == "prop":
            self._is_document = "document" in event.attributes.get("type", "").lower()
        elif event.name == "prop" and self._is_document:
            self.document = " ".join(event.text.split())
        elif event.name == "seg" and not event.opens:
            source, target = self._languages
            if same_language(source, self._language) and self.source is None:
                self.source = event.text
            elif same_language(target, self._language) and self.target is None:
                self.target = event.text
