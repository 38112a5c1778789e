"""What every fault is tried on: a small phase, three learners, and what they make of it when nothing disturbs them.

The learners are the SDK's example. Each proposal depends on every score before it, so a score that is lost, told twice
or told wrong changes all that follows: equal ledgers mean that nothing of the kind happened.
"""

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from banditmt_client import Client, ConnectionFailedError, ProtocolError, ServerError, ThrottledError, connection
from lambdas import wiring
from lambdas.audit import Auditor
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import Store, open_store
from lambdas.task_loader import load_phase
from simulator.cloud.template import SamTemplate
from simulator.in_process import in_process_client
from task.layout import Layout
from task.phases import Phase

PHASE = Phase("dev", Layout(blocks=3, block=4, gap=9), repeatable=True)  # 30 rounds
PAIRS = [(f"satz {n} mit rot , blau und k-{n % 7}", f"sentence {n} : rot , k-{n % 7}") for n in range(22)]
OPINIONS = {"ada": {}, "bob": {"mit": -1.0}, "eve": {"rot": -1.0, "satz": -1.0}}  # what each thinks of which word
PLAYERS = tuple(OPINIONS)
MOST_LIVES = 200  # of a learner, before something is called broken
TIMES = ("opened_at", "first_at", "last_at", "speed")  # the only things in a table that may differ

_spec = importlib.util.spec_from_file_location(
    "example_learner", Path(__file__).parents[2] / "client_sdk" / "examples" / "learner.py"
)
assert _spec is not None
assert _spec.loader is not None
example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(example)


@dataclass(frozen=True)
class Outcome:
    """What is left when all have finished: the ledger, what each learner has learned, and the table."""

    ledger: Mapping[str, list[tuple[Any, ...]]]  # by run
    learned: Mapping[str, Any]  # by player
    table: Sequence[Mapping[str, Any]]


def prepare(store: Store) -> dict[str, str]:
    """Load the phase and register the players; returns their keys."""
    load_phase(store, PHASE, PAIRS, block_size=5)
    return {name: Registry(store).add_participant(name) for name in PLAYERS}


def checkpoint(folder: Path, player: str) -> Path:
    return folder / f"{player}.json"


def learned(folder: Path, player: str) -> int:
    """Rounds that the learner on the disk has learned from."""
    path = checkpoint(folder, player)
    return json.loads(path.read_text())["rounds"] if path.exists() else 0


def live(connect: Callable[[], Client], folder: Path, player: str) -> int:
    """Play until the run is finished, however often the learner dies of its network; returns how often it was born."""
    if not checkpoint(folder, player).exists():
        opinions = {"run": None, "rounds": 0, "worth": OPINIONS[player], "mean": 0.0}
        example.Learner(opinions).save(checkpoint(folder, player))
    for life in range(1, MOST_LIVES):
        try:
            with connect() as client:
                example.play(client, PHASE.name, f"{player}-learner", checkpoint(folder, player))
                return life
        except (ConnectionFailedError, ProtocolError, ServerError, ThrottledError):
            continue
    raise AssertionError(f"{player} does not get to the end in {MOST_LIVES} lives")


def all_play(connect: Mapping[str, Callable[[], Client]], folder: Path) -> int:
    """All players at once; returns how many lives they took together."""
    with ThreadPoolExecutor(len(connect)) as pool:
        return sum(pool.map(lambda player: live(connect[player], folder, player), connect))


def outcome(store: Store, folder: Path) -> Outcome:
    """Look at what is left; every round is scored again on the way."""
    registry, scoreboard = Registry(store), Scoreboard(store)
    record = registry.require_phase(PHASE.name)
    scoreboard.catch_up(record)
    runs = registry.runs(PHASE.name)
    auditor = Auditor(store)
    complaints = [str(complaint) for run in runs for complaint in auditor.audit(record, run)]
    assert complaints == []
    rounds = {run.id: list(store.rounds(run.id)) for run in runs}
    ledger = {
        # a late copy of a request to open may open the next run of a system that has finished; nobody has played it
        run: [
            (each.index, each.translation, each.observed_reward, each.true_reward, each.statistics, each.true_ticks)
            for each in own
        ]
        for run, own in rounds.items()
        if own
    }
    rows = scoreboard.board(record).as_dict()["rows"]
    table = [{name: value for name, value in row.items() if name not in TIMES} for row in rows]
    return Outcome(ledger, {name: json.loads(checkpoint(folder, name).read_text()) for name in PLAYERS}, table)


@cache
def undisturbed() -> Outcome:
    """The same competition without a network, a process or a fault."""
    with TemporaryDirectory() as folder:
        store = open_store("sqlite::memory:")
        prepare(store)
        for player in PLAYERS:
            live(partial(in_process_client, store, player), Path(folder), player)
        calm = outcome(store, Path(folder))
        store.close()
    assert [len(rounds) for rounds in calm.ledger.values()] == [PHASE.layout.total] * len(PLAYERS)
    assert len({row["reward"] for row in calm.table}) == len(PLAYERS)  # or their order would be a matter of time
    return calm


def check(store: Store, folder: Path) -> None:
    """Nothing lost, nothing twice, and every score as it would have been."""
    found, expected = outcome(store, folder), undisturbed()
    assert found.ledger == expected.ledger
    assert found.learned == expected.learned
    assert found.table == expected.table


@contextmanager
def short_pauses():
    """Clients that are asked to wait a second wait a moment."""
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(connection, "INITIAL_BACKOFF_SECONDS", 0.002))
        patches.enter_context(mock.patch.object(connection, "MAX_RETRY_AFTER_SECONDS", 0.01))
        yield


@cache
def template() -> SamTemplate:
    return SamTemplate.load("local")


@contextmanager
def wired(service: Service):
    """The handlers of this process talk to this service for a while."""
    wiring.use_service(service)
    try:
        yield
    finally:
        wiring.use_service(None)
