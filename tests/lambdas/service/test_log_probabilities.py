"""Log-probabilities of what was proposed: kept in the round, for those who learn from logs later."""

import pytest

from lambdas import errors
from tests.lambdas import tasks


@pytest.fixture
def opened(store):
    service, player = tasks.start_service(store)
    run = service.open_run(player, "dev", "sampler").run
    return service, player, run


@pytest.mark.parametrize("log_probability", [0, 0.0, -1.5, -1e-300, -1e300])
def test_it_is_part_of_the_round(opened, store, log_probability):
    service, player, run = opened
    service.translate(player, run, service.sentence(player, run).id, "a", log_probability)
    assert store.round(run, 0).log_probability == log_probability


def test_it_need_not_be_known(opened, store):
    service, player, run = opened
    tasks.play(service, player, run, rounds=1)
    assert store.round(run, 0).log_probability is None


def test_a_negative_zero_is_stored_as_zero(opened, store):
    service, player, run = opened
    service.translate(player, run, service.sentence(player, run).id, "a", -0.0)
    assert repr(store.round(run, 0).log_probability) == "0.0"


@pytest.mark.parametrize("log_probability", [0.1, float("nan"), float("inf"), float("-inf")])
def test_what_no_probability_has_as_its_logarithm_is_refused(opened, store, log_probability):
    service, player, run = opened
    with pytest.raises(errors.BadRequestError, match="log_probability is a finite number of at most 0"):
        service.translate(player, run, service.sentence(player, run).id, "a", log_probability)
    assert store.round(run, 0) is None


def test_the_first_one_stands(opened, store):
    service, player, run = opened
    sentence = service.sentence(player, run)
    first = service.translate(player, run, sentence.id, "a", -1.0)
    assert service.translate(player, run, sentence.id, "a", -2.0) == first
    assert store.round(run, 0).log_probability == -1.0
