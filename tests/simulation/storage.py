"""The disk of a competition: a SQLite file or DynamoDB tables, copied from one that was prepared once per kind."""

import copy
import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from lambdas import registry, tokens
from lambdas.registry import Registry
from lambdas.store import Store
from lambdas.store.dynamodb import DynamoDBStore
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.simulation.disks import SimulatedSQLiteStore, SimulatedTables

if TYPE_CHECKING:
    from tests.simulation.servers import ServerProcess

LAYOUT = Layout(blocks=2, block=2, gap=3)  # HHFFFHH
DEV = Phase("dev", LAYOUT, repeatable=True)
PHASES = {
    "bandit": DEV,
    "played once": Phase("training", LAYOUT, repeatable=False),
    "post-edit": replace(
        DEV, layout=Layout.plain(LAYOUT.total), feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT), documents=True
    ),
}
ENGINES = ("sqlite", "dynamodb")
PARTICIPANTS = ("ada", "bob", "mallory")
RUNS = 4  # that each participant may open
FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None  # in memory: flushes take no time


def source(number: int) -> str:
    return f"satz {number} mit rot , blau und k-{number % 3}"


def reference(number: int) -> str:
    return f"refword{number} : rot , k-{number % 3}"


@dataclass(frozen=True)
class PreparedTask:
    """A task in a store, which every competition copies."""

    phase: Phase
    engine: str
    keys: dict[str, str]  # API keys by participant
    place: Any  # the file, or the tables


@cache
def prepared_task(kind: str, engine: str) -> PreparedTask:
    from tests.simulation.servers import SeededSecrets

    phase = PHASES[kind]
    tables: dict[str, Any] = {}
    path = Path(tempfile.mkdtemp(dir=FOLDER)) / "prepared.db"
    store: Store = SQLiteStore.open(str(path)) if engine == "sqlite" else _dynamodb(tables)
    texts = [(source(n), reference(n)) for n in range(phase.layout.distinct)]
    pairs = [(*text, f"page {n // 2}") for n, text in enumerate(texts)] if phase.documents else texts
    seeded = SeededSecrets(f"{kind} {engine}")
    with mock.patch.object(registry, "secrets", seeded), mock.patch.object(tokens, "secrets", seeded):
        load_phase(store, phase, pairs, language="en", block_size=3, runs=RUNS)
        keys = {name: Registry(store, clock=lambda: 1.8e9).add_participant(name) for name in PARTICIPANTS}
    store.close()
    content = path.read_bytes() if engine == "sqlite" else tables
    shutil.rmtree(path.parent)
    return PreparedTask(phase, engine, keys, content)


def _dynamodb(tables: dict[str, Any], process: "ServerProcess | None" = None) -> DynamoDBStore:
    return DynamoDBStore(SimulatedTables(tables, process))  # type: ignore[arg-type] # the calls that the store makes


class Storage:
    """The disk of one competition."""

    def __init__(self, task: PreparedTask, folder: Path) -> None:
        self._engine, self._path = task.engine, folder / "store.db"
        self._tables: dict[str, Any] = {}
        if task.engine == "sqlite":
            self._path.write_bytes(task.place)
        else:
            self._tables = copy.deepcopy(task.place)

    def open(self, process: "ServerProcess | None" = None) -> Store:
        """Open the store, with the faults of a server process or without any."""
        if self._engine == "dynamodb":
            return _dynamodb(self._tables, process)
        if process is None:
            return SQLiteStore(self._path, synchronous="normal")
        store = SimulatedSQLiteStore(self._path)
        store.process = process
        return store
