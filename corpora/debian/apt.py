"""Downloads by apt into a directory of our own: no installation, no root, no change to the system's lists."""

import hashlib
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.errors import DebianError

BATCH = 8  # packages per call of apt-get, which takes a second to start
APT_HELPER = "/usr/lib/apt/apt-helper"  # reads lists whatever their compression
TOOLS = ("apt-get", "dpkg-deb")
MAX_MEMBER = 64 << 20  # bytes of one file in a package; texts are far smaller

_URI = re.compile(r"^'[^']+' (?P<name>\S+) (?P<size>\d+) (?P<digest>SHA\d+:[0-9a-f]+)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Package:
    """A package as the archive offers it."""

    name: str
    file: str
    size: int
    sha256: str | None


class Apt:
    """apt with its lists and downloads under one cache directory. Whatever is there and whole is not fetched again."""

    def __init__(self, cache: Path, languages: tuple[str, str]) -> None:
        for tool in TOOLS:
            if shutil.which(tool) is None:
                raise DebianError(f"{tool} is not on this machine; a Debian task needs Debian, Ubuntu or a relative")
        self._cache = cache.resolve()
        self._packages = self._cache / "packages"
        for directory in (self._packages, self._cache / "lists" / "partial", self._cache / "archives" / "partial"):
            directory.mkdir(parents=True, exist_ok=True)
        settings = {
            "Dir::State::lists": self._cache / "lists",
            "Dir::Cache": self._cache,
            "Dir::Cache::archives": self._cache / "archives",
            "Acquire::Languages": ",".join(languages),
            "APT::Sandbox::User": "",  # apt's own user cannot write here
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
        """Fetch the lists of packages and the descriptions in both languages; unchanged ones are not fetched again."""
        self._run("apt-get", "update")

    def locate(self, wishes: list[str]) -> tuple[list[Package], list[str]]:
        """What can be fetched, and which wishes cannot. A wish may name alternatives, as in ``gcc-14|gcc-13``."""
        available = set(self._run("apt-cache", "pkgnames").split())
        names, missing = [], []
        for wish in wishes:
            name = next((name for name in wish.split("|") if name in available), None)
            if name is None:
                missing.append(wish)
            else:
                names.append(name)
        if not names:
            raise DebianError("none of the packages is known here; does apt have a source with them?")
        located = [
            self._package(found) for found in _URI.finditer(self._run("apt-get", "download", "--print-uris", *names))
        ]
        return located, missing

    def _package(self, found: re.Match[str]) -> Package:
        kind, _, digest = (found["digest"] or "").partition(":")
        name = found["name"].partition("_")[0]
        return Package(name, found["name"], int(found["size"]), digest if kind == "SHA256" else None)

    def fetch(self, packages: list[Package], progress: Callable[[int], None] = lambda _: None) -> None:
        """Download what is not yet there and whole; ``progress`` is told how many more bytes there are."""
        missing = [package for package in packages if not self.is_fetched(package)]
        for package in missing:
            self.path(package).unlink(missing_ok=True)
        progress(sum(package.size for package in packages) - sum(package.size for package in missing))
        for batch in (missing[start : start + BATCH] for start in range(0, len(missing), BATCH)):
            self._run("apt-get", "download", *(package.name for package in batch), cwd=self._packages)
            progress(sum(package.size for package in batch))
        for package in missing:
            if not self.is_fetched(package):
                raise DebianError(f"{package.file} did not arrive whole; try again")

    def path(self, package: Package) -> Path:
        """Where a package is, once it has been fetched."""
        return self._packages / package.file

    def is_fetched(self, package: Package) -> bool:
        path = self.path(package)
        if not path.exists() or path.stat().st_size != package.size:
            return False
        if package.sha256 is None:
            return True
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == package.sha256

    def descriptions(self, language: str) -> Iterator[str]:
        """The lines of the package descriptions in a language."""
        targets = self._run(
            "apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Translations", f"Language: {language}"
        )
        for file in targets.split():
            command = [APT_HELPER, "cat-file", file]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as reading:
                assert reading.stdout is not None
                yield from reading.stdout


def members(package: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """The files of a package whose paths are wanted, unpacked one by one in memory."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as unpacking:
        try:
            with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
                for member in archive:
                    path = member.name.removeprefix("./")
                    if member.isfile() and wanted(path) and member.size <= MAX_MEMBER:
                        content = archive.extractfile(member)
                        assert content is not None
                        yield path, content.read()
        except tarfile.TarError as broken:
            raise DebianError(f"{package} is broken ({broken}); remove it and try again") from None
        finally:
            unpacking.kill()
