"""Concurrent requests for the same round or run: exactly one is committed, and all responses agree with it."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from lambdas import errors
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.store.dynamodb import DynamoDBStore
from lambdas.store.sqlite import SQLiteStore
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks
from tests.lambdas.conftest import opened

THREADS = 8


@pytest.fixture(params=["sqlite", "dynalite"])  # moto loses writes under threads
def store(request):
    with opened(request.param, request) as store:
        yield store


def all_at_once(calls):
    """Make the calls from as many threads at the same moment; return the results, or the errors that were raised."""
    barrier = Barrier(len(calls))

    def go(call):
        barrier.wait()
        try:
            return call()
        except errors.ServiceError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(go, calls))


def instances(store):
    """Return as many services as threads, each with its own cache, over the same storage."""
    if isinstance(store, SQLiteStore):
        return [Service(SQLiteStore.open(f"{store.path}?synchronous=normal")) for _ in range(THREADS)]
    assert isinstance(store, DynamoDBStore)
    return [Service(store) for _ in range(THREADS)]


@pytest.mark.parametrize("phases", [tasks.PHASES, tasks.MIXED_PHASES], ids=["bandit", "post-edit"])
def test_different_translations_of_one_sentence(store, phases):
    service, player = tasks.start_service(store, phases=phases)
    run = service.open_run(player, "mock", "copy").run
    services = instances(store)
    for index in range(5):
        token = service.sentence(player, run).id
        outcomes = all_at_once(
            [
                lambda each=each, number=number, token=token: each.translate(player, run, token, f"rot {number}")
                for number, each in enumerate(services)
            ]
        )
        winners = [number for number, outcome in enumerate(outcomes) if not isinstance(outcome, Exception)]
        assert len(winners) == 1
        losers = [outcome for outcome in outcomes if isinstance(outcome, Exception)]
        assert [type(loser) for loser in losers] == [errors.TranslationConflictError] * (THREADS - 1)
        assert store.round(run, index).translation == f"rot {winners[0]}"
        reference = tasks.reference("mock", index)
        assert outcomes[winners[0]].post_edit == (reference if phases is tasks.MIXED_PHASES else None)
        assert not any("refword" in f"{loser} {vars(loser)}" for loser in losers)
    assert len(list(store.rounds(run))) == 5


def test_the_same_translation_of_one_sentence(store):
    service, player = tasks.start_service(store)
    run = service.open_run(player, "mock", "copy").run
    token = service.sentence(player, run).id
    answers = all_at_once(
        [lambda each=each: each.translate(player, run, token, "rot").as_dict() for each in instances(store)]
    )
    assert answers == [answers[0]] * THREADS
    assert service.run(player, run).index == 1


def test_one_service_shared_by_threads(store):
    """As in the local cloud: each thread has its own run, and all share one service and one connection."""
    service, player = tasks.start_service(store)
    runs = [service.open_run(player, "dev", f"system-{number}").run for number in range(THREADS)]
    outcomes = all_at_once([lambda run=run: tasks.play(service, player, run) for run in runs])
    scores = [[answer.score for answer in answers] for answers in outcomes]
    assert scores == [scores[0]] * THREADS
    assert all(service.run(player, run).finished for run in runs)


def test_opening_the_same_run(store):
    _, player = tasks.start_service(store)
    opened_runs = all_at_once(
        [lambda each=each: each.open_run(player, "training", "copy") for each in instances(store)]
    )
    assert opened_runs == [opened_runs[0]] * THREADS
    assert len(Registry(store).claims(player.name, "training")) == 1


def test_the_budget_of_runs_is_exact(store):
    _, player = tasks.start_service(store, runs=3)
    outcomes = all_at_once(
        [
            lambda each=each, number=number: each.open_run(player, "mock", f"system-{number}")
            for number, each in enumerate(instances(store))
        ]
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, errors.QuotaExceededError)]
    assert len(refused) == THREADS - 3
    assert len(Registry(store).claims(player.name, "mock")) == 3


def play_as_process(address, key, name, barrier, results):
    """Play a run that other processes play, too, with different translations."""
    service = Service(open_store(address))
    player = service.authenticate(key)
    barrier.wait(timeout=300)
    run = service.open_run(player, "training", "shared").run
    won = []
    while not service.run(player, run).finished:
        try:
            sentence = service.sentence(player, run)
            service.translate(player, run, sentence.id, f"rot {name}")
            won.append(sentence.index)
        except (errors.TranslationConflictError, errors.RunFinishedError):
            continue
    results.put((name, won))


def test_processes_on_one_sqlite_file(tmp_path):
    address = f"sqlite:{tmp_path / 'store.db'}?synchronous=normal"  # the race is not for the disk
    store = open_store(address)
    phase = Phase("training", Layout.plain(200), repeatable=False)
    tasks.load(store, phases=[phase])
    key = Registry(store).add_participant("acme")
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=play_as_process, args=(address, key, name, barrier, results)) for name in ("a", "b", "c")
    ]
    for process in processes:
        process.start()
    won = dict(results.get(timeout=300) for _ in processes)
    for process in processes:
        process.join(timeout=300)
        assert process.exitcode == 0
    assert sorted(index for indices in won.values() for index in indices) == list(range(200))
    (run,) = Registry(store).claims("acme", "training")
    rounds = list(store.rounds(run.id))
    assert [played.index for played in rounds] == list(range(200))
    assert all(played.index in won[played.translation.removeprefix("rot ")] for played in rounds)
    store.close()
