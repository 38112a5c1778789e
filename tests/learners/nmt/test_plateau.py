"""The schedule of pre-training: when the learning rate is halved, and when training has converged."""

import pytest

from learners.nmt.plateau import PlateauConfig, PlateauSchedule

CONFIG = PlateauConfig(min_gain=0.01, patience=2, factor=0.5, reductions=2)


def follow(losses, config=CONFIG):
    """Return the rate factor after each validation, and the number of validations after which training converged."""
    schedule, factors = PlateauSchedule(config), []
    for count, loss in enumerate(losses, 1):
        schedule.update(loss)
        factors.append(schedule.rate_factor)
        if schedule.converged:
            return factors, count
    return factors, None


def test_the_rate_stays_while_the_loss_falls():
    assert follow([3.0, 2.0, 1.0, 0.9]) == ([1, 1, 1, 1], None)


def test_the_rate_is_halved_after_two_validations_without_a_gain():
    assert follow([3.0, 3.0, 3.1, 2.0, 2.0, 2.0]) == ([1, 1, 0.5, 0.5, 0.5, 0.25], None)


def test_training_has_converged_when_two_halvings_in_a_row_gained_nothing():
    assert follow([3.0] * 20) == ([1, 1, 0.5, 0.5, 0.25, 0.25, 0.25], 7)


def test_a_gain_after_a_halving_begins_the_count_again():
    assert follow([3.0, 3.0, 3.0, 3.0, 3.0, 2.0, *[2.0] * 20]) == (
        [1, 1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625, 0.0625],
        12,
    )


@pytest.mark.parametrize(("second", "factor"), [(99.1, 0.5), (98.9, 1)])
def test_a_gain_is_at_least_one_per_cent_here(second, factor):
    assert follow([100.0, second], PlateauConfig(min_gain=0.01, patience=1))[0] == [1, factor]


def test_small_improvements_add_up_to_a_gain():
    schedule = PlateauSchedule(CONFIG)
    for loss in (100.0, 99.4):
        schedule.update(loss)
    assert schedule.validations_without_gain == 1
    schedule.update(98.8)
    assert (schedule.validations_without_gain, schedule.rate_factor) == (0, 1)


def test_without_reductions_training_ends_at_the_first_plateau():
    assert follow([3.0, 2.0, 2.0, 2.0, 2.0], PlateauConfig(patience=3, reductions=0)) == ([1, 1, 1, 1, 1], 5)


def test_a_loaded_state_continues_where_it_was():
    losses = [3.0, 3.0, 3.0, 2.9, 2.9, 2.9, 2.9, 2.9, 2.9, 2.9]
    for cut in range(len(losses)):
        whole, first, second = (PlateauSchedule(CONFIG) for _ in range(3))
        for loss in losses[:cut]:
            first.update(loss)
        second.load_state(first.state())
        for loss in losses:
            whole.update(loss)
        for loss in losses[cut:]:
            second.update(loss)
        assert second.state() == whole.state()
        assert whole.converged


def test_a_loss_that_cannot_fall_converges():
    assert follow([0.0] * 20)[1] == 7
