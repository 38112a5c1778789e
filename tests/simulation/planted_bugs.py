"""Bugs to plant in the code at run time, which show that the simulation finds what it claims to find.

Each is a mistake that a programmer could make. A bug replaces one function of the code under test by one with the
mistake, for as long as its context lasts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from lambdas import errors, tokens
from lambdas.cache import Cache
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import group_commit, sqlite
from lambdas.store.dynamodb import DynamoDBStore
from lambdas.store.sqlite import SQLiteStore
from leaderboard.summaries import Summary
from simulator.cloud.rate_limiter import TokenBucket
from tests.faults.scenario import example
from tests.simulation.servers import ServerProcess, recorded_rate_limiter

Plant = Callable[[], AbstractContextManager[object]]


def acknowledges_a_group_before_its_commit() -> AbstractContextManager[object]:
    """A group of rounds is answered as soon as its statements are executed, before the commit."""
    original = group_commit._commit_together

    def too_early(connection: Any, group: Sequence[Any]) -> bool:
        def execute(statement: str, values: Any = ()) -> Any:
            if statement == "COMMIT":
                for write in group:
                    write.rows = 1
                    group_commit._wake(write)
            return connection.execute(statement, values)

        return original(mock.Mock(wraps=connection, execute=execute, in_transaction=False), group)

    return mock.patch.object(group_commit, "_commit_together", too_early)


def leaves_the_transaction_of_a_failed_group_open() -> AbstractContextManager[object]:
    """After a statement of a group failed, the transaction is not rolled back."""

    def without_rollback(connection: Any, group: Sequence[Any]) -> bool:
        try:
            connection.execute("BEGIN IMMEDIATE")
            rows = [connection.execute(write.statement, write.values).rowcount for write in group]
            connection.execute("COMMIT")
        except Exception:
            return False
        for write, count in zip(group, rows, strict=True):
            write.rows = count
        return True

    return mock.patch.object(group_commit, "_commit_together", without_rollback)


def does_not_hand_on_the_lead() -> AbstractContextManager[object]:
    """A leader that is interrupted leaves without naming the next one, so the writes behind it wait for ever."""
    original = group_commit.WriteQueue._leave

    def leave(queue: Any, write: Any) -> None:
        if write.is_done:
            original(queue, write)

    return mock.patch.object(group_commit.WriteQueue, "_leave", leave)


def reports_a_failed_write_as_done() -> AbstractContextManager[object]:
    """An error of the disk is swallowed, and the round is answered."""

    def swallow(connection: Any, write: Any) -> None:
        try:
            write.rows = connection.execute(write.statement, write.values).rowcount
        except Exception:
            write.rows = 1

    return mock.patch.object(group_commit, "_commit_alone", swallow)


def overwrites_committed_rounds() -> AbstractContextManager[object]:
    """A round is written without the condition that it does not exist."""
    statement = sqlite._APPEND_CLASSIC.replace("INSERT INTO", "INSERT OR REPLACE INTO").replace(
        "ON CONFLICT DO NOTHING", ""
    )
    return mock.patch.object(sqlite, "_APPEND_CLASSIC", statement)


def overwrites_committed_items() -> AbstractContextManager[object]:
    """The same on DynamoDB."""

    def put(store: Any, table: str, item: Any) -> bool:
        return bool(store._put_if(table, item, ""))

    return mock.patch.object(DynamoDBStore, "_put_if_absent", put)


def answers_before_the_round_is_durable() -> AbstractContextManager[object]:
    """The service builds the answer although the write failed."""

    def append(store: Any, played: Any) -> bool:
        try:
            return original(store, played)
        except errors.UnavailableError:
            return True

    original = SQLiteStore.append
    return mock.patch.object(SQLiteStore, "append", append)


def accepts_another_translation_of_a_committed_round() -> AbstractContextManager[object]:
    """The translation of a repeated request is not compared with the committed one."""
    original = Service._committed_round

    class Agreeable(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            return True

        def __ne__(self, other: object) -> bool:
            return False

    def committed_round(self: Service, record: Any, run: str, index: int) -> Any:
        found = original(self, record, run, index)
        return replace(found, translation=Agreeable(found.translation))

    return mock.patch.object(Service, "_committed_round", committed_round)


def serves_the_runs_of_others() -> AbstractContextManager[object]:
    """The owner of a run is not checked when its state or its sentence is read."""

    def own_progress(self: Service, _: Any, run: str) -> Any:
        progress = self._store.progress(run)
        if progress is None:
            raise errors.RunNotFoundError
        return progress

    return mock.patch.object(Service, "_own_progress", own_progress)


@contextmanager
def accepts_ids_of_other_runs() -> Iterator[None]:
    """The run is left out of the tag of an id."""
    issue, decrypt = tokens.KeyRing.issue, tokens.KeyRing.decrypt

    def issue_for_any(ring: Any, _participant: str, _run: str, position: Any, *, key: int) -> str:
        return issue(ring, "", "", position, key=key)

    def decrypt_for_any(ring: Any, _participant: str, _run: str, token: str) -> Any:
        return decrypt(ring, "", "", token)

    with (
        mock.patch.object(tokens.KeyRing, "issue", issue_for_any),
        mock.patch.object(tokens.KeyRing, "decrypt", decrypt_for_any),
    ):
        yield


def serves_the_next_sentence_early() -> AbstractContextManager[object]:
    """A request for the sentence, repeated while the round is played, gets the following one."""
    original = Service.sentence

    def sentence(self: Service, participant: Any, run: str) -> Any:
        served = original(self, participant, run)
        progress = self._store.progress(run)
        record = self._phase(progress.run.phase) if progress else None
        if record is None or progress is None or served.index == 0 or served.index + 1 >= served.total:
            return served
        return self._sentence(record, progress.run, tokens.Position(served.index + 1, 0, 0))

    return mock.patch.object(Service, "sentence", sentence)


def plays_in_closed_phases() -> AbstractContextManager[object]:
    """The state of a phase is not looked at when a round is played."""
    original = Service._phase

    def phase(self: Service, name: str) -> Any:
        return replace(original(self, name), state=PhaseState.OPEN)

    return mock.patch.object(Service, "_phase", phase)


def caches_keys_for_ever() -> AbstractContextManager[object]:
    """A revoked key works as long as the process lives."""
    original = Cache._expiry

    def expiry(self: Any, started: float) -> float:
        return float("inf") if self._capacity == 10_000 else original(self, started)

    return mock.patch.object(Cache, "_expiry", expiry)


def lets_the_budget_be_exceeded() -> AbstractContextManager[object]:
    """Claims of runs are counted from a list that is read before the other claims are written."""
    original = Service._new_run

    def new_run(self: Service, participant: Any, record: Any, system: str, claims: Any, attempt: int) -> Any:
        return original(self, participant, record, system, claims[:1], attempt)

    return mock.patch.object(Service, "_new_run", new_run)


def opens_a_run_again_after_a_lost_claim() -> AbstractContextManager[object]:
    """Two requests that claim the same number both believe to have got it."""

    def claim(_: Registry, *__: Any, **___: Any) -> bool:
        return True

    return mock.patch.object(Registry, "claim", claim)


def never_throttles_after_a_pause() -> AbstractContextManager[object]:
    """A bucket gains tokens without a limit."""

    def take(bucket: TokenBucket, now: float) -> bool:
        bucket.tokens += max(0.0, now - bucket.refilled) * bucket.settings.rate
        bucket.refilled = now
        bucket.tokens -= bucket.tokens >= 1
        return bucket.tokens >= 0

    return mock.patch.object(TokenBucket, "take", take)


def throttles_each_process_by_itself() -> AbstractContextManager[object]:
    """Every process counts only the requests that it serves itself, although all share a port."""
    original = ServerProcess.__init__

    def begin(process: Any, scheduler: Any, plan: Any, storage: Any, rate_limiter: Any) -> None:
        own = recorded_rate_limiter(scheduler, rate_limiter.history)
        original(process, scheduler, plan, storage, own)

    return mock.patch.object(ServerProcess, "__init__", begin)


def counts_rounds_twice_on_the_leaderboard() -> AbstractContextManager[object]:
    """A summary that is continued folds the last round again."""
    original = Summary.fold

    def fold(summary: Any, results: Any, layout: Any) -> Any:
        folded = original(summary, results, layout)
        if summary.rounds and folded.rounds > summary.rounds:
            total = replace(folded.record.total, ticks=folded.record.total.ticks + 10**9)
            return replace(folded, record=replace(folded.record, total=total))
        return folded

    return mock.patch.object(Summary, "fold", fold)


def forgets_the_feedback_of_a_lost_response() -> AbstractContextManager[object]:
    """A learner that starts again does not learn from the last round of its run."""
    return mock.patch.object(example, "catch_up", return_value=None)


def proposes_anew_after_a_lost_response() -> AbstractContextManager[object]:
    """A learner that starts again sends another translation of the sentence whose answer it did not get."""
    original, starts = example.Learner.__init__, iter(range(10**9))

    def begin(learner: Any, state: Any = None) -> None:
        original(learner, state)
        learner.start = next(starts)

    def propose(learner: Any, source: str) -> str:
        return " ".join(source.split()[learner.start % 3 :])

    return mock.patch.multiple(example.Learner, __init__=begin, propose=propose)


BUGS: dict[str, Plant] = {
    plant.__name__.replace("_", "-"): plant
    for plant in (
        acknowledges_a_group_before_its_commit,
        leaves_the_transaction_of_a_failed_group_open,
        does_not_hand_on_the_lead,
        reports_a_failed_write_as_done,
        overwrites_committed_rounds,
        overwrites_committed_items,
        answers_before_the_round_is_durable,
        accepts_another_translation_of_a_committed_round,
        serves_the_runs_of_others,
        accepts_ids_of_other_runs,
        serves_the_next_sentence_early,
        plays_in_closed_phases,
        caches_keys_for_ever,
        lets_the_budget_be_exceeded,
        opens_a_run_again_after_a_lost_claim,
        never_throttles_after_a_pause,
        throttles_each_process_by_itself,
        counts_rounds_twice_on_the_leaderboard,
        forgets_the_feedback_of_a_lost_response,
        proposes_anew_after_a_lost_response,
    )
}
