"""The leaderboard's page for any web server: a folder with its files, its charts, the script that draws them, and data.

Nothing is built: the files of ``site/`` are copied as they lie there. Two are made: ``charts.json`` holds the Vega-Lite
charts of ``figures.py`` without their data, and ``vega.js`` the library that draws them, as vl-convert packs it.
``python -m leaderboard.publication FOLDER`` writes all but the data, for the bundle of the cloud.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from leaderboard.exports import to_csv
from leaderboard.page import CHARTS_FILE, SETTINGS_FILE, VEGA_FILE, settings, site_files
from leaderboard.table import Board
from task.atomic_files import staged_file, write_bytes

# what the bundle is to offer: drawing a chart, the rest of Vega being reached through the view that it returns
SNIPPET = "window.vegaEmbed = vegaEmbed;"
PACKING = "import sys; from leaderboard.publication import pack; pack(sys.argv[1])"  # by a process of its own


@cache
def charts_json() -> bytes:
    """The charts that the page draws, by name, each with a data set called ``points`` that the page fills."""
    from leaderboard.figures import page_charts  # the drawing library takes a moment to load

    return _json({name: chart.to_dict() for name, chart in page_charts().items()})


def vega_bundle() -> bytes:
    """Vega with all it needs. It takes seconds to pack, so it is packed once for each version, and kept."""
    kept = _cache() / f"vega-{version('vl-convert-python')}.js"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(kept) as staged:
            # packing would hold up all threads of this process
            subprocess.run([sys.executable, "-c", PACKING, str(staged)], check=True)
    return kept.read_bytes()


def pack(path: str) -> None:
    """Write the library."""
    import vl_convert

    Path(path).write_text(vl_convert.javascript_bundle(SNIPPET), encoding="utf-8")


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "banditmt"


GENERATED_FILES: dict[str, Callable[[], bytes]] = {CHARTS_FILE: charts_json, VEGA_FILE: vega_bundle}


def write_site(folder: Path) -> None:
    """All files of the page but its settings and data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**site_files(), CHARTS_FILE: charts_json(), VEGA_FILE: vega_bundle()}.items():
        write_bytes(folder / name, content)


def export_page(board: Board, folder: Path) -> None:
    """Write the page with the data of a board beside it. Boards of other phases that are there already stay."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    write_bytes(data / f"{board.phase}.json", _json(board.as_dict()))
    write_bytes(data / f"{board.phase}.csv", to_csv(board).encode())
    totals = {path.stem: json.loads(path.read_bytes())["total"] for path in data.glob("*.json")}
    write_site(folder)
    phases = sorted(totals, key=totals.__getitem__)
    told = settings(phases, data="data/{phase}.json", table="data/{phase}.csv", live=False)
    write_bytes(folder / SETTINGS_FILE, told.encode())


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
