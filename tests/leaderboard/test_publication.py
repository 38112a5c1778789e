"""The page as a folder for any web server."""

import json
from pathlib import Path

import pytest

from leaderboard import publication
from leaderboard.page import site_files
from leaderboard.table import make_board
from tests.leaderboard import boards


def exported(board, folder):
    publication.export_page(board, folder)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def fake_bundle(monkeypatch, tmp_path):
    """Replace the Vega bundle, so that tests need not wait for it."""
    monkeypatch.setattr(publication, "vega_bundle", lambda: b"vega")


def test_every_chart_has_a_named_data_set():
    charts = json.loads(publication.charts_json())
    assert set(charts) == {
        "gain",
        "regret",
        "reward",
        "mean_reward",
        "corpus_bleu",
        "sentence_bleu",
        "relative_corpus_bleu",
        "relative_sentence_bleu",
        "length_ratio",
        "difference_r0",
        "difference_r1",
        "difference_r0_1",
        "difference_bleu",
        "ter",
        "incremental_ter",
    }
    for name, chart in charts.items():
        assert chart["data"] == {"name": "points"}
        drawn = [each for each in chart.get("layer", [chart]) if each["mark"]["type"] != "rule"]
        fields = [each["encoding"]["y"]["field"] for each in drawn]
        layered = ["gain_low", "gain"] if name == "gain" else [f"{name}_curve", name]
        assert fields == (layered if "layer" in chart else [name])
        for each in drawn:
            assert each["encoding"]["color"] == {"field": "color", "scale": None, "type": "nominal"}
    assert charts["regret"]["encoding"]["x"]["scale"]["type"] == "log"
    assert "type" not in charts["gain"]["layer"][1]["encoding"]["x"]["scale"], "linear"


def test_export_contains_page_and_data(fake_bundle, tmp_path):
    board = boards.dev_board()
    written = exported(board, tmp_path / "site")
    assert {"index.html", "style.css", "page.js", "vega.js", "charts.json", "page.json"} < written
    assert {"data/dev.json", "data/dev.csv"} < written
    assert json.loads((tmp_path / "site/data/dev.json").read_text()) == json.loads(json.dumps(board.as_dict()))
    assert json.loads((tmp_path / "site/page.json").read_text()) == {
        "phases": ["dev"],
        "data": "data/{phase}.json",
        "table": "data/{phase}.csv",
        "task": None,
        "live": False,
    }


def test_export_keeps_what_the_task_says_about_itself(fake_bundle, tmp_path):
    publication.export_page(boards.empty_board(), tmp_path, {"title": "Shop texts", "source": "de"})
    publication.export_page(boards.empty_board(), tmp_path)
    assert json.loads((tmp_path / "task.json").read_text()) == {"title": "Shop texts", "source": "de"}
    settings = json.loads((tmp_path / "page.json").read_text())
    assert (settings["task"], settings["phases"]) == ("task.json", ["dev"])


def test_exports_of_several_phases_share_a_folder(fake_bundle, tmp_path):
    exported(make_board(boards.dev_phase(name="training", total=9_000), [], now=boards.NOW), tmp_path)
    exported(boards.empty_board(), tmp_path)
    written = exported(boards.empty_board(), tmp_path)
    assert json.loads((tmp_path / "page.json").read_text())["phases"] == ["dev", "training"]
    assert not [name for name in written if Path(name).name.startswith(".")]


def test_vega_bundle_is_cached(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packing = []

    def run(command, *, check):
        packing.append(command)
        Path(command[-1]).write_text("window.vegaEmbed = 1")

    monkeypatch.setattr("subprocess.run", run)
    assert publication.vega_bundle() == publication.vega_bundle() == b"window.vegaEmbed = 1"
    assert len(packing) == 1
    assert len(list((tmp_path / "banditmt").iterdir())) == 1


def test_cloud_bundle_has_everything_but_data(fake_bundle, tmp_path):
    publication.write_site(tmp_path / "site")
    written = {path.name for path in (tmp_path / "site").iterdir()}
    assert written == {*site_files(), "charts.json", "vega.js"}
