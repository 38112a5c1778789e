"""Reads help pages and manuals in HTML, Mallard or DocBook as blocks of text."""

from html.parser import HTMLParser

from corpora.debian.page_alignment import HEADING, PageBlock

_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "title"}
_BLOCKS = {"p", "para", "simpara", "li", "dt", "dd", "td", "th", "term", "entry", "div", "section", "desc", "item",
           "listitem", "note", "blockquote", "table", "ul", "ol", "dl"}  # fmt: skip
_SKIPPED = {"script", "style", "pre", "screen", "programlisting", "code-block", "nav", "credit", "info", "link"}
_VOID = {"br", "img", "hr", "meta", "link", "input"}  # never closed in HTML


def markup_blocks(page: str) -> list[PageBlock]:
    """Return the blocks of a page without inline markup and without code."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    parser.end_block("end")
    return parser.blocks


class _Parser(HTMLParser):
    """A tolerant parser: manuals are rarely valid in any of the three formats."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[PageBlock] = []
        self._kind = "text"
        self._words: list[str] = []
        self._skipping: list[str] = []  # open elements that are skipped

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag in _SKIPPED and tag not in _VOID:
            self._skipping.append(tag)
        elif not self._skipping and tag in _HEADINGS:
            self.end_block(HEADING)
        elif not self._skipping and tag in _BLOCKS:
            self.end_block(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Ignore an empty element."""

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[-1]:
                self._skipping.pop()
        elif tag in _HEADINGS | _BLOCKS:
            self.end_block("text")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._words.append(data)

    def end_block(self, kind: str) -> None:
        """Keep the current block, unless it is empty, and begin another."""
        text = " ".join("".join(self._words).split())
        if text:
            self.blocks.append(PageBlock(self._kind, text))
        self._kind, self._words = kind, []
