"""Restores an archive into an empty store.

An archive is read twice. The first time everything in it is checked and nothing is written, so that a file which is
truncated, damaged, foreign or contradicts itself leaves no trace. The second time it is restored. If that is
interrupted, the same archive can be imported again, with the same result as without the interruption: a document in the
store holds the archive's checksum. Keys come last, so no participant can play before everything is there.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Self

from lambdas.archive.progress import ROUNDS_PER_REPORT, report_rounds
from lambdas.archive.record_reader import read_records
from lambdas.archive.records import ArchivedPair, ArchivedPhase, Header, Record, Trailer
from lambdas.phase_record import PhaseRecord
from lambdas.profile_store import ProfileStore
from lambdas.registry import ApiKey, Participant, Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import documents
from lambdas.store.interface import Store, StoreError
from lambdas.task_loader import await_text, load_phase
from lambdas.task_record import TaskRecord, write_task_record
from lambdas.tokens import KeyRing
from lambdas.withdrawals import Withdrawal, Withdrawals
from leaderboard.families import Role
from leaderboard.profiles import SystemProfile, TeamProfile
from task.rounds import Round, Run

_IMPORT_NAME = "archive"  # the only document of its kind


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was read completely and found valid."""

    path: Path
    header: Header
    sha256: str
    runs: int
    rounds: int

    @classmethod
    def open(cls, path: Path, *, progress: Callable[[int], None] = lambda _: None) -> Self:
        """Check an archive; raise ArchiveError if it is not valid.

        ``progress`` is called with numbers of rounds as they are checked.
        """
        counts: Counter[type] = Counter()
        header: Header | None = None
        trailer: Trailer | None = None
        for record in read_records(path):
            counts[type(record)] += 1
            if isinstance(record, Header):
                header = record
            elif isinstance(record, Trailer):
                trailer = record
            elif isinstance(record, Round) and counts[Round] % ROUNDS_PER_REPORT == 0:
                progress(ROUNDS_PER_REPORT)
        assert header is not None, "a valid archive has a header"
        assert trailer is not None, "a valid archive has a last line"
        return cls(path, header, trailer.sha256, counts[Run], counts[Round])

    def restore(self, store: Store, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Restore the archive into an empty store, or resume an interrupted import of it.

        Args:
            store: The store, which must be empty.
            progress: Called with numbers of rounds as they are restored.

        Raises:
            StoreError: The store is not empty.
        """
        store.prepare()
        self._begin(store)
        _Restorer(store, progress).restore(read_records(self.path))
        store.replace(documents.ARCHIVE_IMPORT, _IMPORT_NAME, {"sha256": self.sha256, "finished": True})

    def _begin(self, store: Store) -> None:
        """Write that this archive is being imported; raise StoreError if the store has something else in it."""
        registry, begun = Registry(store), store.document(documents.ARCHIVE_IMPORT, _IMPORT_NAME)
        if begun is None and (registry.phases() or registry.participants()):
            raise StoreError("the store is not empty: import into an empty store, such as a new file")
        if begun is not None and begun["finished"]:
            raise StoreError("an archive was imported into this store already: use an empty store, such as a new file")
        if begun is not None and begun["sha256"] != self.sha256:
            raise StoreError(
                "the import of another archive into this store was interrupted: resume that one, or use an empty store"
            )
        store.replace(documents.ARCHIVE_IMPORT, _IMPORT_NAME, {"sha256": self.sha256, "finished": False})


class _Restorer:
    """Writes the records of an archive, section by section. Every write is idempotent."""

    def __init__(self, store: Store, progress: Callable[[int], None]) -> None:
        self._store, self._registry, self._progress = store, Registry(store), progress
        self._profiles, self._withdrawals = ProfileStore(store), Withdrawals(store)
        self._phases: dict[str, PhaseRecord] = {}
        self._claims: Counter[tuple[str, str]] = Counter()  # by participant and phase
        self._newest_key = 0  # the highest number of a token key that a run was opened with

    def restore(self, records: Iterable[Record]) -> None:
        for section, group in groupby(records, key=_section_of):
            if isinstance(section, tuple):
                self._restore_text(section[1], group)
            elif section is Run:
                self._restore_runs(group)
            else:
                for record in group:
                    self._restore_record(record)
        self._registry.ensure_key_ring()  # if there were no runs
        for phase in self._phases.values():
            Scoreboard(self._store).catch_up(phase)

    def _restore_record(self, record: Record) -> None:
        match record:
            case TaskRecord():
                write_task_record(self._store, record)
            case ArchivedPhase(phase, checkpoints):
                self._restore_phase(phase, checkpoints)
            case Participant():
                self._registry.create_participant(record)
            case Role():
                self._registry.set_role(record.participant, record.system, record.kind, record.family)
            case TeamProfile() | SystemProfile():
                self._profiles.write(record)
            case Withdrawal():
                self._withdrawals.write(record)
            case KeyRing():
                self._registry.create_key_ring(record)
            case ApiKey():
                self._registry.create_api_key(record)
            case Header() | Trailer():
                pass

    def _restore_phase(self, record: PhaseRecord, checkpoints: list[str]) -> None:
        name = record.phase.name
        self._phases[name] = record
        if self._registry.phase(name) is None:  # otherwise its text may be loaded already
            await_text(self._store, name, checkpoints)
            self._registry.create_phase(record)

    def _restore_runs(self, records: Iterable[Record]) -> None:
        for is_run, group in groupby(records, key=lambda record: isinstance(record, Run)):
            if is_run:
                for run in group:
                    assert isinstance(run, Run)
                    self._open_run(run)
            else:  # the rounds of the run before them
                rounds = (record for record in group if isinstance(record, Round))
                self._store.restore_rounds(report_rounds(rounds, self._progress))
        self._registry.ensure_key_ring(after=self._newest_key)  # unless the archive had one

    def _open_run(self, run: Run) -> None:
        self._registry.claim(run, self._claims[run.participant, run.phase])
        self._claims[run.participant, run.phase] += 1
        self._store.open_run(run)
        self._newest_key = max(self._newest_key, run.key)

    def _restore_text(self, phase: str, records: Iterable[Record]) -> None:
        record = self._phases[phase]
        pairs = (each.pair for each in records if isinstance(each, ArchivedPair))
        load_phase(self._store, record.phase, pairs, language=record.language)


def _section_of(record: Record) -> object:
    if isinstance(record, ArchivedPair):
        return ArchivedPair, record.phase
    return Run if isinstance(record, Round) else type(record)
