"""The packages of a Debian task, and the pairs in them."""

import gzip
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from corpora.debian.apt import Apt, Package, package_files
from corpora.debian.descriptions import description_pairs
from corpora.debian.man_pages import man_blocks
from corpora.debian.markup_pages import markup_blocks
from corpora.debian.page_alignment import PageBlock, align_pages
from corpora.errors import InputError
from corpora.readers import gettext
from corpora.task import Pair

ENGLISH = "en"
MIN_WORDS = 8  # of an out-of-domain sentence; shorter pieces of manuals are labels

# Options, markup and complex placeholders: strings with them are code rather than language. A plain %s may stay: it is
# copied like a name.
_PROGRAM_TEXT = re.compile(r"--\w|</?\w|[{}$|\\\[\]]|%[^\w\s%]|%\w{2}")

# Packages with many strings for their size. {} stands for the language.
INTERFACE_PACKAGES = [
    "libreoffice-l10n-{}", "gcc-14-locales|gcc-13-locales|gcc-12-locales", "claws-mail-i18n", "util-linux-locales",
    "sylpheed-i18n", "gnumeric-common", "audacity-data", "krita-l10n", "xkb-data", "cinnamon-l10n", "geeqie-common",
    "gnupg-l10n", "gnucash-common", "gnome-software-common", "audacious-plugins-data", "planner-data",
    "libgtk-3-common", "deluge-common", "vlc-l10n", "thunar-data", "evolution-data-server-common",
    "shotwell-common", "darktable", "gajim", "gnome-disk-utility", "network-manager-gnome", "libnma-common",
    "evolution-common", "pidgin-data", "libglib2.0-data", "konsole", "bluefish-data", "gnome-shell-common",
    "gthumb-data", "aptitude-common", "epiphany-browser-data", "gnome-control-center-data", "liferea-data",
    "xfce4-panel", "xfce4-settings", "brasero-common", "gedit-common", "homebank-data", "gnome-maps",
]  # fmt: skip
# The translated man pages of a language, and the programs that have the English originals.
MANUAL_PACKAGES = [
    "libreoffice-help-{}", "libreoffice-help-en-us", "gimp-help-{}", "gimp-help-en",
    "manpages", "manpages-dev", "manpages-{}", "manpages-{}-dev",
    "gnome-user-docs", "debian-reference-{}", "debian-reference-en", "developers-reference",
    "developers-reference-{}", "maint-guide", "maint-guide-{}", "debian-faq", "debian-faq-{}", "debian-handbook",
    "harden-doc", "installation-guide-amd64", "debian-history", "systemd", "systemd-container", "systemd-homed",
    "systemd-resolved", "systemd-boot", "systemd-userdbd", "systemd-coredump", "systemd-journal-remote",
    "systemd-timesyncd", "systemd-oomd", "libnss-systemd", "libpam-systemd", "udev", "util-linux",
    "util-linux-extra", "bsdutils", "bsdextrautils", "fdisk", "eject", "uuid-runtime", "mount", "apt", "dpkg-dev",
    "debhelper", "devscripts", "debconf-doc", "po-debconf", "adduser", "passwd", "man-db", "e2fsprogs", "rpm",
    "coreutils", "findutils", "grep", "sed", "tar", "gzip", "bzip2", "xz-utils", "diffutils", "procps", "psmisc",
    "cron", "anacron", "make", "gettext", "binutils", "groff", "texinfo", "less", "nano", "mutt", "wodim",
    "sane-utils", "libsane-common", "libsane1", "nfs-common", "nfs-kernel-server", "dosfstools", "mtools", "parted",
    "btrfs-progs", "sysstat", "cpio", "hostname", "init-system-helpers", "vorbis-tools", "grub-common", "kbd",
    "ncurses-bin", "thinkfan", "exif", "evolution-common", "orca", "evince-common", "seahorse",
    "gnome-applets-data", "shotwell-common", "gnome-terminal-data", "gthumb-data", "eog", "gedit-common",
]  # fmt: skip

# The manuals that are the in-domain side of a task of manuals: they have thousands of segments in natural order.
DOCUMENT_PACKAGES = ["gimp-help-{}", "gimp-help-en", "gnome-user-docs"]


def packages_for(names: list[str], language: str) -> list[str]:
    """Return the names of packages for a language."""
    return [name.format(language) for name in names]


