"""Man pages as blocks of text: enough of roff to tell paragraphs, headings and list items apart."""

import re
from collections.abc import Iterator

from corpora.debian.alignment import HEADING, Block

_HEADINGS = {"SH", "SS"}
_PARAGRAPHS = {"PP", "P", "LP", "sp", "br", "RS", "RE", "HP"}
_TAGGED = {"TP", "TQ"}  # the next line is a tag of its own
_FONTS = {"B", "I", "R", "BR", "BI", "RB", "RI", "IR", "IB", "SM", "SB"}
_VERBATIM = {"nf": "fi", "EX": "EE", "TS": "TE"}  # code and tables are no sentences

_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_FONT = re.compile(r"\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^/,%:c]|\\$")
_CHARACTERS = {
    r"\-": "-", r"\ ": " ", r"\~": " ", r"\e": "\\", r"\(aq": "'", r"\(dq": '"', r"\(lq": "“", r"\(rq": "”",
    r"\(bu": "•", r"\(oq": "‘", r"\(cq": "’", r"\(em": "—", r"\(en": "–", r"\(co": "©", r"\(rs": "\\", r"\(ga": "`",
    r"\(ha": "^", r"\(ti": "~", r"\(:a": "ä", r"\(:o": "ö", r"\(:u": "ü", r"\(ss": "ß", r"\(Fo": "«",
    r"\(Fc": "»", r"\(Bq": "„",
}  # fmt: skip
_ESCAPE = re.compile("|".join(re.escape(escape) for escape in _CHARACTERS))
_BRACKETED = re.compile(r"\\\[(\w\w)\]")


def man_blocks(page: str) -> list[Block]:
    """The blocks of a page in the man macros; nothing for one in the mdoc macros, which translate differently."""
    if re.search(r"^\.(Dd|Sh)\b", page, re.MULTILINE):
        return []
    return list(_Page().read(page))


class _Page:
    """What has been gathered of the block at hand."""

    def __init__(self) -> None:
        self._kind = "start"
        self._words: list[str] = []
        self._ends_verbatim: str | None = None
        self._tag_is_next = False

    def read(self, page: str) -> Iterator[Block]:
        for line in page.splitlines():
            macro, rest = _macro(line)
            if self._ends_verbatim:
                if macro == self._ends_verbatim:
                    self._ends_verbatim = None
            elif macro in _VERBATIM:
                self._ends_verbatim = _VERBATIM[macro]
                yield from self._start("verbatim")
                yield from self._start("text")
            else:
                yield from self._line(macro, rest)
        yield from self._start("end")

    def _line(self, macro: str | None, rest: str) -> Iterator[Block]:
        if macro is None or macro in _FONTS:
            if text := rest.strip():
                self._words.append(text)
                if self._tag_is_next:
                    self._tag_is_next = False
                    yield from self._start("text")
        elif macro in _HEADINGS:
            yield from self._start(HEADING)
            self._words.append(rest)
            yield from self._start("text")
        elif macro in _PARAGRAPHS:
            yield from self._start("text")
        elif macro in _TAGGED:
            yield from self._start("tag")
            self._tag_is_next = True
        elif macro == "IP":
            yield from self._start("item")

    def _start(self, kind: str) -> Iterator[Block]:
        """End the block at hand and begin another. Headings count even when they are empty, other blocks do not."""
        text = " ".join(" ".join(self._words).split())
        if text or self._kind == HEADING:
            yield Block(self._kind, text)
        self._kind, self._words = kind, []


def _macro(line: str) -> tuple[str | None, str]:
    """The macro of a line, if it has one, and its plain text."""
    if not line.startswith((".", "'")):
        return None, _plain(line)
    name, _, arguments = line[1:].strip().partition(" ")
    if name in _FONTS | _HEADINGS:
        words = [found[1] if found[1] is not None else found[2] for found in _ARGUMENT.finditer(arguments)]
        alternates = len(name) == 2 and name not in _HEADINGS | {"SM", "SB"}
        return name, _plain(("" if alternates else " ").join(word.replace('""', '"') for word in words))
    return name, ""


def _plain(text: str) -> str:
    text = _BRACKETED.sub(r"\\(\1", _FONT.sub("", text))
    return _ESCAPE.sub(lambda found: _CHARACTERS[found[0]], text)
