"""Restores an archive into an empty store.

An archive is read twice. The first time everything in it is checked and nothing is written, so that a file which is
damaged, cut, foreign or contradicts itself leaves no trace. The second time it is restored. If that is interrupted, the
same archive can be imported again, and ends as if it never had been: a note in the store tells which archive it is.
Keys come last, so nobody can play before everything is there.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Self

from lambdas.archive import lines
from lambdas.archive.contents import STEP, Contents, End, Header, Item, PhaseEntry, Text, reported
from lambdas.registry import ApiKey, Participant, PhaseRecord, Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import documents
from lambdas.store.interface import Store, StoreError
from lambdas.task_loader import await_text, load_phase
from lambdas.tokens import KeyRing
from leaderboard.families import Role
from task.rounds import Round, Run

_NOTE = (documents.ARCHIVE_IMPORT, "archive")  # kind and name of the note in the store


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was read from its first line to its last, and found sound."""

    path: Path
    header: Header
    sha256: str
    runs: int
    rounds: int

    @classmethod
    def open(cls, path: Path, *, progress: Callable[[int], None] = lambda _: None) -> Self:
        """Check a file; ``progress`` is told of rounds."""
        counts: Counter[type] = Counter()
        header: Header | None = None
        end: End | None = None
        for item in _items(path):
            counts[type(item)] += 1
            if isinstance(item, Header):
                header = item
            elif isinstance(item, End):
                end = item
            elif isinstance(item, Round) and counts[Round] % STEP == 0:
                progress(STEP)
        assert header is not None, "a sound archive has a header"
        assert end is not None, "and an end"
        return cls(path, header, end.sha256, counts[Run], counts[Round])

    def restore(self, store: Store, *, progress: Callable[[int], None] = lambda _: None) -> None:
        """Restore it into an empty store, or go on where that was interrupted."""
        store.prepare()
        self._claim(store)
        _Restoring(store, progress).everything(_items(self.path))
        store.replace(*_NOTE, {"sha256": self.sha256, "finished": True})

    def _claim(self, store: Store) -> None:
        """Note down that this archive is being restored here, unless something else is here already."""
        registry, note = Registry(store), store.document(*_NOTE)
        if note is None and (registry.phases() or registry.participants()):
            raise StoreError("the store is not empty: an archive is restored into an empty one, such as a new file")
        if note is not None and note["finished"]:
            raise StoreError("an archive was imported into this store before: take an empty one, such as a new file")
        if note is not None and note["sha256"] != self.sha256:
            raise StoreError(
                "the import of another archive was interrupted here: go on with that, or take an empty store"
            )
        store.replace(*_NOTE, {"sha256": self.sha256, "finished": False})


def _items(path: Path) -> Iterator[Item]:
    return Contents(path).items(lines.read(path))


class _Restoring:
    """Writes what an archive says, section by section. Writing anything again changes nothing."""

    def __init__(self, store: Store, progress: Callable[[int], None]) -> None:
        self._store, self._registry, self._progress = store, Registry(store), progress
        self._records: dict[str, PhaseRecord] = {}
        self._claims: Counter[tuple[str, str]] = Counter()
        self._newest_key = 0  # of the token keys that runs were opened with

    def everything(self, items: Iterable[Item]) -> None:
        for section, group in groupby(items, key=_section):
            if isinstance(section, tuple):
                self._text(section[1], group)
            elif section is Run:
                self._runs(group)
            else:
                for item in group:
                    self._one(item)
        self._registry.ensure_key_ring()  # if there were no runs
        for record in self._records.values():
            Scoreboard(self._store).catch_up(record)

    def _one(self, item: Item) -> None:
        match item:
            case PhaseEntry(record, checkpoints):
                self._phase(record, checkpoints)
            case Participant():
                self._registry.create_participant(item)
            case Role():
                self._registry.set_role(item.participant, item.system, item.kind, item.family)
            case KeyRing():
                self._registry.create_key_ring(item)
            case ApiKey():
                self._registry.create_api_key(item)
            case Header() | End():
                pass

    def _phase(self, record: PhaseRecord, checkpoints: list[str]) -> None:
        name = record.phase.name
        self._records[name] = record
        if self._registry.phase(name) is None:  # else its text may be here already
            await_text(self._store, name, checkpoints)
            self._registry.create_phase(record)

    def _runs(self, items: Iterable[Item]) -> None:
        for is_run, group in groupby(items, key=lambda item: isinstance(item, Run)):
            if is_run:
                for run in group:
                    assert isinstance(run, Run)
                    self._open(run)
            else:  # all of the run that came before them
                self._store.restore_rounds(
                    reported((item for item in group if isinstance(item, Round)), self._progress)
                )
        self._registry.ensure_key_ring(after=self._newest_key)  # unless the archive had one

    def _open(self, run: Run) -> None:
        self._registry.claim(run, self._claims[run.participant, run.phase])
        self._claims[run.participant, run.phase] += 1
        self._store.open_run(run)
        self._newest_key = max(self._newest_key, run.key)

    def _text(self, phase: str, items: Iterable[Item]) -> None:
        record = self._records[phase]
        pairs = (item.pair for item in items if isinstance(item, Text))
        load_phase(self._store, record.phase, pairs, feedback=record.feedback)


def _section(item: Item) -> object:
    if isinstance(item, Text):
        return Text, item.phase
    return Run if isinstance(item, Round) else type(item)
