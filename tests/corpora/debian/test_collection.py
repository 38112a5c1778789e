"""Packages end to end, with a pretended apt: what it offers, delivers, breaks and lacks."""

import gzip
import hashlib
import io
import shutil
import stat
import tarfile
from pathlib import Path

import polib
import pytest

from corpora.debian import Apt, interface_pairs, manual_pairs, wishes
from corpora.debian import apt as apt_module
from corpora.debian.apt import Package
from corpora.debian.descriptions import description_pairs
from corpora.errors import DebianError
from corpora.task import Pair

APT_GET = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
while [ "$2" = -o ]; do first=$1; shift 3; set -- "$first" "$@"; done
case "$1 $2" in
update*) exit 0 ;;
"download --print-uris") cat "$OFFER/uris" ;;
indextargets*) for last; do :; done; echo "$OFFER/Translation-${last#Language: }" ;;
download*) shift; for name; do echo "$name" >> "$OFFER/log"; cp "$OFFER/$name.deb" "${name}_1_all.deb" || {
    echo "E: Failed to fetch $name" >&2; exit 100; }; done ;;
esac
"""
APT_CACHE = """#!/bin/sh
cat "$OFFER/names"
"""
DPKG_DEB = """#!/bin/sh
cat "$2"
"""  # the pretended packages are bare tar archives


def package(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def catalogue(tmp_path: Path, strings: dict[str, str]) -> bytes:
    po = polib.POFile()
    po.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for english, german in strings.items():
        po.append(polib.POEntry(msgid=english, msgstr=german))
    po.save_as_mofile(str(tmp_path / "x.mo"))
    return (tmp_path / "x.mo").read_bytes()


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory from which the pretended apt takes what it offers."""
    tools, offered = tmp_path / "bin", tmp_path / "offer"
    tools.mkdir()
    offered.mkdir()
    scripts = {"apt-get": APT_GET, "apt-cache": APT_CACHE, "dpkg-deb": DPKG_DEB, "apt-helper": '#!/bin/sh\ncat "$2"\n'}
    for name, script in scripts.items():
        (tools / name).write_text(script)
        (tools / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("OFFER", str(offered))
    monkeypatch.setattr(apt_module, "APT_HELPER", str(tools / "apt-helper"))
    strings = {"_File": "_Datei", "Open the file": "Die Datei öffnen", "same": "same", "<b>bold</b>": "<b>fett</b>"}
    page = ".SH NAME\n{}\n"
    contents = {
        "ui": {
            "usr/share/locale/de/LC_MESSAGES/ui.mo": catalogue(tmp_path, strings),
            "usr/share/locale/de/LC_MESSAGES/broken.mo": b"broken",
            "usr/share/locale/fr/LC_MESSAGES/ui.mo": catalogue(tmp_path, {"File": "Fichier"}),
        },
        "manual": {
            "usr/share/man/man1/a.1.gz": gzip.compress(page.format("This is the help of a very small tool.").encode()),
            "usr/share/man/de/man1/a.1.gz": gzip.compress(
                page.format("Dies ist die Hilfe eines sehr kleinen Werkzeugs.").encode()
            ),
            "usr/share/man/de/man1/alone.1.gz": gzip.compress(b".SH NAME\nallein\n"),
        },
    }
    uris = []
    for name, files in contents.items():
        data = package(files)
        (offered / f"{name}.deb").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        uris.append(f"'http://archive/{name}.deb' {name}_1_all.deb {len(data)} SHA256:{digest}")
    (offered / "uris").write_text("\n".join(uris) + "\n")
    (offered / "names").write_text("ui\nmanual\nother\n")
    stanza = "Package: x\nDescription-md5: {}\nDescription-{}: {}\n long text\n\n"
    english = stanza.format("1", "en", "small tool") + stanza.format("2", "en", "untranslated")
    (offered / "Translation-en").write_text(english)
    (offered / "Translation-de").write_text(stanza.format("1", "de", "kleines Werkzeug"))
    return offered


@pytest.mark.usefixtures("offer")
def test_texts_of_packages(tmp_path):
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


def test_what_is_there_and_whole_is_not_fetched_again(tmp_path, offer):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui", "manual"])
    apt.fetch(packages)
    apt.path(packages[1]).write_bytes(b"cut short")
    sizes: list[int] = []
    apt.fetch(packages, progress=sizes.append)
    assert (offer / "log").read_text().split() == ["ui", "manual", "manual"]
    assert sizes == [packages[0].size, packages[1].size]


def test_a_failed_download_is_one_line(tmp_path, offer):
    (offer / "ui.deb").unlink()
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui"])
    with pytest.raises(DebianError, match="apt-get download failed: Failed to fetch ui"):
        apt.fetch(packages)


def test_a_download_that_is_not_what_was_offered_is_refused(tmp_path, offer):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui", "manual"])
    (offer / "ui.deb").write_bytes(b"something else")
    with pytest.raises(DebianError, match=r"ui_1_all\.deb did not arrive whole; try again"):
        apt.fetch(packages)


@pytest.mark.usefixtures("offer")
def test_a_broken_package_is_refused(tmp_path):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    broken = Package("broken", "broken_1_all.deb", 6, None)
    apt.path(broken).write_bytes(b"broken")
    with pytest.raises(DebianError, match=r"broken_1_all\.deb is broken"):
        list(manual_pairs(apt, [broken], "de"))


@pytest.mark.usefixtures("offer")
def test_a_release_without_any_of_the_packages_is_refused(tmp_path):
    with pytest.raises(DebianError, match="none of the packages is known here"):
        Apt(tmp_path / "cache", ("de", "en")).locate(["gone"])


def test_a_machine_without_apt_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(DebianError, match="apt-get is not on this machine; a Debian task needs Debian"):
        Apt(tmp_path, ("de", "en"))


def test_names_of_packages_carry_the_language():
    assert wishes(["manpages-{}", "manpages", "a-{}|b"], "fr") == ["manpages-fr", "manpages", "a-fr|b"]


def test_descriptions_pair_up_by_digest_and_come_once():
    stanza = "Description-md5: {}\nDescription-{}: {}\n"
    english = [stanza.format(n, "en", text) for n, text in enumerate(["tool", "tool", "same"])]
    german = [stanza.format(n, "de", text) for n, text in enumerate(["Werkzeug", "Werkzeug", "same"])]
    pairs = description_pairs("".join(english).splitlines(), "".join(german).splitlines(), "de")
    assert list(pairs) == [Pair("Werkzeug", "tool")]
