"""The leaderboard's page as a folder for any web server: its files, its charts, the library that draws them, and data.

There is no build step: the files of ``site/`` are copied. Two files are generated: ``charts.json`` holds the Vega-Lite
charts of ``figures.py`` without data, and ``vega.js`` the library that draws them, bundled by vl-convert.
``python -m leaderboard.publication FOLDER`` writes everything but the data, for the cloud bundle.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from leaderboard.exports import to_csv
from leaderboard.page import CHARTS_FILE, SETTINGS_FILE, TASK_FILE, VEGA_FILE, settings, site_files
from leaderboard.rows import Board
from task.atomic_files import staged_file, write_bytes

# What the bundle exports: vegaEmbed draws a chart, and the view that it returns gives access to the rest of Vega.
VEGA_ENTRY_POINT = "window.vegaEmbed = vegaEmbed;"
# Run in its own process: bundling would block all threads of this one.
BUNDLE_COMMAND = "import sys; from leaderboard.publication import write_vega_bundle; write_vega_bundle(sys.argv[1])"


@cache
def charts_json() -> bytes:
    """Return the charts of the page by name; the page fills the data set ``points`` of each."""
    from leaderboard.figures import page_charts  # altair is slow to import

    return _json({name: chart.to_dict() for name, chart in page_charts().items()})


def vega_bundle() -> bytes:
    """Return Vega and its dependencies as one script, cached by version because bundling takes seconds."""
    cached = _cache_folder() / f"vega-{version('vl-convert-python')}.js"
    if not cached.exists():
        cached.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(cached) as staged:
            subprocess.run([sys.executable, "-c", BUNDLE_COMMAND, str(staged)], check=True)
    return cached.read_bytes()


def write_vega_bundle(path: str) -> None:
    """Bundle Vega into a file."""
    import vl_convert

    Path(path).write_text(vl_convert.javascript_bundle(VEGA_ENTRY_POINT), encoding="utf-8")


def _cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "banditmt"


GENERATED_FILES: dict[str, Callable[[], bytes]] = {CHARTS_FILE: charts_json, VEGA_FILE: vega_bundle}


def write_site(folder: Path) -> None:
    """Write all files of the page except its settings and data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**site_files(), CHARTS_FILE: charts_json(), VEGA_FILE: vega_bundle()}.items():
        write_bytes(folder / name, content)


def export_page(board: Board, folder: Path, task: Mapping[str, Any] | None = None) -> None:
    """Write the page with the data of a board; boards of other phases in the folder stay.

    ``task`` is what the task says about itself, as ``GET /v1/task`` returns it.
    """
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    write_bytes(data / f"{board.phase}.json", _json(board.as_dict()))
    write_bytes(data / f"{board.phase}.csv", to_csv(board).encode())
    totals = {path.stem: json.loads(path.read_bytes())["total"] for path in data.glob("*.json")}
    write_site(folder)
    phases = sorted(totals, key=totals.__getitem__)
    if task is not None:
        write_bytes(folder / TASK_FILE, _json(task))
    known = TASK_FILE if (folder / TASK_FILE).exists() else None
    content = settings(phases, data="data/{phase}.json", table="data/{phase}.csv", task=known, live=False)
    write_bytes(folder / SETTINGS_FILE, content.encode())


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
