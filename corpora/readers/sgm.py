"""The SGML format of WMT test sets until 2020: a source file and a reference file with documents and segment ids."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from corpora.entities import decode_entities
from corpora.errors import InputError
from corpora.line_files import read_lines
from corpora.readers.language_codes import same_language
from corpora.task import Pair

# Attributes have a bounded length. Else each of many tags that never close would be searched to the end of the line.
# Spaces are matched in one way only: with "\s*/?\s*", a row of n spaces would be split in n ways.
_ATTRIBUTES = r"(?:\s+[\w:.-]{1,50}\s*=\s*(?:\"[^\"]{0,500}\"|'[^']{0,500}'|[^\s\"'<>]{1,500})){0,20}"
_ELEMENT = re.compile(
    rf"<doc(?P<document>{_ATTRIBUTES})\s*>|</doc\s*>"
    rf"|<seg(?P<segment>{_ATTRIBUTES})\s*>(?P<text>[^<]*(?:<(?!\s*(?:/\s*)?seg\b)[^<]*)*)</seg\s*>",
    re.IGNORECASE,
)
_SET = re.compile(rf"<(?:src|ref)set{_ATTRIBUTES}\s*>", re.IGNORECASE)
_FRAGMENT = re.compile(r"<\s*(?:/\s*)?(doc|seg)\b", re.IGNORECASE)  # of an element that is not complete
_DOCUMENT = re.compile(r"\bdocid\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_IDENTITY = re.compile(r"\bid\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)


class _Segment(NamedTuple):
    document: str
    identity: str
    text: str
    line: int


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the pairs of a source file and a reference file, which must have the same documents and segments."""
    if len(paths) != 2:
        raise InputError("needs a source file and a reference file, joined by a comma", paths[0])
    for path, language, attribute in zip(paths, languages, ("srclang", "trglang"), strict=True):
        _require_language(language, attribute, path)
    for source, target in zip_longest(*map(_segments, paths)):
        if source is None or target is None:
            short, longer = (paths[0], target) if source is None else (paths[1], source)
            raise InputError(f"lacks segment {longer.identity!r} of document {longer.document!r}", short)
        if source[:2] != target[:2]:
            wanted = f"segment {source.identity!r} of document {source.document!r}"
            raise InputError(
                f"is {target.identity!r} of {target.document!r}, but should be {wanted}", paths[1], target.line
            )
        yield Pair(source.text, target.text, source.document)


def _require_language(language: str, attribute: str, path: Path) -> None:
    """Raise InputError if the file states another language. One that is not a code, such as "any", may be any."""
    for line in read_lines(path):
        if found := _SET.search(line):
            named = re.search(rf"\b{attribute}\s*=\s*[\"']?([a-zA-Z]{{2}}(?:[-_]\w{{2,4}})?)[\"'\s>]", found[0])
            if named and not same_language(language.split("-")[0], named[1]):
                raise InputError(f"its language is {named[1]!r}, not {language!r}", path)
            return


def _segments(path: Path) -> Iterator[_Segment]:
    document = ""
    documents: set[str] = set()
    segments: set[str] = set()
    for number, line in enumerate(read_lines(path), start=1):
        for found in _elements(line, path, number):
            if named := _DOCUMENT.search(found["document"] or ""):
                document = named[1]
                if document in documents:
                    raise InputError(f"repeats the document {document!r}", path, number)
                documents.add(document)
                segments.clear()
            elif found["text"] is not None:
                named = _IDENTITY.search(found["segment"])
                identity = named[1] if named else str(len(segments) + 1)
                if identity in segments:
                    raise InputError(f"repeats segment {identity!r} of document {document!r}", path, number)
                segments.add(identity)
                yield _Segment(document, identity, decode_entities(found["text"]).strip(), number)
    if not documents:
        raise InputError("is not a WMT test set: it has no <doc>", path)


def _elements(line: str, path: Path, number: int) -> Iterator[re.Match[str]]:
    """Yield the documents and segments on a line. An incomplete one is an InputError."""
    if fragment := _FRAGMENT.search(_ELEMENT.sub(" ", line)):
        raise InputError(f"has a <{fragment[1].lower()}> that is malformed or does not end on its line", path, number)
    for found in _ELEMENT.finditer(line):
        if found["document"] is not None and not _DOCUMENT.search(found["document"]):
            raise InputError("has a <doc> without docid", path, number)
        yield found
