"""Phases that open and close by the clock, and organisers who override it."""

import pytest

from lambdas import errors
from lambdas.phase_record import PhaseSchedule, PhaseState
from lambdas.registry import Registry, RegistryError
from lambdas.service import Service
from tests.lambdas import tasks

NOON = 1_800_000_000_000  # milliseconds since 1970
HOUR = 3_600_000


class Clock:
    def __init__(self):
        self.milliseconds = NOON

    def __call__(self):
        return self.milliseconds / 1000


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def registry(store, clock):
    tasks.load(store)
    registry = Registry(store, clock=clock)
    registry.schedule_phase("dev", PhaseSchedule(NOON + HOUR, NOON + 2 * HOUR))
    return registry


@pytest.fixture
def service(store, clock, registry):
    return Service(store, clock=clock, staleness=0)


@pytest.fixture
def player(service, registry):
    return service.authenticate(registry.add_participant("acme"))


def test_before_it_opens_nobody_can_begin_and_the_error_says_when(service, player):
    with pytest.raises(errors.PhaseClosedError, match="this phase opens at 2027-01-15T09:00:00Z"):
        service.open_run(player, "dev", "early")


def test_it_opens_and_closes_by_the_clock_of_the_service(service, player, clock):
    clock.milliseconds = NOON + HOUR
    run = service.open_run(player, "dev", "punctual").run
    sentence = service.sentence(player, run)
    assert service.translate(player, run, sentence.id, "a").next is not None
    clock.milliseconds = NOON + 2 * HOUR
    with pytest.raises(errors.PhaseClosedError, match="this phase is closed"):
        tasks.play(service, player, run)


def test_what_was_committed_is_still_answered_after_the_deadline(service, player, clock):
    clock.milliseconds = NOON + HOUR
    run = service.open_run(player, "dev", "punctual").run
    sentence = service.sentence(player, run)
    first = service.translate(player, run, sentence.id, "a")
    clock.milliseconds = NOON + 2 * HOUR
    assert service.translate(player, run, sentence.id, "a").score == first.score


def test_a_warm_service_closes_within_its_staleness(store, clock, registry):
    service = Service(store, clock=clock)
    clock.milliseconds = NOON + HOUR
    assert [phase.state for phase in service.phases()] == ["open", "open", "open"]


def test_phases_tell_their_times(service):
    dev = next(phase for phase in service.phases() if phase.phase == "dev")
    assert (dev.state, dev.opens_at, dev.closes_at) == ("closed", "2027-01-15T09:00:00Z", "2027-01-15T10:00:00Z")


def test_an_organiser_overrides_the_schedule(service, registry, player):
    registry.set_phase_state("dev", PhaseState.OPEN)
    assert service.open_run(player, "dev", "early").index == 0
    assert registry.require_phase("dev").schedule is None


def test_a_phase_can_have_only_one_of_both_times(service, registry, player):
    registry.schedule_phase("dev", PhaseSchedule(None, NOON + HOUR))
    assert service.open_run(player, "dev", "early").index == 0


def test_a_phase_that_would_close_before_it_opens_is_refused(registry):
    with pytest.raises(RegistryError, match="phase dev would close before it opens"):
        registry.schedule_phase("dev", PhaseSchedule(NOON, NOON))
