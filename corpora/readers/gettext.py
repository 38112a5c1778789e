"""Gettext catalogues, as text (PO) or compiled (MO): one file, or all files of one language in a directory tree.

The message ids of catalogues are English in either direction of the task. Strings of user interfaces have markers of
keyboard shortcuts (``_File``, ``&File``, ``~File``). They are not text, and are removed where both sides have one.
"""

import re
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polib

from corpora.errors import InputError
from corpora.line_files import open_bytes
from corpora.readers.language_codes import same_language
from corpora.task import Pair

MSGID_LANGUAGE = "en"
MAX_BYTES = 256 << 20  # a catalogue is read into memory; the largest known one has 30 MB
SUFFIXES = (".po", ".mo", ".gmo")

_SHORTCUTS = [re.compile(rf"{mark}(?=\w)") for mark in "_&~"]
_BETWEEN_LETTERS = re.compile(r"\w_\w|\w&\w|\w~\w")


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the finished translations of a catalogue or a tree. The document of a pair is its catalogue."""
    (path,) = paths
    if MSGID_LANGUAGE not in languages or len(set(languages)) == 1:
        raise InputError(f"catalogues translate from English, so {' or '.join(languages)} must be 'en'", path)
    if not path.is_dir():
        yield from _read_catalogue(path, languages, document=path.name)
        return
    foreign = languages[0] if languages[1] == MSGID_LANGUAGE else languages[1]
    catalogues = [
        file for file in sorted(path.rglob("*")) if _is_catalogue(file) and _is_in_language(foreign, file, path)
    ]
    if not catalogues:
        raise InputError(f"has no gettext catalogue in the language {foreign!r}", path)
    for file in catalogues:
        yield from _read_catalogue(file, languages, document=str(file.relative_to(path)))


def _is_catalogue(file: Path) -> bool:
    return file.name.removesuffix(".gz").endswith(SUFFIXES) and file.is_file()


def _is_in_language(language: str, file: Path, top: Path) -> bool:
    """Return whether a path names the language: ``po/de.po``, ``de/LC_MESSAGES/tool.mo`` or ``tool_de.po``."""
    stem = file.name.split(".")[0]
    parts = file.relative_to(top).parts[:-1]
    return any(same_language(language, part) for part in (stem, stem.rpartition("_")[2], *parts))


def _read_catalogue(path: Path, languages: tuple[str, str], document: str) -> Iterator[Pair]:
    from_english = languages[0] == MSGID_LANGUAGE
    for entry in _open(path).translated_entries():  # without untranslated, fuzzy and obsolete ones
        for english, foreign in _texts(entry):
            english, foreign = without_shortcuts(" ".join(english.split()), " ".join(foreign.split()))
            yield Pair(english, foreign, document) if from_english else Pair(foreign, english, document)


def _texts(entry: polib.POEntry | polib.MOEntry) -> Iterator[tuple[str, str]]:
    if not entry.msgid_plural:
        yield entry.msgid, entry.msgstr
        return
    forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)]
    yield entry.msgid, forms[0]
    if len(forms) == 2:  # with more, it is unknown which one translates the English plural
        yield entry.msgid_plural, forms[1]


def without_shortcuts(english: str, foreign: str) -> tuple[str, str]:
    """Remove the shortcut markers, but not the same character within a name that is not translated (``file_name``)."""
    for shortcut in _SHORTCUTS:
        if len(shortcut.findall(english)) == len(shortcut.findall(foreign)) == 1:
            names = _words_with(shortcut, english) & _words_with(shortcut, foreign)
            if not any(_BETWEEN_LETTERS.search(name) for name in names):
                return shortcut.sub("", english), shortcut.sub("", foreign)
    return english, foreign


def _words_with(shortcut: re.Pattern[str], text: str) -> set[str]:
    return {word for word in text.split() if shortcut.search(word)}


def _open(path: Path) -> polib.POFile | polib.MOFile:
    parse = polib.pofile if path.name.removesuffix(".gz").endswith(".po") else polib.mofile
    with tempfile.TemporaryDirectory() as directory, open_bytes(path) as stream:
        content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise InputError(f"is larger than {MAX_BYTES:,} bytes", path)
        unpacked = Path(directory) / path.name  # polib takes a string that names no file for content
        unpacked.write_bytes(content)
        try:
            return parse(str(unpacked))
        except (OSError, ValueError, LookupError, struct.error, AttributeError, OverflowError, MemoryError) as wrong:
            reason = " ".join(str(wrong).replace(f" {unpacked}", "").split()) or type(wrong).__name__
            raise InputError(f"is not a valid gettext catalogue ({reason})", path, _line_number(wrong)) from None


def _line_number(wrong: Exception) -> int | None:
    found = re.search(r"\(line (\d+)\)", str(wrong))
    return int(found[1]) if found else None
