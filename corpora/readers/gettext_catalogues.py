"""The messages of gettext catalogues, read one by one, in memory and time that the size of the file bounds.

Text catalogues (PO) are read line by line. Compiled ones (MO) are read into memory, and each string is copied from
there. Strings of an MO file may overlap, so that many entries name the same long string: the sum of their lengths is
bounded by the size of the file.
"""

import codecs
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpora.errors import InputError
from corpora.line_files import MAX_LINE_BYTES, open_bytes

MAX_COMPILED_BYTES = 256 << 20  # of an MO file; the largest known one has 30 MB
CHUNK_BYTES = 1 << 16
MAX_SHARING = 2  # all strings of an MO file together, in sizes of the file: compilers write each string once
MAX_MESSAGE_CHARACTERS = MAX_LINE_BYTES  # of a message with its translations

_MAGIC = 0x950412DE
_CHARSET = re.compile(rb"charset=([\w.:-]{1,40})")
# With a backslash and a prefix that mean something else to codecs that are not of text.
_ASCII = bytes(range(0x20, 0x5C)) + rb"\n\x41\u0041" + bytes(range(0x5D, 0x7F)) + b".xn--bcher-kva"
_LANGUAGE = re.compile(r"^Language:(.{0,100})$", re.MULTILINE)
_LINE = re.compile(r"(?:(msgctxt|msgid_plural|msgid|msgstr(?:\[(\d{1,2})\])?)\s*)?\"([^\"\\]*(?:\\.[^\"\\]*)*)\"")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}


class Message(NamedTuple):
    """A finished translation: an English text, perhaps its plural, and the translations of both."""

    msgid: str
    msgid_plural: str
    translations: list[str]  # one, or one for each form of a plural

    @property
    def language(self) -> str | None:
        """The language that the header of a catalogue names; None if this is not the header, or names none."""
        named = None if self.msgid else _LANGUAGE.search(self.translations[0])
        return named[1].strip() if named else None


def read_messages(path: Path) -> Iterator[Message]:
    """Yield the finished translations of a catalogue, without fuzzy and obsolete ones. The header has no msgid."""
    if path.name.removesuffix(".gz").endswith(".po"):
        return _TextCatalogue(path).messages()
    return _read_compiled(path)


class _TextCatalogue:
    """Reads a PO file. A message ends where the next one, or a comment, begins."""

    def __init__(self, path: Path) -> None:
        self._path, self._number = path, 0
        self._encoding: str | None = None  # until the header names one
        self._is_fuzzy = False
        self._begin()

    def _begin(self) -> None:
        self._fields: dict[str, list[str]] = {}  # lines by keyword
        self._current: list[str] | None = None  # the lines of the last keyword
        self._characters = 0
        self._skips = False  # whether this message is fuzzy

    def messages(self) -> Iterator[Message]:
        with open_bytes(self._path) as stream:
            while raw := stream.readline(MAX_LINE_BYTES + 1):
                self._number += 1
                if len(raw) > MAX_LINE_BYTES:
                    raise self._error(f"the line is longer than {MAX_LINE_BYTES:,} bytes")
                line = raw.removeprefix(codecs.BOM_UTF8) if self._number == 1 else raw
                line = line.strip()
                if line.startswith(b"#"):
                    yield from self._end_if_translated()
                    self._read_comment(line)
                elif line:
                    yield from self._read_line(self._decode(line))
        yield from self._end_if_translated()

    def _read_comment(self, line: bytes) -> None:
        if line.startswith(b"#,") and b"fuzzy" in line:
            if self._fields:
                self._skips = True
            else:
                self._is_fuzzy = True

    def _read_line(self, line: str) -> Iterator[Message]:
        found = _LINE.fullmatch(line)
        if not found:
            raise self._error("the line is neither a keyword with a string, nor a string, nor a comment")
        keyword, form, text = found.groups()
        if keyword is not None:
            if keyword in ("msgctxt", "msgid"):
                yield from self._end_if_translated()
            if not self._fields:
                self._skips, self._is_fuzzy = self._is_fuzzy, False
            self._add_keyword(keyword, form)
        if self._current is None:
            raise self._error("a string without a keyword before it")
        self._current.append(_unescape(text))
        self._characters += len(text)
        if self._characters > MAX_MESSAGE_CHARACTERS:
            raise self._error(f"the message has more than {MAX_MESSAGE_CHARACTERS:,} characters")

    def _add_keyword(self, keyword: str, form: str | None) -> None:
        is_out_of_order = keyword not in ("msgctxt", "msgid") and "msgid" not in self._fields
        field = keyword if form is None else f"msgstr[{int(form):02}]"
        if field in self._fields or is_out_of_order:
            raise self._error(f"{keyword} is out of order")
        self._current = self._fields[field] = []

    def _end_if_translated(self) -> Iterator[Message]:
        """Yield the message that was read, if it has a translation and is finished, and begin the next one."""
        if not any(field.startswith("msgstr") for field in self._fields):
            return
        texts = {field: "".join(lines) for field, lines in sorted(self._fields.items())}
        translations = [text for field, text in texts.items() if field.startswith("msgstr")]
        if all(translations) and not (self._skips and texts["msgid"]):
            yield Message(texts["msgid"], texts.get("msgid_plural", ""), translations)
        self._begin()

    def _decode(self, line: bytes) -> str:
        is_header = self._current is not None and not any(self._fields.get("msgid", ()))
        if self._encoding is None and is_header and (named := _CHARSET.search(line)):
            self._encoding = _text_encoding(named[1].decode(), self._path)
        try:
            return line.decode(self._encoding or "utf-8")
        except UnicodeDecodeError as wrong:
            if is_header:  # names of translators come before the encoding
                return line.decode("ascii", errors="replace")
            raise self._error(f"not {wrong.encoding}: {wrong.reason}") from None

    def _error(self, reason: str) -> InputError:
        return _catalogue_error(reason, self._path, self._number)


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text) if "\\" in text else text


