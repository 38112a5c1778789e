"""Reads man pages as blocks of text, with as much of roff as distinguishes headings, paragraphs and list items."""

import re
from collections.abc import Iterator

from corpora.debian.page_alignment import HEADING, PageBlock

_HEADING_MACROS = {"SH", "SS"}
_PARAGRAPH_MACROS = {"PP", "P", "LP", "sp", "br", "RS", "RE", "HP"}
_TAGGED_MACROS = {"TP", "TQ"}  # the next line is the tag of a paragraph
_FONT_MACROS = {"B", "I", "R", "BR", "BI", "RB", "RI", "IR", "IB", "SM", "SB"}
_VERBATIM_MACROS = {"nf": "fi", "EX": "EE", "TS": "TE"}  # code and tables have no sentences

_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_FONT_ESCAPE = re.compile(r"\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^/,%:c]|\\$")
_ESCAPED_CHARACTERS = {
    r"\-": "-", r"\ ": " ", r"\~": " ", r"\e": "\\", r"\(aq": "'", r"\(dq": '"', r"\(lq": "“", r"\(rq": "”",
    r"\(bu": "•", r"\(oq": "‘", r"\(cq": "’", r"\(em": "—", r"\(en": "–", r"\(co": "©", r"\(rs": "\\", r"\(ga": "`",
    r"\(ha": "^", r"\(ti": "~", r"\(:a": "ä", r"\(:o": "ö", r"\(:u": "ü", r"\(ss": "ß", r"\(Fo": "«",
    r"\(Fc": "»", r"\(Bq": "„",
}  # fmt: skip
_ESCAPE = re.compile("|".join(re.escape(escape) for escape in _ESCAPED_CHARACTERS))
_BRACKETED = re.compile(r"\\\[(\w\w)\]")


def man_blocks(page: str) -> list[PageBlock]:
    """Return the blocks of a page in man macros; none for a page in mdoc macros, which are translated differently."""
    if re.search(r"^\.(Dd|Sh)\b", page, re.MULTILINE):
        return []
    return list(_ManPageReader().read(page))


class _ManPageReader:
    """Collects the words of the current block and yields the completed ones."""

    def __init__(self) -> None:
        self._kind = "start"
        self._words: list[str] = []
        self._verbatim_end: str | None = None
        self._tag_is_next = False

    def read(self, page: str) -> Iterator[PageBlock]:
        for line in page.splitlines():
            macro, rest = _macro(line)
            if self._verbatim_end:
                if macro == self._verbatim_end:
                    self._verbatim_end = None
            elif macro in _VERBATIM_MACROS:
                self._verbatim_end = _VERBATIM_MACROS[macro]
                yield from self._start("verbatim")
                yield from self._start("text")
            else:
                yield from self._line(macro, rest)
        yield from self._start("end")

    def _line(self, macro: str | None, rest: str) -> Iterator[PageBlock]:
        if macro is None or macro in _FONT_MACROS:
            if text := rest.strip():
                self._words.append(text)
                if self._tag_is_next:
                    self._tag_is_next = False
                    yield from self._start("text")
        elif macro in _HEADING_MACROS:
            yield from self._start(HEADING)
            self._words.append(rest)
            yield from self._start("text")
        elif macro in _PARAGRAPH_MACROS:
            yield from self._start("text")
        elif macro in _TAGGED_MACROS:
            yield from self._start("tag")
            self._tag_is_next = True
        elif macro == "IP":
            yield from self._start("item")

    def _start(self, kind: str) -> Iterator[PageBlock]:
        """Yield the current block and begin another. An empty heading counts, other empty blocks do not."""
        text = " ".join(" ".join(self._words).split())
        if text or self._kind == HEADING:
            yield PageBlock(self._kind, text)
        self._kind, self._words = kind, []


def _macro(line: str) -> tuple[str | None, str]:
    """Return the macro of a line, or None, and the plain text of the line."""
    if not line.startswith((".", "'")):
        return None, _plain(line)
    name, _, arguments = line[1:].strip().partition(" ")
    if name in _FONT_MACROS | _HEADING_MACROS:
        words = [found[1] if found[1] is not None else found[2] for found in _ARGUMENT.finditer(arguments)]
        alternates = len(name) == 2 and name not in _HEADING_MACROS | {"SM", "SB"}
        return name, _plain(("" if alternates else " ").join(word.replace('""', '"') for word in words))
    return name, ""


def _plain(text: str) -> str:
    text = _BRACKETED.sub(r"\\(\1", _FONT_ESCAPE.sub("", text))
    return _ESCAPE.sub(lambda found: _ESCAPED_CHARACTERS[found[0]], text)
