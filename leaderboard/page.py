"""The leaderboard's page as files to be sent, one by one: what lies in ``site/``, and what was made to lie beside it.

``publication.py`` makes what is missing there: the bundle for the cloud carries it, and on one machine it is made when
a first visitor wants it. Nothing here needs a library, because the service sends these files too.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

SITE_FOLDER = Path(__file__).parent / "site"
INDEX_FILE = "index.html"
SETTINGS_FILE = "page.json"
CHARTS_FILE = "charts.json"
VEGA_FILE = "vega.js"

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


class PageFile(NamedTuple):
    """One file of the page."""

    name: str
    content: str

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES[PurePosixPath(self.name).suffix]


def site_files() -> dict[str, bytes]:
    """What lies in ``site/``, by name."""
    return {path.name: path.read_bytes() for path in sorted(SITE_FOLDER.iterdir()) if path.suffix in CONTENT_TYPES}


class Page:
    """The files of the page by name; ``makers`` make those that do not lie there. Safe to share between threads."""

    def __init__(self, makers: Mapping[str, Callable[[], bytes]] | None = None) -> None:
        self._files = {name: PageFile(name, content.decode()) for name, content in site_files().items()}
        self._makers = dict(makers or {})
        self._making = {name: threading.Lock() for name in self._makers}
        self.headers = {
            "Content-Security-Policy": _security(self._files[INDEX_FILE].content),
            "Referrer-Policy": "no-referrer",
        }

    def file(self, name: str) -> PageFile | None:
        """A file, or None if there is no such file."""
        if name not in self._files and name in self._makers:
            with self._making[name]:  # once; whoever else wants it meanwhile waits
                if name not in self._files:
                    self._files[name] = PageFile(name, self._makers[name]().decode())
        return self._files.get(name)


def _security(front: str) -> str:
    """The page's own policy, which it has in a meta element for other web servers, and what only a header can say."""
    found = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', front)
    if found is None:
        raise ValueError("the page has no Content-Security-Policy")
    return f"{found[1]}; frame-ancestors 'none'"


def settings(phases: Sequence[str], *, data: str, table: str, live: bool) -> str:
    """What the page reads first: the phases, shortest first, and the address of each one's board as JSON and as CSV."""
    return json.dumps({"phases": list(phases), "data": data, "table": table, "live": live}, ensure_ascii=False)
