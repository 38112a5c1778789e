"""The corpus of a Debian task: which packages it needs, their download, and the text in them."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import chain
from pathlib import Path

from corpora.debian.apt import Apt, Package
from corpora.debian.collection import (
    DOCUMENT_PACKAGES,
    INTERFACE_PACKAGES,
    MANUAL_PACKAGES,
    document_pairs,
    interface_pairs,
    manual_pairs,
    packages_for,
)
from corpora.task import Pair
from corpora.task_import import RawCorpus, describe_import
from task.description import TaskDescription
from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.languages import LanguagePair

ENGLISH = "en"
LICENCE = "those of the packages, mostly GPL and LGPL: for use on this machine, not for passing on"


class InDomainText(StrEnum):
    """What the phases of a Debian task consist of; the out-of-domain side has the rest."""

    INTERFACES = "interfaces"  # strings of user interfaces and package descriptions: short, noisy, full of names
    MANUALS = "manuals"  # help manuals in natural order, whose terms repeat themselves as they do for a translator


def describe_debian_task(
    language: str,
    *,
    text: InDomainText = InDomainText.INTERFACES,
    from_english: bool = False,
    seed: int = 1,
    feedback: FeedbackSpec = BANDIT_FEEDBACK,
    documents: bool = False,
) -> TaskDescription:
    """Return the description of a Debian task that is to be imported; see ``describe_import``.

    ``from_english`` makes English the source and the language the target.
    """
    languages = LanguagePair(ENGLISH, language) if from_english else LanguagePair(language, ENGLISH)
    generator = "debian 2" if text is InDomainText.INTERFACES else "debian manuals 1"
    return describe_import(
        languages, generator=generator, licence=LICENCE, seed=seed, feedback=feedback, documents=documents
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

    def read(
        self,
        *,
        text: InDomainText = InDomainText.INTERFACES,
        from_english: bool = False,
        keep_documents: bool = False,
    ) -> RawCorpus:
        """Return the text of the packages.

        Args:
            text: What the in-domain side consists of; all other text is out-of-domain.
            from_english: Whether English is the source.
            keep_documents: Keep message catalogues or manuals together.
        """
        apt, language = self._apt, self._language
        interfaces = interface_pairs(apt, self._interfaces, language)
        if text is InDomainText.INTERFACES:
            in_domain, out_of_domain = interfaces, manual_pairs(apt, self._manuals, language)
        else:
            names = packages_for(DOCUMENT_PACKAGES, language)
            chosen = [package for package in self._manuals if package.name in names]
            others = [package for package in self._manuals if package.name not in names]
            in_domain = document_pairs(apt, chosen, language)
            out_of_domain = chain(interfaces, manual_pairs(apt, others, language))
        return RawCorpus(
            _directed(in_domain, from_english=from_english),
            _directed(out_of_domain, from_english=from_english),
            keep_documents,
        )


def _directed(pairs: Iterable[Pair], *, from_english: bool) -> Iterator[Pair]:
    """Yield pairs of a foreign source and an English target in the direction of the task."""
    for pair in pairs:
        yield Pair(pair.target, pair.source, pair.document) if from_english else pair
