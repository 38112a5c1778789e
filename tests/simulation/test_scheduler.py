"""Virtual time: one thread at a time, in the order of their times."""

import random

from tests.simulation.scheduler import KilledError, Scheduler, SimulatedLock, SimulatedRLock


def started():
    scheduler = SimulatedLock.scheduler = Scheduler(random.Random(0))
    return scheduler


def run(scheduler):
    scheduler.run(lambda: False)


def test_actors_run_in_the_order_of_their_times():
    scheduler, seen = started(), []

    def actor(name, *pauses):
        for pause in pauses:
            scheduler.pause(pause)
            seen.append((name, scheduler.now))

    scheduler.start("a", lambda: actor("a", 1, 1))
    scheduler.start("b", lambda: actor("b", 1.5, 1))
    run(scheduler)
    assert seen == [("a", 1), ("b", 1.5), ("a", 2), ("b", 2.5)]
    assert scheduler.actors == {}


def test_a_lock_is_held_by_one_actor_at_a_time():
    scheduler, seen = started(), []
    lock = SimulatedLock()

    def actor(name):
        with lock:
            seen.append(f"{name} in")
            scheduler.pause(1)
            seen.append(f"{name} out")

    for name in "abc":
        scheduler.start(name, lambda name=name: actor(name))
    run(scheduler)
    assert [entry[2:] for entry in seen] == ["in", "out"] * 3
    assert not lock.locked()
    assert scheduler.now == 3


def test_waiting_for_a_lock_ends_at_its_timeout():
    scheduler, seen = started(), []
    lock = SimulatedLock()

    def hold():
        with lock:
            scheduler.pause(10)

    scheduler.start("holder", hold)
    scheduler.start("waiter", lambda: seen.append((lock.acquire(timeout=2), scheduler.now)), delay=1)
    run(scheduler)
    assert seen == [(False, 3)]


def test_an_owner_takes_a_reentrant_lock_again():
    scheduler, seen = started(), []
    lock = SimulatedRLock()

    def owner():
        with lock, lock:
            scheduler.pause(1)
        seen.append("owner")

    def other():
        with lock:
            seen.append("other")

    scheduler.start("owner", owner)
    scheduler.start("other", other, delay=0.5)
    run(scheduler)
    assert seen == ["owner", "other"]


def test_a_killed_actor_ends_where_it_waits():
    scheduler, seen = started(), []

    def victim():
        try:
            scheduler.pause(100)
        except KilledError:
            seen.append(scheduler.now)
            raise

    actor = scheduler.start("victim", victim)
    scheduler.start("killer", lambda: scheduler.kill(actor), delay=5)
    run(scheduler)
    assert seen == [5]
    assert scheduler.failures == []


def test_failures_are_kept_and_unfinished_actors_end():
    scheduler, seen = started(), []

    def blocked():
        try:
            scheduler.wait()
        finally:
            seen.append("ended")

    scheduler.start("blocked", blocked)
    scheduler.start("failing", lambda: 1 / 0)
    run(scheduler)
    assert [(actor.name, type(failure)) for actor, failure in scheduler.failures] == [("failing", ZeroDivisionError)]
    assert [actor.name for actor in scheduler.actors] == ["blocked"]
    scheduler.end()
    assert seen == ["ended"]
    assert scheduler.actors == {}
