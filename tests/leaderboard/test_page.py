"""The files of the page: what they load, and how they are generated."""

import re
from html.parser import HTMLParser

import pytest

from leaderboard import page
from leaderboard.page import Page


class References(HTMLParser):
    """A parser that collects the addresses a document loads, and inline code and style."""

    def __init__(self):
        super().__init__()
        self.addresses, self.inline = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [given[name] for name in ("src", "href") if name in given]
        self.inline += [name for name in given if name == "style" or name.startswith("on")]
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)


def test_page_loads_only_its_own_files():
    document = References()
    document.feed((page.SITE_FOLDER / "index.html").read_text())
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


def content(shown, name):
    file = shown.file(name)
    assert file is not None
    return file.content


def test_missing_file_is_generated_once():
    contents = iter([b"drawing", b"drawing again"])
    shown = Page({"vega.js": lambda: next(contents)})
    assert [content(shown, "vega.js") for _ in range(3)] == ["drawing"] * 3


def test_existing_file_is_not_generated(monkeypatch, tmp_path):
    for name in ("index.html", "vega.js"):
        (tmp_path / name).write_text((page.SITE_FOLDER / "index.html").read_text())
    monkeypatch.setattr(page, "SITE_FOLDER", tmp_path)
    assert content(Page({"vega.js": lambda: pytest.fail("made")}), "vega.js").startswith("<!doctype html>")


def test_page_without_a_security_policy_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    monkeypatch.setattr(page, "SITE_FOLDER", tmp_path)
    with pytest.raises(ValueError, match="no Content-Security-Policy"):
        Page()
