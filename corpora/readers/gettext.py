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

from corpora.entities import decode_entities
from corpora.errors import InputError
from corpora.line_files import open_bytes
from corpora.readers.language_codes import list_languages, same_language
from corpora.task import Pair

MSGID_LANGUAGE = "en"
MAX_BYTES = 256 << 20  # a catalogue is read into memory; the largest known one has 30 MB
SUFFIXES = (".po", ".mo", ".gmo")

_CODE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,4})?(@\w+)?")
_SHORTCUTS = [re.compile(rf"{mark}(?=\w)") for mark in "_&~"]
_BETWEEN_LETTERS = re.compile(r"\w_\w|\w&\w|\w~\w")


def read(paths: list[Path], languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the finished translations of a catalogue or a tree. The document of a pair is its catalogue."""
    (path,) = paths
    if MSGID_LANGUAGE not in languages or len(set(languages)) == 1:
        raise InputError(f"catalogues translate from English, so {' or '.join(languages)} must be 'en'", path)
    foreign = languages[0] if languages[1] == MSGID_LANGUAGE else languages[1]
    if not path.is_dir():
        catalogue = _open(path)
        _require_language(foreign, catalogue, path)
        yield from _pairs(catalogue, languages, document=path.name)
        return
    catalogues = [file for file in sorted(path.rglob("*")) if _is_catalogue(file)]
    wanted = [file for file in catalogues if _is_in_language(foreign, file, path)]
    if not wanted:
        others = {language for file in catalogues for language in _languages_named(file, path)}
        rest = f"; it has catalogues in {list_languages(others)}" if others else ""
        raise InputError(f"has no gettext catalogue in the language {foreign!r}{rest}", path)
    for file in wanted:
        yield from _pairs(_open(file), languages, document=str(file.relative_to(path)))


def read_catalogue(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the finished translations of a catalogue, whatever language its header names."""
    return _pairs(_open(path), languages, document=path.name)


def _is_catalogue(file: Path) -> bool:
    return file.name.removesuffix(".gz").endswith(SUFFIXES) and file.is_file()


def _is_in_language(language: str, file: Path, top: Path) -> bool:
    """Return whether a path names the language: ``po/de.po``, ``de/LC_MESSAGES/tool.mo`` or ``tool_de.po``."""
    return any(same_language(language, part) for part in _language_marks(file, top))


def _language_marks(file: Path, top: Path) -> list[str]:
    stem = file.name.split(".")[0]
    return [stem, stem.rpartition("_")[2], *file.relative_to(top).parts[:-1]]


def _languages_named(file: Path, top: Path) -> list[str]:
    """Return the language that a path names, if it is in one of the usual places."""
    if file.parent.name == "LC_MESSAGES":
        return [file.parent.parent.name]
    return [mark for mark in _language_marks(file, top)[:2] if _CODE.fullmatch(mark)][:1]


def _require_language(language: str, catalogue: polib.POFile | polib.MOFile, path: Path) -> None:
    """Raise InputError if the header names another language. One without a language, or not with a code, may be any."""
    named = catalogue.metadata.get("Language", "")
    if _CODE.fullmatch(named) and not same_language(language.split("-")[0], named):
        raise InputError(f"is in the language {named!r}, not in {language!r}", path)


def _pairs(catalogue: polib.POFile | polib.MOFile, languages: tuple[str, str], document: str) -> Iterator[Pair]:
    from_english = languages[0] == MSGID_LANGUAGE
    for entry in catalogue.translated_entries():  # without untranslated, fuzzy and obsolete ones
        for english, foreign in _texts(entry):
            # First the entities: "&amp;" has no shortcut.
            english, foreign = without_shortcuts(_plain_text(english), _plain_text(foreign))
            yield Pair(english, foreign, document) if from_english else Pair(foreign, english, document)


def _plain_text(text: str) -> str:
    return " ".join(decode_entities(text).split())


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
