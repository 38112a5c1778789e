"""Downloads packages with apt into a cache directory, without root and without changing the system."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.errors import DebianError

BATCH_SIZE = 8  # packages per call of apt-get, which takes a second to start
APT_HELPER = "/usr/lib/apt/apt-helper"  # reads lists in any compression
REQUIRED_PROGRAMS = ("apt-get", "dpkg-deb")
MAX_FILE_SIZE = 64 << 20  # bytes of one file in a package; texts are far smaller

_URI = re.compile(r"^'[^']+' (?P<name>\S+) (?P<size>\d+) (?P<digest>SHA\d+:[0-9a-f]+)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """A package of the archive, with the size and digest of its file."""

    name: str
    file: str
    size: int
    sha256: str | None


class Apt:
    """apt with its lists and downloads in one cache directory. A complete file is not downloaded again."""

    def __init__(self, cache: Path, languages: tuple[str, str]) -> None:
        for tool in REQUIRED_PROGRAMS:
            if shutil.which(tool) is None:
                raise DebianError(f"{tool} is not installed; a Debian task needs Debian, Ubuntu or a derivative")
        self._cache = cache.resolve()
        self._packages = self._cache / "packages"
        for directory in (self._packages, self._cache / "lists" / "partial", self._cache / "archives" / "partial"):
            directory.mkdir(parents=True, exist_ok=True)
        settings = {
            "Dir::State::lists": self._cache / "lists",
            "Dir::Cache": self._cache,
            "Dir::Cache::archives": self._cache / "archives",
            "Acquire::Languages": ",".join(languages),
            "APT::Sandbox::User": "",  # the user _apt cannot write here
        }
        self._options = [option for name, value in settings.items() for option in ("-o", f"{name}={value}")]

    def _run(self, *arguments: str, cwd: Path | None = None) -> str:
        command = [*arguments[:1], *self._options, *arguments[1:]]
        done = subprocess.run(command, cwd=cwd or self._cache, capture_output=True, text=True, check=False)
        if done.returncode:
            complaints = [line for line in done.stderr.splitlines() if line.startswith("E:")] or [done.stderr.strip()]
            raise DebianError(f"{' '.join(arguments[:2])} failed: {complaints[0].removeprefix('E: ')}")
        return done.stdout

    def update(self) -> None:
        """Download the package lists and the descriptions in both languages, unless they are unchanged."""
        self._run("apt-get", "update")

    def locate(self, wanted: list[str]) -> tuple[list[Package], list[str]]:
        """Return the packages that can be downloaded, and the names of those that cannot.

        A name can have alternatives: ``gcc-14|gcc-13``.
        """
        available = set(self._run("apt-cache", "pkgnames").split())
        names, missing = [], []
        for alternatives in wanted:
            name = next((name for name in alternatives.split("|") if name in available), None)
            if name is None:
                missing.append(alternatives)
            else:
                names.append(name)
        if not names:
            raise DebianError("apt knows none of the packages; add a Debian source to its sources")
        located = [
            self._package(found) for found in _URI.finditer(self._run("apt-get", "download", "--print-uris", *names))
        ]
        return located, missing

    def _package(self, found: re.Match[str]) -> Package:
        kind, _, digest = (found["digest"] or "").partition(":")
        name = found["name"].partition("_")[0]
        return Package(name, found["name"], int(found["size"]), digest if kind == "SHA256" else None)

    def fetch(self, packages: list[Package], progress: Callable[[int], None] = lambda _: None) -> None:
        """Download the packages that are not complete. ``progress`` receives the number of further bytes."""
        missing = [package for package in packages if not self.is_fetched(package)]
        for package in missing:
            self.path(package).unlink(missing_ok=True)
        progress(sum(package.size for package in packages) - sum(package.size for package in missing))
        for batch in (missing[start : start + BATCH_SIZE] for start in range(0, len(missing), BATCH_SIZE)):
            self._run("apt-get", "download", *(package.name for package in batch), cwd=self._packages)
            progress(sum(package.size for package in batch))
        for package in missing:
            if not self.is_fetched(package):
                raise DebianError(f"the download of {package.file} is incomplete; try again")

    def path(self, package: Package) -> Path:
        """Return the path of a downloaded package."""
        return self._packages / package.file

    def is_fetched(self, package: Package) -> bool:
        """Return whether the file of a package is there with the right size and digest."""
        path = self.path(package)
        if not path.exists() or path.stat().st_size != package.size:
            return False
        if package.sha256 is None:
            return True
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == package.sha256

    def descriptions(self, language: str) -> Iterator[str]:
        """Yield the lines of the package descriptions in a language."""
        targets = self._run(
            "apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Translations", f"Language: {language}"
        )
        for file in targets.split():
            command = [APT_HELPER, "cat-file", file]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
                assert process.stdout is not None
                yield from process.stdout


def package_files(package: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the files of a package that are wanted, unpacked one by one in memory."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in archive:
                    path = member.name.removeprefix("./")
                    if member.isfile() and wanted(path) and member.size <= MAX_FILE_SIZE:
                        content = archive.extractfile(member)
                        assert content is not None
                        yield path, content.read()
        except tarfile.TarError as broken:
            raise DebianError(f"{package} is damaged ({broken}); remove it and try again") from None
        finally:
            process.kill()
