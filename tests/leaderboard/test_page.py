"""The page as files."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from leaderboard import page
from leaderboard.table import make_board
from tests.leaderboard import boards


class References(HTMLParser):
    """What a document loads, and whether it has any code or style in itself."""

    def __init__(self):
        super().__init__()
        self.addresses, self.inline = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)


def exported(board, folder):
    page.export_page(board, folder)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def packed(monkeypatch, tmp_path):
    """A library that is packed already, so that these tests need not wait for it."""
    monkeypatch.setattr(page, "library", lambda: b"the library")


def test_the_page_loads_only_what_lies_beside_it():
    document = References()
    document.feed((page.SITE / "index.html").read_text())
    files = set(page.site_files())
    assert {address for address in document.addresses if not address.startswith("#")} <= files
    assert document.inline == []
    for name, content in page.site_files().items():
        found = set(re.findall(rb"https?://[^\s\"'<]+", content)) - {b"http://www.w3.org/2000/svg"}
        assert found == set(), name


def test_modules_import_files_that_exist():
    for name, content in page.site_files().items():
        if name.endswith(".js"):
            assert set(re.findall(r'from "\./([^"]+)"', content.decode())) <= set(page.site_files())


def test_every_chart_takes_its_data_by_name():
    charts = json.loads(page.charts())
    assert set(charts) == {
        "regret",
        "reward",
        "mean_reward",
        "corpus_bleu",
        "sentence_bleu",
        "relative_corpus_bleu",
        "relative_sentence_bleu",
        "length_ratio",
    }
    for name, chart in charts.items():
        assert chart["data"] == {"name": "points"}
        assert chart["encoding"]["y"]["field"] == name
        assert chart["encoding"]["color"] == {"field": "color", "scale": None, "type": "nominal"}
    assert charts["regret"]["encoding"]["x"]["scale"]["type"] == "log"


def test_an_export_has_the_data_beside_the_page(packed, tmp_path):
    board = boards.contest_board()
    written = exported(board, tmp_path / "site")
    assert {"index.html", "style.css", "page.js", "vega.js", "charts.json", "page.json"} < written
    assert {"data/dev.json", "data/dev.csv"} < written
    assert json.loads((tmp_path / "site/data/dev.json").read_text()) == json.loads(json.dumps(board.as_dict()))
    assert json.loads((tmp_path / "site/page.json").read_text()) == {
        "phases": ["dev"],
        "data": "data/{phase}.json",
        "table": "data/{phase}.csv",
        "live": False,
    }


def test_phases_join_in_one_folder_shortest_first(packed, tmp_path):
    exported(make_board(boards.dev_contest(phase="training", total=9_000), [], now=boards.NOW), tmp_path)
    exported(boards.empty_board(), tmp_path)
    written = exported(boards.empty_board(), tmp_path)
    assert json.loads((tmp_path / "page.json").read_text())["phases"] == ["dev", "training"]
    assert not [name for name in written if name.endswith(".part")]


def test_the_library_is_packed_once_and_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    packing = []

    def run(command, *, check):
        packing.append(command)
        Path(command[-1]).write_text("window.vegaEmbed = 1")

    monkeypatch.setattr("subprocess.run", run)
    assert page.library() == page.library() == b"window.vegaEmbed = 1"
    assert len(packing) == 1
    assert len(list((tmp_path / "banditmt").iterdir())) == 1
