"""Gettext catalogues, as text (PO) or compiled (MO): one file, or all files of one language in a directory tree.

The message ids of catalogues are English in either direction of the task. Strings of user interfaces have markers of
keyboard shortcuts (``_File``, ``&File``, ``~File``). They are not text, and are removed where both sides have one.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpora.entities import decode_entities
from corpora.errors import InputError
from corpora.readers.gettext_catalogues import Message, read_messages
from corpora.readers.language_codes import list_languages, same_language
from corpora.task import Pair

MSGID_LANGUAGE = "en"
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
        yield from _pairs(_in_language(foreign, path), languages, document=path.name)
        return
    catalogues = [file for file in sorted(path.rglob("*")) if _is_catalogue(file)]
    wanted = [file for file in catalogues if _is_in_language(foreign, file, path)]
    if not wanted:
        others = {language for file in catalogues for language in _languages_named(file, path)}
        rest = f"; it has catalogues in {list_languages(others)}" if others else ""
        raise InputError(f"has no gettext catalogue in the language {foreign!r}{rest}", path)
    for file in wanted:
        yield from _pairs(read_messages(file), languages, document=str(file.relative_to(path)))


def read_catalogue(path: Path, languages: tuple[str, str]) -> Iterator[Pair]:
    """Yield the finished translations of a catalogue, whatever language its header names."""
    return _pairs(read_messages(path), languages, document=path.name)


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


def _in_language(language: str, path: Path) -> Iterator[Message]:
    """Yield the messages of a catalogue; raise InputError if its header names another language.

    A header without a language, or with a name that is no code, may be of any.
    """
    for message in read_messages(path):
        named = message.language or ""
        if _CODE.fullmatch(named) and not same_language(language.split("-")[0], named):
            raise InputError(f"is in the language {named!r}, not in {language!r}", path)
        yield message


def _pairs(messages: Iterable[Message], languages: tuple[str, str], document: str) -> Iterator[Pair]:
    from_english = languages[0] == MSGID_LANGUAGE
    for message in messages:
        for english, foreign in _texts(message):
            # First the entities: "&amp;" has no shortcut.
            english, foreign = without_shortcuts(_plain_text(english), _plain_text(foreign))
            yield Pair(english, foreign, document) if from_english else Pair(foreign, english, document)


def _plain_text(text: str) -> str:
    return " ".join(decode_entities(text).split())


def _texts(message: Message) -> Iterator[tuple[str, str]]:
    if not message.msgid:  # the header
        return
    yield message.msgid, message.translations[0]
    if message.msgid_plural and len(message.translations) == 2:  # with more, it is unknown which one is the plural
        yield message.msgid_plural, message.translations[1]


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
