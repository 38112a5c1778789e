"""The corpus of a Debian task: which packages it needs, their download, and the text in them."""

from collections.abc import Callable
from pathlib import Path

from corpora.debian.apt import Apt, Package
from corpora.debian.collection import INTERFACE_PACKAGES, MANUAL_PACKAGES, interface_pairs, manual_pairs, packages_for
from corpora.task_import import RawCorpus, describe_import
from task.description import TaskDescription
from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.languages import LanguagePair

ENGLISH = "en"
LICENCE = "those of the packages, mostly GPL and LGPL: for use on this machine, not for passing on"


def describe_debian_task(
    language: str, *, seed: int = 1, feedback: FeedbackSpec = BANDIT_FEEDBACK, documents: bool = False
) -> TaskDescription:
    """Return the description of a Debian task that is to be imported; see ``describe_import``."""
    languages = LanguagePair(language, ENGLISH)
    return describe_import(
        languages, generator="debian 2", licence=LICENCE, seed=seed, feedback=feedback, documents=documents
    )


class DebianCorpus:
    """The packages for a language, downloaded into a cache directory.

    ::

        corpus = DebianCorpus(cache, "de")
        corpus.locate()
        corpus.download()
        raw = corpus.read()
    """

    def __init__(self, cache: Path, language: str) -> None:
        self._language = language
        self._apt = Apt(cache, (language, ENGLISH))
        self._interfaces: list[Package] = []
        self._manuals: list[Package] = []

    def locate(self) -> list[str]:
        """Ask apt which packages the release has. Return the names of those that it lacks."""
        self._apt.update()
        self._interfaces, missing_interfaces = self._apt.locate(packages_for(INTERFACE_PACKAGES, self._language))
        self._manuals, missing_manuals = self._apt.locate(packages_for(MANUAL_PACKAGES, self._language))
        return list(dict.fromkeys([*missing_interfaces, *missing_manuals]))

    @property
    def packages(self) -> list[Package]:
        """The located packages, each once."""
        return list(dict.fromkeys([*self._interfaces, *self._manuals]))

    def download(self, progress: Callable[[int], None] = lambda _: None) -> None:
        """Download the packages that are not complete. ``progress`` receives the number of further bytes."""
        self._apt.fetch(self.packages, progress=progress)

    def read(self, *, keep_documents: bool = False) -> RawCorpus:
        """Return the text of the packages: user interfaces and descriptions in-domain, manuals out-of-domain.

        ``keep_documents`` keeps the strings of a message catalogue together.
        """
        return RawCorpus(
            interface_pairs(self._apt, self._interfaces, self._language),
            manual_pairs(self._apt, self._manuals, self._language),
            keep_documents,
        )
