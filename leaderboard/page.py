"""The leaderboard's page as files for any web server: what is in ``site/``, its charts, and the script that draws them.

Nothing is built: the files are served as they lie there. Two are made: ``charts.json`` holds the Vega-Lite charts of
``figures.py`` without their data, and ``vega.js`` the library that draws them, as vl-convert packs it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from leaderboard.exports import to_csv
from leaderboard.table import Board

SITE = Path(__file__).parent / "site"
SETTINGS = "page.json"
CHARTS = "charts.json"
LIBRARY = "vega.js"

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}

# what the bundle is to offer: drawing a chart, the rest of Vega being reached through the view that it returns
SNIPPET = "window.vegaEmbed = vegaEmbed;"


def site_files() -> dict[str, bytes]:
    """What lies in ``site/``, by name."""
    return {path.name: path.read_bytes() for path in sorted(SITE.iterdir()) if path.suffix in CONTENT_TYPES}


@cache
def charts() -> bytes:
    """The charts that the page draws, by name, each with a data set called ``points`` that the page fills."""
    from leaderboard.figures import page_charts  # the drawing library takes a moment to load

    return _json({name: chart.to_dict() for name, chart in page_charts().items()})


def library() -> bytes:
    """Vega with all it needs. It takes seconds to pack, so it is packed once for each version, and kept."""
    kept = _cache() / f"vega-{version('vl-convert-python')}.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        # packing would hold up all threads of this process
        subprocess.run([sys.executable, "-m", "leaderboard.page", str(part)], check=True)
        part.replace(kept)
    return kept.read_bytes()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "banditmt"


def _pack(path: Path) -> None:
    import vl_convert

    path.write_text(vl_convert.javascript_bundle(SNIPPET), encoding="utf-8")


def settings(phases: Sequence[str], *, data: str, table: str, live: bool) -> bytes:
    """What the page reads first: the phases, shortest first, and the address of each one's board as JSON and as CSV."""
    return _json({"phases": list(phases), "data": data, "table": table, "live": live})


def export_page(board: Board, folder: Path) -> None:
    """Write the page with the data of a board beside it. Boards of other phases that are there already stay."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    _write(data / f"{board.phase}.json", _json(board.as_dict()))
    _write(data / f"{board.phase}.csv", to_csv(board).encode())
    totals = {path.stem: json.loads(path.read_bytes())["total"] for path in data.glob("*.json")}
    for name, content in {**site_files(), CHARTS: charts(), LIBRARY: library()}.items():
        _write(folder / name, content)
    phases = sorted(totals, key=totals.__getitem__)
    _write(folder / SETTINGS, settings(phases, data="data/{phase}.json", table="data/{phase}.csv", live=False))


def _write(path: Path, content: bytes) -> None:
    """All or nothing: a web server may be reading."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    _pack(Path(sys.argv[1]))
