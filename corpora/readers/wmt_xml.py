"""The XML format of WMT test sets since 2021: documents with a source and references that share segment ids."""

from collections.abc import Iterator
from pathlib import Path

from corpora.errors import InputError
from corpora.readers.language_codes import add_language, list_languages, same_language
from corpora.readers.xml_events import XmlEvent, read_events
from corpora.task import Pair

Segments = dict[str, str]
SideLanguages = tuple[set[str], set[str]]  # of sources and of references


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the segments of each document with the first reference in the target language.

    Raises InputError at the end if no document has both.
    """
    (path,) = paths
    events = read_events(path, texts=frozenset({"seg"}))
    first = next(events)
    if first.name not in ("dataset", "mteval"):
        raise InputError(f"is not a WMT test set: it starts with <{first.name}>", path, first.line)
    seen: set[str] = set()
    found: SideLanguages = (set(), set())
    has_pairs = False
    for event in events:
        if event.opens and event.name == "doc":
            document = event.attributes.get("id") or event.attributes.get("docid") or ""
            if document in seen:
                raise InputError(f"repeats the document {document!r}", path, event.line)
            seen.add(document)
            sides = _sides(events, languages, found, path)
            for pair in _pairs(sides, document, path, event.line):
                has_pairs = True
                yield pair
    if not has_pairs:
        raise InputError(_missing_language(languages, found), path)


def _missing_language(languages: tuple[str, str], found: SideLanguages) -> str:
    for code, side, given in zip(languages, ("source", "reference"), found, strict=True):
        if not any(same_language(code, language) for language in given):
            rest = f"its {side}s are in {list_languages(given)}" if given else f"it has no {side}s at all"
            return f"has no {side} in {code!r}; {rest}"
    return f"has no document in both {' and '.join(map(repr, languages))}"


def _sides(
    events: Iterator[XmlEvent], languages: tuple[str, str], found: SideLanguages, path: Path
) -> list[Segments | None]:
    """Return the segments of one document in both languages, by id, and add to the languages found."""
    sides: list[Segments | None] = [None, None]
    current: Segments | None = None
    identity = ""
    for event in events:
        if event.name == "doc":
            break
        if event.name in ("src", "ref", "hyp"):
            side = 0 if event.name == "src" else 1
            language = event.attributes.get("lang", languages[side])
            if event.opens and event.name != "hyp":
                add_language(found[side], language)
            fits = same_language(languages[side], language)
            is_wanted = event.opens and event.name != "hyp" and fits and sides[side] is None
            current = {} if is_wanted else None
            if is_wanted:
                sides[side] = current
        elif event.name == "seg" and current is not None:
            if event.opens:
                identity = event.attributes.get("id", str(len(current) + 1))
                if identity in current:
                    raise InputError(f"repeats the segment {identity!r}", path, event.line)
            else:
                current[identity] = event.text
    return sides


def _pairs(sides: list[Segments | None], document: str, path: Path, line: int) -> Iterator[Pair]:
    sources, targets = sides
    if sources is None or targets is None:  # the document has no reference in this language
        return
    if sources.keys() != targets.keys():
        odd = sorted(sources.keys() ^ targets.keys())[0]
        raise InputError(f"document {document!r}: segment {odd!r} is missing on one side", path, line)
    for identity, source in sources.items():
        yield Pair(source, targets[identity], document)