def _read_compiled(path: Path) -> Iterator[Message]:
    content = _read_content(path)
    encoding = "utf-8"
    for number, (original, translation) in enumerate(_compiled_strings(content, path)):
        if number == 0 and not original and (named := _CHARSET.search(translation)):
            encoding = _text_encoding(named[1].decode(), path)
        try:
            context_and_id, _, plural = original.decode(encoding).partition("\0")
            translations = translation.decode(encoding).split("\0")
        except UnicodeDecodeError as wrong:
            if not original:
                continue
            raise _catalogue_error(f"message {number:,} is not {wrong.encoding}: {wrong.reason}", path) from None
        msgid = context_and_id.rpartition("\4")[2]
        if not plural:
            translations = ["\0".join(translations)]
        if all(translations):
            yield Message(msgid, plural.partition("\0")[0], translations)


def _read_content(path: Path) -> bytes:
    """Return the content of a file that is not too large. (One call of ``read`` would allocate the limit at once.)"""
    chunks, size = [], 0
    with open_bytes(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_COMPILED_BYTES:
                raise InputError(f"is larger than {MAX_COMPILED_BYTES:,} bytes", path)
    return b"".join(chunks)


def _compiled_strings(content: bytes, path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield the strings of an MO file in pairs, original and translation."""
    order = "<" if content[:4] == struct.pack("<I", _MAGIC) else ">"
    if len(content) < 20 or content[:4] != struct.pack(f"{order}I", _MAGIC):
        raise _catalogue_error("Invalid mo file, its magic number is wrong", path)
    revision, count, *tables = struct.unpack_from(f"{order}4I", content, 4)
    if revision >> 16 > 1:
        raise _catalogue_error(f"Invalid mo file, its major revision is {revision >> 16}", path)
    if any(start + 8 * count > len(content) for start in tables):
        raise _catalogue_error(f"Invalid mo file, its {count:,} entries do not fit into it", path)
    total = 0
    for number in range(count):
        strings = []
        for start in tables:
            length, offset = struct.unpack_from(f"{order}2I", content, start + 8 * number)
            if length > MAX_MESSAGE_CHARACTERS or offset + length > len(content):
                raise _catalogue_error(f"Invalid mo file, a string of entry {number:,} is too long", path)
            total += length
            strings.append(content[offset : offset + length])
        if total > MAX_SHARING * len(content):
            raise _catalogue_error(f"its strings are more than {MAX_SHARING} times as long as the file", path)
        yield strings[0], strings[1]


def _text_encoding(name: str, path: Path) -> str:
    """Return an encoding that a header names, UTF-8 if there is none of that name.

    Raises InputError for one in which ASCII means something else. Catalogues are never in such an encoding, and to
    decode some of them takes time that is quadratic in the length of the text (Punycode).
    """
    try:
        is_known = codecs.lookup(name) is not None
    except LookupError:
        return "utf-8"
    try:
        is_text = is_known and _ASCII.decode(name) == _ASCII.decode("ascii")
    except (ValueError, LookupError):  # LookupError for codecs that do not decode to text
        is_text = False
    if not is_text:
        raise _catalogue_error(f"the encoding {name!r} is not one of text; convert it to UTF-8", path)
    return name


def _catalogue_error(reason: str, path: Path, line: int | None = None) -> InputError:
    return InputError(f"is not a valid gettext catalogue ({reason})", path, line)
