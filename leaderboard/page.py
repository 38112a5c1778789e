"""The files of the leaderboard's page: those in ``site/``, and generated ones.

``publication.py`` generates the files that ``site/`` lacks. The cloud bundle contains them; a local server generates
them at the first request. This module needs no library, because the cloud functions serve these files, too.
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
TASK_FILE = "task.json"  # in a page that was exported
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
    """Return the contents of the files in ``site/``, by name."""
    return {path.name: path.read_bytes() for path in sorted(SITE_FOLDER.iterdir()) if path.suffix in CONTENT_TYPES}


class Page:
    """The files of the page by name, safe to share between threads.

    ``generators`` return the contents of files that are not in ``site/``.
    """

    def __init__(self, generators: Mapping[str, Callable[[], bytes]] | None = None) -> None:
        self._files = {name: PageFile(name, content.decode()) for name, content in site_files().items()}
        self._generators = dict(generators or {})
        self._generating = {name: threading.Lock() for name in self._generators}
        self.headers = {
            "Content-Security-Policy": _security_policy(self._files[INDEX_FILE].content),
            "Referrer-Policy": "no-referrer",
        }

    def file(self, name: str) -> PageFile | None:
        """Return a file, or None if the page has no such file."""
        if name not in self._files and name in self._generators:
            with self._generating[name]:  # once; other threads that want it wait
                if name not in self._files:
                    self._files[name] = PageFile(name, self._generators[name]().decode())
        return self._files.get(name)


def _security_policy(index: str) -> str:
    """Return the security policy for a header: that of the page's meta element, and what only a header can say."""
    found = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', index)
    if found is None:
        raise ValueError("the page has no Content-Security-Policy")
    return f"{found[1]}; frame-ancestors 'none'"


def settings(phases: Sequence[str], *, data: str, table: str, task: str | None, live: bool) -> str:
    """Return the JSON that the page reads first.

    Args:
        phases: The phases, shortest first.
        data: The address of the board of a ``{phase}``.
        table: The address of the same as CSV.
        task: The address of what the task says about itself, if it is known.
        live: Whether boards change.
    """
    found = {"phases": list(phases), "data": data, "table": table, "task": task, "live": live}
    return json.dumps(found, ensure_ascii=False)
