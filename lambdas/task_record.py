"""What a store knows of a task as a whole: what ``task.json`` tells participants, and nothing that they must not know.

It has no digest of a file of a phase, and no seed: with the one, a guessed text could be confirmed, and with the other,
feedback noise could be undone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from lambdas.answers import OutOfDomain, OutOfDomainFile, PhaseInfo, TaskInfo, TextInfo
from lambdas.store import documents
from lambdas.store.documents import Document
from lambdas.store.interface import Store
from task.description import OUT_OF_DOMAIN, AboutTask, FileSummary, TaskDescription, file_name
from task.languages import LOWERCASED_MOSES, LanguagePair, TextConvention, is_language

UNKNOWN_LANGUAGE = "und"  # ISO 639-2: undetermined

_TASK_NAME = "task"  # the only document of its kind


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task as it was loaded."""

    languages: LanguagePair
    about: AboutTask
    licence: str  # of the text; empty if it is not known
    convention: TextConvention
    out_of_domain: Mapping[str, FileSummary]  # files by language

    def __post_init__(self) -> None:
        for language in (*self.languages, *self.out_of_domain):
            if not is_language(language):
                raise ValueError(f"{language!r} is not a language code")

    @classmethod
    def from_description(cls, description: TaskDescription) -> Self:
        """Return what a store keeps of the description of a task."""
        files = {
            language: description.files.get(file_name(OUT_OF_DOMAIN, language)) for language in description.languages
        }
        return cls(
            description.languages,
            description.about,
            description.licence,
            description.convention,
            {language: summary for language, summary in files.items() if summary is not None},
        )

    def info(self, phases: Sequence[PhaseInfo], *, documents: bool, out_of_domain_path: str | None = None) -> TaskInfo:
        """Return what participants can read about the task.

        Args:
            phases: The phases of the task.
            documents: Whether sentences name their document.
            out_of_domain_path: Where the service itself has the out-of-domain text, with ``{language}`` in it.
        """
        files = [
            OutOfDomainFile(
                language=language,
                lines=summary.lines,
                bytes=summary.bytes,
                sha256=summary.sha256,
                url=out_of_domain_path and out_of_domain_path.format(language=language),
            )
            for language, summary in self.out_of_domain.items()
        ]
        return TaskInfo(
            title=self.about.title or None,
            source=self.languages.source,
            target=self.languages.target,
            text=TextInfo(*self.convention),
            documents=documents,
            licence=self.licence or None,
            contact=self.about.contact or None,
            out_of_domain=OutOfDomain(self.about.out_of_domain_url or None, files) if files else None,
            phases=list(phases),
        )

    def as_document(self) -> Document:
        return {
            "source": self.languages.source,
            "target": self.languages.target,
            **asdict(self.about),
            "licence": self.licence,
            "text": self.convention._asdict(),
            "out_of_domain": {language: asdict(summary) for language, summary in self.out_of_domain.items()},
        }

    @classmethod
    def from_document(cls, document: Document) -> Self:
        """Return the record that a document holds. Raises an error if no program could have written it."""
        return cls(
            LanguagePair(document["source"], document["target"]),
            AboutTask(document["title"], document["contact"], document["out_of_domain_url"]),
            document["licence"],
            TextConvention(**document["text"]),
            {language: FileSummary(**summary) for language, summary in document["out_of_domain"].items()},
        )


# All that is known of a task that an earlier version of this program loaded.
UNKNOWN_TASK = TaskRecord(LanguagePair(UNKNOWN_LANGUAGE, UNKNOWN_LANGUAGE), AboutTask(), "", LOWERCASED_MOSES, {})


def read_task_record(store: Store) -> TaskRecord | None:
    """Return what a store knows of its task, or None if an earlier version of this program loaded it."""
    document = store.document(documents.TASK, _TASK_NAME)
    return None if document is None else TaskRecord.from_document(document)


def write_task_record(store: Store, record: TaskRecord) -> None:
    """Write what participants can read about the task. Loading the task again overwrites it."""
    store.replace(documents.TASK, _TASK_NAME, record.as_document())
