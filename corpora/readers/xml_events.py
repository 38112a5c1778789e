"""XML as a stream of events, in bounded memory and time.

Files that define entities are refused: entities can expand without bound. The entities of HTML need no definition.
Files that define defaults of attributes are refused, too: each element would get a copy of them. A tag, a comment or
another token that has begun is kept in memory and scanned again with every further chunk, so its size is limited.
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
MAX_TOKEN_BYTES = MAX_LINE_BYTES  # of a tag with its attributes, a comment or a declaration


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
        parser.AttlistDeclHandler = self._attribute_list
        parser.SkippedEntityHandler = self._undefined_entity
        parser.UseForeignDTD(True)  # so that undefined entities are skipped: many files have those of HTML

    def fail(self, message: str) -> InputError:
        return InputError(message, self._path, self.parser.CurrentLineNumber)

    def _entity(self, name: str, *_: object) -> None:
        raise self.fail(f"defines the entity {name!r}; remove entity definitions from the file")

    def _attribute_list(self, element: str, attribute: str, _kind: str, default: str | None, _required: bool) -> None:
        if default is not None:
            raise self.fail(f"defines a default of attribute {attribute!r} of {element!r}; remove it from the file")

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
    size = 0
    with open_bytes(path) as stream:
        while True:
            chunk = stream.read(CHUNK_SIZE)
            size += len(chunk)
            try:
                handlers.parser.Parse(chunk, not chunk)
            except expat.ExpatError as wrong:
                raise InputError(
                    f"is not well-formed XML ({expat.ErrorString(wrong.code)})", path, wrong.lineno
                ) from None
            except (ValueError, LookupError):  # of an encoding that the file declares and expat cannot read
                raise handlers.fail("is in an encoding that cannot be read; convert it to UTF-8 with iconv") from None
            if size - handlers.parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                raise handlers.fail(f"has a tag, comment or declaration of more than {MAX_TOKEN_BYTES:,} bytes")
            yield from handlers.events
            handlers.events.clear()
            if not chunk:
                return
