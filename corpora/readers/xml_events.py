"""XML as a stream of events, in bounded memory; files that define entities, which can grow without end, are refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from corpora.errors import InputError
from corpora.lines import MAX_LINE, open_bytes

CHUNK = 1 << 16
MAX_DEPTH = 100


class Event(NamedTuple):
    """An element that opens (with its attributes) or closes (with its text, if it is one that carries text)."""

    opens: bool
    name: str
    attributes: dict[str, str]
    text: str
    line: int


class _Handlers:
    """What expat calls; events pile up here for one chunk of the file only."""

    def __init__(self, path: Path, texts: frozenset[str], skipped: frozenset[str]) -> None:
        self.events: list[Event] = []
        self._path = path
        self._carriers = texts
        self._skipped = skipped
        self._depth = 0
        self._muted = 0  # how many of the open elements are skipped ones
        self._text: list[str] | None = None  # of the open element that carries text
        self._length = 0
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity

    def fail(self, message: str) -> InputError:
        return InputError(message, self._path, self.parser.CurrentLineNumber)

    def _entity(self, name: str, *_: object) -> None:
        raise self.fail(f"defines the entity {name!r}; files that define entities are refused")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fail(f"elements are nested more than {MAX_DEPTH} deep")
        self._muted += name in self._skipped
        if self._muted:
            return
        if name in self._carriers:
            self._text, self._length = [], 0
        self.events.append(Event(True, name, attributes, "", self.parser.CurrentLineNumber))

    def _characters(self, data: str) -> None:
        if self._text is None or self._muted:
            return
        self._length += len(data)
        if self._length > MAX_LINE:
            raise self.fail(f"a text of more than {MAX_LINE:,} characters")
        self._text.append(data)

    def _end(self, name: str) -> None:
        self._depth -= 1
        if self._muted:
            self._muted -= name in self._skipped
            return
        text = ""
        if name in self._carriers and self._text is not None:
            text, self._text = "".join(self._text), None
        self.events.append(Event(False, name, {}, text, self.parser.CurrentLineNumber))


def read_events(path: Path, *, texts: frozenset[str], skipped: frozenset[str] = frozenset()) -> Iterator[Event]:
    """All elements of a file; only elements named in ``texts`` carry text, those in ``skipped`` are as if not there."""
    handlers = _Handlers(path, texts, skipped)
    with open_bytes(path) as stream:
        while True:
            chunk = stream.read(CHUNK)
            try:
                handlers.parser.Parse(chunk, not chunk)
            except expat.ExpatError as wrong:
                raise InputError(f"not well-formed XML ({expat.ErrorString(wrong.code)})", path, wrong.lineno) from None
            yield from handlers.events
            handlers.events.clear()
            if not chunk:
                return
