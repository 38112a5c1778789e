"""The SGML of WMT test sets until 2020: a file of sources and one of references, with documents and segment ids."""

import html
import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from corpora.errors import InputError
from corpora.lines import read_lines
from corpora.task import Pair

# Attributes are of bounded length: else a line of tags that never end would be searched to its end from each of them.
_DOCUMENT = re.compile(r"<doc\b[^>]{0,500}?\bdocid\s*=\s*\"?([^\"\s>]+)", re.IGNORECASE)
_SEGMENT = re.compile(r"<seg\b(?:([^>]{0,500})>(.*?)(</seg>|$))?", re.IGNORECASE)  # what cannot be read is found, too
_IDENTITY = re.compile(r"\bid\s*=\s*\"?([^\"\s>]+)", re.IGNORECASE)


class _Segment(NamedTuple):
    document: str
    identity: str
    text: str
    line: int


def read(paths: list[Path], _languages: tuple[str, str]) -> Iterator[Pair]:
    """Pairs of a source file and a reference file, which must have the same documents and segments."""
    if len(paths) != 2:
        raise InputError("expected a source file and a reference file, joined by a comma", paths[0])
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


def _segments(path: Path) -> Iterator[_Segment]:
    document = ""
    documents: set[str] = set()
    segments: set[str] = set()
    for number, line in enumerate(read_lines(path), start=1):
        if opened := _DOCUMENT.search(line):
            document = opened[1]
            if document in documents:
                raise InputError(f"document {document!r} comes twice", path, number)
            documents.add(document)
            segments.clear()
        for found in _SEGMENT.finditer(line):
            named = _IDENTITY.search(found[1] or line[found.end() : found.end() + 500])
            identity = named[1] if named else str(len(segments) + 1)
            if not found[3]:
                raise InputError(f"segment {identity!r} does not end on its line", path, number)
            if identity in segments:
                raise InputError(f"segment {identity!r} of document {document!r} comes twice", path, number)
            segments.add(identity)
            yield _Segment(document, identity, html.unescape(found[2]).strip(), number)
    if not documents:
        raise InputError("has no <doc>, so it is no WMT test set", path)
