"""A crash before or after any storage call: the participant starts again and loses nothing."""

import itertools

import pytest

from lambdas.errors import AlreadyPlayedError
from lambdas.service import Service
from lambdas.store import documents
from lambdas.store.sqlite import SQLiteStore
from tests.lambdas import tasks
from tests.lambdas.faulty_store import CrashError, FaultyStore


class Learner:
    """A participant's program that survives crashes, because what it has learned is on its disk."""

    def __init__(self):
        self.learned = {}  # scores by index

    def play(self, service, player):
        """Open or resume the run, learn from a reward whose response was lost, and play to the end."""
        try:
            run = service.open_run(player, "training", "copy").run
        except AlreadyPlayedError as error:  # it crashed after its last translation, before it received the score
            run = error.run
        state = service.run(player, run)
        if state.last is not None:
            self.learned[state.last.index] = state.last.score
        while not state.finished:
            sentence = service.sentence(player, run)
            answer = service.translate(player, run, sentence.id, sentence.source)
            self.learned[sentence.index] = answer.score
            state = service.run(player, run)


def ledger(store):
    (claim,) = store.documents(documents.claims("acme", "training"))
    return [
        (played.index, played.translation, played.observed_reward, played.true_ticks)
        for played in store.rounds(claim["id"])
    ]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    store = SQLiteStore.open(f"{tmp_path_factory.mktemp('calm') / 'store.db'}?synchronous=normal")
    _, player = tasks.start_service(store)
    learner, counting = Learner(), FaultyStore(store)
    learner.play(Service(counting), player)
    result = (ledger(store), learner.learned, len(counting.calls))
    store.close()
    return result


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_storage_call(tmp_path, undisturbed, after):
    rounds, learned, calls = undisturbed
    assert calls > 20
    for turn in range(calls):
        store = SQLiteStore.open(f"{tmp_path / str(turn)}.db?synchronous=normal")
        _, player = tasks.start_service(store)
        learner, faulty = Learner(), FaultyStore(store)
        faulty.fail(turn, after=after)
        with pytest.raises(CrashError):
            learner.play(Service(faulty), player)
        learner.play(Service(store), player)
        assert ledger(store) == rounds, f"crash {turn} ({faulty.calls[-1]})"
        assert learner.learned == learned, f"crash {turn} ({faulty.calls[-1]})"
        store.close()


def test_repeated_crashes(tmp_path, undisturbed):
    """Every restart gets one call further than the one before it."""
    rounds, learned, _ = undisturbed
    store = SQLiteStore.open(f"{tmp_path / 'store'}.db?synchronous=normal")
    _, player = tasks.start_service(store)
    learner = Learner()
    for restart in itertools.count():
        faulty = FaultyStore(store)
        faulty.fail(restart, after=bool(restart % 2))
        try:
            learner.play(Service(faulty), player)
        except CrashError:
            continue
        break
    assert restart > 10
    assert ledger(store) == rounds
    assert learner.learned == learned
    store.close()