def interface_pairs(apt: Apt, packages: list[Package], language: str) -> Iterator[Pair]:
    """Yield package descriptions and strings of user interfaces, each once per package. The source is foreign."""
    yield from description_pairs(apt.descriptions(ENGLISH), apt.descriptions(language), language)
    for package in packages:
        seen: set[Pair] = set()
        for path, content in package_files(apt.path(package), lambda path: is_catalogue(path, language)):
            for pair in _catalogue_pairs(path, content, language):
                if pair not in seen:
                    seen.add(pair)
                    yield pair


def is_catalogue(path: str, language: str) -> bool:
    """Return whether a path is that of a compiled catalogue of the language."""
    return path.endswith(".mo") and f"/{language}/LC_MESSAGES/" in path


def _catalogue_pairs(path: str, content: bytes, language: str) -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / Path(path).name
        file.write_bytes(content)
        with suppress(InputError):  # some of thousands of catalogues are damaged; they are left out
            for pair in gettext.read_catalogue(file, (language, ENGLISH)):
                if pair.source != pair.target and not _PROGRAM_TEXT.search(f"{pair.source} {pair.target}"):
                    yield Pair(pair.source, pair.target)


def manual_pairs(apt: Apt, packages: list[Package], language: str) -> Iterator[Pair]:
    """Yield sentences of help pages, man pages and manuals that have the same structure in both languages.

    Labels are left out, and so are sentences that occurred before.
    """
    seen: set[tuple[str, str]] = set()
    for pair in document_pairs(apt, packages, language):
        sentences = pair.source, pair.target
        if sentences not in seen and min(len(side.split()) for side in sentences) >= MIN_WORDS:
            seen.add(sentences)
            yield Pair(*sentences)


def document_pairs(apt: Apt, packages: list[Package], language: str) -> Iterator[Pair]:
    """Yield everything that pages have in both languages, in natural order, with the document that each pair is from.

    A document is a help manual with all its pages, or a man page: a translator's terms repeat themselves in it.
    """
    unpaired: dict[tuple[bool, str], list[PageBlock]] = {}  # pages without their counterpart so far
    for package in packages:
        for path, content in package_files(apt.path(package), lambda path: page_reader(path, language) is not None):
            read = page_reader(path, language)
            assert read is not None
            is_foreign, key = page_key(path, language)
            text = gzip.decompress(content) if path.endswith(".gz") else content
            blocks = read(text.decode("utf-8", errors="replace"))
            counterpart = unpaired.pop((not is_foreign, key), None)
            if counterpart is None:
                unpaired[is_foreign, key] = blocks
                continue
            document = document_name(key)
            for sentences in align_pages(*(blocks, counterpart) if is_foreign else (counterpart, blocks)):
                yield Pair(*sentences, document)


def document_name(key: str) -> str:
    """Return the document that a page belongs to, given the key that it shares with its English version."""
    folder, _, page = key.rpartition("/")
    if "/man/" in key:
        return f"{folder.rpartition('/')[2]}/{page.removesuffix('.gz')}"
    return folder.removeprefix("usr/share/")


def page_reader(path: str, language: str) -> Callable[[str], list[PageBlock]] | None:
    """Return the reader of a page in English or in the language; None if the file is not such a page."""
    if re.fullmatch(rf"usr/share/man/({language}/)?man\d/[^/]+\.gz", path):
        return man_blocks
    if re.fullmatch(rf"usr/share/help/(C|{language})/.+\.(page|docbook)|usr/share/(?!help/).+\.html", path):
        return markup_blocks
    return None


def page_key(path: str, language: str) -> tuple[bool, str]:
    """Return whether a page is the translation, and a key that it shares with its English version."""
    is_foreign = any(_names_language(language, part) for part in re.split(r"[/.]", path))
    marking = language if is_foreign else ENGLISH
    parts = [part.removesuffix(f"-{language}") for part in path.split("/") if not _names_language(marking, part)]
    parts[-1] = ".".join(part for part in parts[-1].split(".") if not _names_language(marking, part))
    return is_foreign, "/".join(parts)


def _names_language(language: str, mark: str) -> bool:
    """Return whether a directory or an infix names a language: ``de``, ``de-DE``, or ``C`` for English."""
    return bool(re.fullmatch(rf"{language}([-_][A-Z]{{2}})?", mark)) or (language == ENGLISH and mark == "C")
