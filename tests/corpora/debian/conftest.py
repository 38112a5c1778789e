"""A fake apt with an archive of three packages."""

import gzip
import hashlib
import io
import stat
import tarfile
from pathlib import Path

import polib
import pytest

from corpora.debian import apt as apt_module

APT_GET = """#!/bin/sh
while [ "$1" = -o ]; do shift 2; done
while [ "$2" = -o ]; do first=$1; shift 3; set -- "$first" "$@"; done
case "$1 $2" in
update*) exit 0 ;;
"download --print-uris") shift 2; for name; do grep "/$name.deb'" "$ARCHIVE/uris"; done ;;
indextargets*) for last; do :; done; echo "$ARCHIVE/Translation-${last#Language: }" ;;
download*) shift; for name; do echo "$name" >> "$ARCHIVE/log"; cp "$ARCHIVE/$name.deb" "${name}_1_all.deb" || {
    echo "E: Failed to fetch $name" >&2; exit 100; }; done ;;
esac
"""


APT_CACHE = """#!/bin/sh
cat "$ARCHIVE/names"
"""


DPKG_DEB = """#!/bin/sh
cat "$2"
"""  # the packages of the fake archive are bare tar files


def build_package(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def build_catalogue(tmp_path: Path, strings: dict[str, str]) -> bytes:
    po = polib.POFile()
    po.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    for english, german in strings.items():
        po.append(polib.POEntry(msgid=english, msgstr=german))
    po.save_as_mofile(str(tmp_path / "x.mo"))
    return (tmp_path / "x.mo").read_bytes()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory from which the fake apt takes its packages."""
    programs, directory = tmp_path / "bin", tmp_path / "archive"
    programs.mkdir()
    directory.mkdir()
    scripts = {"apt-get": APT_GET, "apt-cache": APT_CACHE, "dpkg-deb": DPKG_DEB, "apt-helper": '#!/bin/sh\ncat "$2"\n'}
    for name, script in scripts.items():
        (programs / name).write_text(script)
        (programs / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("ARCHIVE", str(directory))
    monkeypatch.setattr(apt_module, "APT_HELPER", str(programs / "apt-helper"))
    strings = {"_File": "_Datei", "Open the file": "Die Datei öffnen", "same": "same", "<b>bold</b>": "<b>fett</b>"}
    page = ".SH NAME\n{}\n"
    contents = {
        "ui": {
            "usr/share/locale/de/LC_MESSAGES/ui.mo": build_catalogue(tmp_path, strings),
            "usr/share/locale/de/LC_MESSAGES/broken.mo": b"broken",
            "usr/share/locale/fr/LC_MESSAGES/ui.mo": build_catalogue(tmp_path, {"File": "Fichier"}),
        },
        "manual": {
            "usr/share/man/man1/a.1.gz": gzip.compress(page.format("This is the help of a very small tool.").encode()),
            "usr/share/man/de/man1/a.1.gz": gzip.compress(
                page.format("Dies ist die Hilfe eines sehr kleinen Werkzeugs.").encode()
            ),
            "usr/share/man/de/man1/alone.1.gz": gzip.compress(b".SH NAME\nallein\n"),
        },
    }
    help_page = "<page><title>{}</title><p>{}</p><p>{}</p><p>{}</p></page>"
    help_texts = {
        "C": ("Help", "This is the help of a very small tool.", "The tool opens files."),
        "de": ("Hilfe", "Dies ist die Hilfe eines sehr kleinen Werkzeugs.", "Das Werkzeug öffnet Dateien."),
        "it": ("Aiuto", "Questo è l'aiuto di uno strumento molto piccolo.", "È lo strumento che apre i file."),
    }
    contents["tool-help"] = {
        f"usr/share/help/{language}/tool/index.page": help_page.format(*texts, texts[-1]).encode()
        for language, texts in help_texts.items()
    }
    uris = []
    for name, files in contents.items():
        data = build_package(files)
        (directory / f"{name}.deb").write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        uris.append(f"'http://archive/{name}.deb' {name}_1_all.deb {len(data)} SHA256:{digest}")
    (directory / "uris").write_text("\n".join(uris) + "\n")
    (directory / "names").write_text("ui\nmanual\ntool-help\nother\n")
    stanza = "Package: x\nDescription-md5: {}\nDescription-{}: {}\n long text\n\n"
    english = stanza.format("1", "en", "small tool") + stanza.format("2", "en", "untranslated")
    (directory / "Translation-en").write_text(english)
    (directory / "Translation-de").write_text(stanza.format("1", "de", "kleines Werkzeug"))
    return directory
