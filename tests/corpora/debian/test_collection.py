"""The pairs of packages, and the pages that belong together."""

import pytest

from corpora.debian.apt import Apt
from corpora.debian.collection import (
    document_name,
    document_pairs,
    interface_pairs,
    manual_pairs,
    packages_for,
    page_key,
    page_reader,
)
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


@pytest.mark.parametrize(
    ("path", "language", "document"),
    [
        ("usr/share/man/it/man1/ls.1.gz", "it", "man1/ls.1"),
        ("usr/share/help/it/gnome-help/a.page", "it", "help/gnome-help"),
        ("usr/share/help/C/gnome-help/b.page", "it", "help/gnome-help"),
        ("usr/share/gimp/2.0/help/de/gimp-tools.html", "de", "gimp/2.0/help"),
    ],
)
def test_a_document_is_a_manual_with_all_its_pages_or_a_man_page(path, language, document):
    assert document_name(page_key(path, language)[1]) == document


@pytest.mark.usefixtures("archive")
@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "de",
            [
                ("Hilfe", "Help"),
                ("Dies ist die Hilfe eines sehr kleinen Werkzeugs.", "This is the help of a very small tool."),
                ("Das Werkzeug öffnet Dateien.", "The tool opens files."),
                ("Das Werkzeug öffnet Dateien.", "The tool opens files."),
            ],
        ),
        (
            "it",
            [
                ("Aiuto", "Help"),
                ("Questo è l'aiuto di uno strumento molto piccolo.", "This is the help of a very small tool."),
                ("È lo strumento che apre i file.", "The tool opens files."),
                ("È lo strumento che apre i file.", "The tool opens files."),
            ],
        ),
    ],
)
def test_documents_keep_their_order_their_labels_and_their_repetitions(language, expected, tmp_path):
    apt = Apt(tmp_path / "cache", (language, "en"))
    apt.update()
    packages, _ = apt.locate(["tool-help"])
    apt.fetch(packages)
    found = list(document_pairs(apt, packages, language))
    assert [(pair.source, pair.target) for pair in found] == expected
    assert {pair.document for pair in found} == {"help/tool"}
