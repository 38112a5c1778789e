"""Translation memories (TMX 1.1 to 1.4b), streamed. The content of inline codes is not text and is left out.

A document id is a ``prop`` whose type contains "document". TMX does not require ``tuid`` to be unique, so it is not
checked.
"""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.readers.language_codes import add_language, list_languages, same_language
from corpora.readers.xml_events import XmlEvent, read_events
from corpora.task import Pair

INLINE_CODES = frozenset({"bpt", "ept", "it", "ph", "ut"})  # not "hi", which only highlights text
TEXT_ELEMENTS = frozenset({"seg", "prop"})


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the translation units that have both languages. Of several variants in a language, the first counts.

    Raises InputError at the end if no unit has both.
    """
    (path,) = paths
    events = read_events(path, texts=TEXT_ELEMENTS, skipped=INLINE_CODES)
    first = next(events)
    if first.name != "tmx":
        raise InputError(f"is not a TMX file: it starts with <{first.name}>", path, first.line)
    unit = _TranslationUnit(languages)
    found: set[str] = set()  # languages
    has_pairs = False
    for event in events:
        unit.take(event)
        if event.name == "tu" and not event.opens:
            for language in unit.found:
                add_language(found, language)
            if unit.source is not None and unit.target is not None:
                has_pairs = True
                yield Pair(unit.source, unit.target, unit.document)
            unit = _TranslationUnit(languages)
    if not has_pairs:
        raise InputError(_missing_language(languages, found), path)


def _missing_language(languages: tuple[str, str], found: set[str]) -> str:
    if not found:
        return "has no translation units"
    missing = [code for code in languages if not any(same_language(code, given) for given in found)]
    if missing:
        return f"has no text in {' or '.join(map(repr, missing))}; its languages are {list_languages(found)}"
    return f"has no translation unit with both {' and '.join(map(repr, languages))}"


class _TranslationUnit:
    """One ``tu`` element, as far as it has been read."""

    def __init__(self, languages: tuple[str, str]) -> None:
        self._languages = languages
        self.found: set[str] = set()  # languages that have a text
        self._language = ""
        self._is_document = False
        self.source: str | None = None
        self.target: str | None = None
        self.document = ""

    def take(self, event: XmlEvent) -> None:
        if event.opens and event.name == "tuv":
            self._language = event.attributes.get("xml:lang") or event.attributes.get("lang") or ""
        elif event.opens and event.name == "prop":
            self._is_document = "document" in event.attributes.get("type", "").lower()
        elif event.name == "prop" and self._is_document:
            self.document = " ".join(event.text.split())
        elif event.name == "seg" and not event.opens:
            source, target = self._languages
            add_language(self.found, self._language)
            if same_language(source, self._language) and self.source is None:
                self.source = event.text
            elif same_language(target, self._language) and self.target is None:
                self.target = event.text
