"""The scenario of every fault: a small phase, three learners, and the outcome without a fault.

The learners are the SDK's example. Each proposal depends on every score before it, so a score that is lost, repeated or
wrong changes all later rounds. Equal ledgers therefore mean that no score was lost, repeated or wrong.
"""

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
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
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase

PHASE = Phase("dev", Layout(blocks=3, block=4, gap=9), repeatable=True)  # 30 rounds
# The same phase with post-edits and documents: every trial can be played in it.
POST_EDIT_PHASE = replace(
    PHASE, layout=Layout.plain(PHASE.layout.total), feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT), documents=True
)
PAIRS = [(f"satz {n} mit rot , blau und k-{n % 7}", f"sentence {n} : rot , k-{n % 7}") for n in range(30)]
# what each player's learner thinks that words are worth at the start, so that no two play alike
WORD_VALUES = {"ada": {}, "bob": {"mit": -1.0}, "eve": {"rot": -1.0, "satz": -1.0}}
PLAYERS = tuple(WORD_VALUES)
MAX_RESTARTS = 200  # of a learner, before the trial fails
VOLATILE_COLUMNS = ("opened_at", "first_at", "last_at", "speed", "head")  # columns of the table that may differ

_spec = importlib.util.spec_from_file_location(
    "example_learner", Path(__file__).parents[2] / "client_sdk" / "examples" / "learner.py"
)
assert _spec is not None
assert _spec.loader is not None
example = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(example)


@dataclass(frozen=True)
class Outcome:
    """The state when all players have finished: the ledger, the learners and the leaderboard."""

    ledger: Mapping[str, list[tuple[Any, ...]]]  # by run
    learned: Mapping[str, Any]  # by player
    table: Sequence[Mapping[str, Any]]


_phase: ContextVar[Phase] = ContextVar("phase", default=PHASE)


@contextmanager
def played_phase(phase: Phase) -> Iterator[None]:
    """Let all trials be played in another phase, of the same name and length."""
    before = _phase.set(phase)
    try:
        yield
    finally:
        _phase.reset(before)


def prepare(store: Store) -> dict[str, str]:
    """Load the phase and register the players; returns their keys."""
    phase = _phase.get()
    texts = [(*pair, f"page {n // 4}") for n, pair in enumerate(PAIRS)] if phase.documents else PAIRS
    load_phase(store, phase, texts[: phase.layout.distinct], language="en", block_size=5)
    return {name: Registry(store).add_participant(name) for name in PLAYERS}


def checkpoint(folder: Path, player: str) -> Path:
    return folder / f"{player}.json"


def rounds_learned(folder: Path, player: str) -> int:
    """Return how many rounds the learner on the disk has learned from."""
    path = checkpoint(folder, player)
    return json.loads(path.read_text())["rounds"] if path.exists() else 0


def play_to_the_end(connect: Callable[[], Client], folder: Path, player: str) -> int:
    """Play until the run is finished, and restart the learner after errors; return how often it was started."""
    if not checkpoint(folder, player).exists():
        opinions = {"run": None, "rounds": 0, "worth": WORD_VALUES[player], "mean": 0.0}
        example.Learner(opinions).save(checkpoint(folder, player))
    for start in range(1, MAX_RESTARTS):
        try:
            with connect() as client:
                example.play(client, PHASE.name, f"{player}-learner", checkpoint(folder, player))
                return start
        except (ConnectionFailedError, ProtocolError, ServerError, ThrottledError):
            continue
    raise AssertionError(f"{player} has not finished after {MAX_RESTARTS} restarts")


def play_all(connect: Mapping[str, Callable[[], Client]], folder: Path) -> int:
    """Let all players play at once; return how often they were started together."""
    with ThreadPoolExecutor(len(connect)) as pool:
        return sum(pool.map(lambda player: play_to_the_end(connect[player], folder, player), connect))


def outcome(store: Store, folder: Path) -> Outcome:
    """Return the outcome of a competition, after scoring every round again."""
    registry, scoreboard = Registry(store), Scoreboard(store)
    record = registry.require_phase(PHASE.name)
    scoreboard.catch_up(record)
    runs = registry.runs(PHASE.name)
    auditor = Auditor(store)
    complaints = [str(complaint) for run in runs for complaint in auditor.audit(record, run)]
    assert complaints == []
    rounds = {run.id: list(store.rounds(run.id)) for run in runs}
    ledger = {
        # a late duplicate of a request to open may open the next run of a finished system; it is never played
        run: [
            (
                *(each.index, each.translation, each.observed_reward, each.true_reward, each.statistics),
                *(each.true_ticks, each.post_edit),
            )
            for each in own
        ]
        for run, own in rounds.items()
        if own
    }
    rows = scoreboard.board(record).as_dict()["rows"]
    table = [{name: value for name, value in row.items() if name not in VOLATILE_COLUMNS} for row in rows]
    return Outcome(ledger, {name: json.loads(checkpoint(folder, name).read_text()) for name in PLAYERS}, table)


@cache
def undisturbed(phase: Phase) -> Outcome:
    """Return the outcome of the same competition in one process, without a fault."""
    with TemporaryDirectory() as folder:
        store = open_store("sqlite::memory:")
        prepare(store)
        for player in PLAYERS:
            play_to_the_end(partial(in_process_client, store, player), Path(folder), player)
        calm = outcome(store, Path(folder))
        store.close()
    assert [len(rounds) for rounds in calm.ledger.values()] == [PHASE.layout.total] * len(PLAYERS)
    assert len({row["reward"] for row in calm.table}) == len(PLAYERS)  # otherwise ties would be broken by time
    return calm


def check(store: Store, folder: Path) -> None:
    """Assert that the outcome is the undisturbed one: no round lost, none committed twice, no score changed."""
    found, expected = outcome(store, folder), undisturbed(_phase.get())
    assert found.ledger == expected.ledger
    assert found.learned == expected.learned
    assert found.table == expected.table


@contextmanager
def short_pauses():
    """Let clients pause for milliseconds where they would pause for seconds."""
    with ExitStack() as patches:
        patches.enter_context(mock.patch.object(connection, "INITIAL_BACKOFF_SECONDS", 0.002))
        patches.enter_context(mock.patch.object(connection, "MAX_RETRY_AFTER_SECONDS", 0.01))
        yield


@cache
def template() -> SamTemplate:
    return SamTemplate.load("local")


@contextmanager
def handlers_use(service: Service):
    """Let the handlers of this process call this service."""
    wiring.use_service(service)
    try:
        yield
    finally:
        wiring.use_service(None)
