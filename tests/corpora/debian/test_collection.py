"""The pairs of packages, and the pages that belong together."""

import pytest

from corpora.debian.apt import Apt
from corpora.debian.collection import interface_pairs, manual_pairs, packages_for, page_key, page_reader
from corpora.task import Pair


@pytest.mark.usefixtures("archive")
def test_pairs_of_packages(tmp_path):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    apt.update()
    packages, missing = apt.locate(["nowhere|ui", "manual", "gone"])
    assert [package.name for package in packages] == ["ui", "manual"]
    assert missing == ["gone"]
    sizes: list[int] = []
    apt.fetch(packages, progress=sizes.append)
    assert sum(sizes) == sum(package.size for package in packages)
    assert set(interface_pairs(apt, packages, "de")) == {
        Pair("kleines Werkzeug", "small tool"),
        Pair("Datei", "File"),
        Pair("Die Datei öffnen", "Open the file"),
    }
    assert list(manual_pairs(apt, packages, "de")) == [
        Pair("Dies ist die Hilfe eines sehr kleinen Werkzeugs.", "This is the help of a very small tool.")
    ]


def test_package_names_contain_the_language():
    assert packages_for(["manpages-{}", "manpages", "a-{}|b"], "fr") == ["manpages-fr", "manpages", "a-fr|b"]


@pytest.mark.parametrize(
    ("foreign", "english"),
    [
        ("usr/share/man/de/man1/ls.1.gz", "usr/share/man/man1/ls.1.gz"),
        ("usr/share/help/de/app/a.page", "usr/share/help/C/app/a.page"),
        ("usr/share/libreoffice/help/de/text/x.html", "usr/share/libreoffice/help/en-US/text/x.html"),
        ("usr/share/debian-reference/ch01.de.html", "usr/share/debian-reference/ch01.en.html"),
        ("usr/share/doc/maint-guide-de/html/a.de.html", "usr/share/doc/maint-guide/html/a.en.html"),
        ("usr/share/developers-reference/de/l10n.html", "usr/share/developers-reference/l10n.html"),
        ("usr/share/doc/handbook/html/de-DE/a.html", "usr/share/doc/handbook/html/en-US/a.html"),
    ],
)
def test_a_page_finds_its_counterpart(foreign, english):
    assert page_key(foreign, "de") == (True, page_key(english, "de")[1])
    assert page_key(english, "de")[0] is False
    assert page_reader(foreign, "de") is page_reader(english, "de") is not None


@pytest.mark.parametrize(
    "path",
    ["usr/share/man/fr/man1/ls.1.gz", "usr/share/help/fr/app/a.page", "usr/bin/ls", "usr/share/help/de/app/a.png"],
)
def test_other_files_are_not_read(path):
    assert page_reader(path, "de") is None
