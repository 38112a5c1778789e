"""XML as a stream of events, in bounded memory.

Files that define entities are refused: entities can expand without bound. The entities of HTML need no definition.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from corpora.entities import entity_text
from corpora.errors import InputError
from corpora.line_files import MAX_LINE_BYTES, open_bytes

CHUNK_SIZE = 1 << 16  # bytes
MAX_DEPTH = 100


class XmlEvent(NamedTuple):
    """The start of an element with its attributes, or its end with its text."""

    opens: bool
    name: str
    attributes: dict[str, str]
    text: str
    line: int


class _Handlers:
    """The callbacks of expat, which collect the events of one chunk of the file."""

    def __init__(self, path: Path, texts: frozenset[str], skipped: frozenset[str]) -> None:
        self.events: list[XmlEvent] = []
        self._path = path
        self._text_elements = texts
        self._skipped = skipped
        self._depth = 0
        self._skipped_depth = 0  # number of open elements that are skipped
        self._text: list[str] | None = None  # of the open text element
        self._length = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._undefined_entity
        parser.UseForeignDTD(True)  # so that undefined entities are skipped: many files have those of HTML

    def fail(self, message: str) -> InputError:
        return InputError(message, self._path, self.parser.CurrentLineNumber)

    def _entity(self, name: str, *_: object) -> None:
        raise self.fail(f"defines the entity {name!r}; remove entity definitions from the file")

    def _undefined_entity(self, name: str, _is_parameter: bool) -> None:
        text = entity_text(name)
        if text is None:
            raise self.fail(f"uses the entity {name!r}, which neither XML nor HTML defines")
        self._characters(text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(f"has elements nested more than {MAX_DEPTH} deep")
        self._skipped_depth += name in self._skipped
        if self._skipped_depth:
            return
        if name in self._text_elements:
            self._text, self._length = [], 0
        self.events.append(XmlEvent(True, name, attributes, "", self.parser.CurrentLineNumber))

    def _characters(self, data: str) -> None:
        if self._text is None or self._skipped_depth:
            return
        self._length += len(data)
        if self._length > MAX_LINE_BYTES:
            raise self.fail(f"has a text of more than {MAX_LINE_BYTES:,} characters")
        self._text.append(data)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._skipped_depth:
            self._skipped_depth -= name in self._skipped
            return
        text = ""
        if name in self._text_elements and self._text is not None:
            text, self._text = "".join(self._text), None
        self.events.append(XmlEvent(False, name, {}, text, self.parser.CurrentLineNumber))


def read_events(path: Path, *, texts: frozenset[str], skipped: frozenset[str] = frozenset()) -> Iterator[XmlEvent]:
    """Yield the events of a file. Elements in ``texts`` have their text; those in ``skipped`` are left out."""
    handlers = _Handlers(path, texts, skipped)
    with open_bytes(path) as stream:
        while True:
            chunk = stream.read(CHUNK_SIZE)
            try:
                handlers.parser.Parse(chunk, not chunk)
            except expat.ExpatError as wrong:
                raise InputError(
                    f"is not well-formed XML ({expat.ErrorString(wrong.code)})", path, wrong.lineno
                ) from None
            yield from handlers.events
            handlers.events.clear()
            if not chunk:
                return
