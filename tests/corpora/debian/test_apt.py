"""Downloads with apt: what is missing, incomplete or damaged."""

import shutil

import pytest

from corpora.debian.apt import Apt, Package
from corpora.debian.collection import manual_pairs
from corpora.errors import DebianError


def test_a_complete_package_is_not_downloaded_again(tmp_path, archive):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui", "manual"])
    apt.fetch(packages)
    apt.path(packages[1]).write_bytes(b"cut short")
    sizes: list[int] = []
    apt.fetch(packages, progress=sizes.append)
    assert (archive / "log").read_text().split() == ["ui", "manual", "manual"]
    assert sizes == [packages[0].size, packages[1].size]


def test_a_failed_download_is_one_line(tmp_path, archive):
    (archive / "ui.deb").unlink()
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui"])
    with pytest.raises(DebianError, match="apt-get download failed: Failed to fetch ui"):
        apt.fetch(packages)


def test_a_download_with_another_digest_is_refused(tmp_path, archive):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    packages, _ = apt.locate(["ui", "manual"])
    (archive / "ui.deb").write_bytes(b"something else")
    with pytest.raises(DebianError, match=r"the download of ui_1_all\.deb is incomplete; try again"):
        apt.fetch(packages)


@pytest.mark.usefixtures("archive")
def test_a_damaged_package_is_refused(tmp_path):
    apt = Apt(tmp_path / "cache", ("de", "en"))
    broken = Package("broken", "broken_1_all.deb", 6, None)
    apt.path(broken).write_bytes(b"broken")
    with pytest.raises(DebianError, match=r"broken_1_all\.deb is damaged"):
        list(manual_pairs(apt, [broken], "de"))


@pytest.mark.usefixtures("archive")
def test_a_release_without_the_packages_is_refused(tmp_path):
    with pytest.raises(DebianError, match="apt knows none of the packages; add a Debian source"):
        Apt(tmp_path / "cache", ("de", "en")).locate(["gone"])


def test_a_machine_without_apt_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(DebianError, match="apt-get is not installed; a Debian task needs Debian"):
        Apt(tmp_path, ("de", "en"))
