"""The estimators: values worked out by hand, gradients by finite differences, and their degeneracies."""

import math

import pytest
import torch

from learners.offline.estimators import (
    LoggedBatch,
    Method,
    control_scale,
    effective_sample_size,
    estimate,
    importance_weights,
)
from tests.learners.nmt.toys import finite_differences


def tensor(*values):
    return torch.tensor(values, dtype=torch.float64)


# Three rounds of a policy with two translations each: the logged one has probability sigmoid(features . weights).
FEATURES = torch.tensor([[1.0, 0], [0, 1], [1, 1]], dtype=torch.float64)
WEIGHTS = (0.2, -0.1)
REWARDS = tensor(0.9, 0.1, 0.5)
PROPENSITIES = tensor(0.5, 0.8, 0.4)
PREDICTED, PREDICTED_OTHER = tensor(0.7, 0.3, 0.5), tensor(0.2, 0.6, 0.4)
HALF = math.log(0.5)  # the mean probability of the logged translations if all weights are 0

VALUES = {
    Method.IPS: 0.568434,
    Method.SNIPS: 0.567320,
    Method.DPM: 0.268281,
    Method.DPM_R: 0.519309,
    Method.OSL: (0.989701 + 0.095004 + 0.524979) / 3,
    Method.DC: 0.471291,
}


def batch(weights, *, rewards=REWARDS, **options):
    pi = torch.sigmoid(FEATURES @ weights)
    return LoggedBatch(
        rewards=rewards,
        log_pi=pi.log(),
        **{
            "log_mu": PROPENSITIES.log(),
            "predicted": PREDICTED,
            "expected": PREDICTED * pi + PREDICTED_OTHER * (1 - pi),
            "log_normaliser": HALF,
            **options,
        },
    )


def gradient(method, weights, **options):
    weights = tensor(*weights).requires_grad_()
    estimate(method, batch(weights, **options)).backward()
    return weights.grad.tolist()


@pytest.mark.parametrize(("method", "value"), VALUES.items())
def test_the_value_of_each_estimator(method, value):
    assert float(estimate(method, batch(tensor(*WEIGHTS)))) == pytest.approx(value, abs=1e-6)


def test_the_optimal_scale_is_a_covariance_over_a_variance():
    pi = torch.sigmoid(FEATURES @ tensor(*WEIGHTS))
    weights = 3 * pi / pi.sum()
    covariance = torch.cov(torch.stack([REWARDS * weights, PREDICTED * weights]))
    scale = float(covariance[0, 1] / covariance[1, 1])
    assert control_scale(batch(tensor(*WEIGHTS))) == pytest.approx(scale)
    controlled = ((REWARDS - scale * PREDICTED) * weights).mean()
    expected = scale * (PREDICTED * pi + PREDICTED_OTHER * (1 - pi)).mean()
    assert float(estimate(Method.C_DC, batch(tensor(*WEIGHTS)))) == pytest.approx(float(controlled + expected))


def test_doubly_robust_corrects_the_reward_model_by_weighted_errors():
    pi = torch.sigmoid(FEATURES @ tensor(*WEIGHTS))
    terms = (REWARDS - PREDICTED) * pi / PROPENSITIES + PREDICTED * pi + PREDICTED_OTHER * (1 - pi)
    assert float(estimate(Method.DR, batch(tensor(*WEIGHTS)))) == pytest.approx(float(terms.mean()))


@pytest.mark.parametrize(
    ("method", "expected"), [(Method.DPM, (0.115818, 0.049875)), (Method.DPM_R, (0.057692, -0.070576))]
)
def test_reweighting_pushes_the_translation_with_the_low_reward_down(method, expected):
    assert gradient(method, WEIGHTS) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", [method for method in Method if method is not Method.C_DC])
@pytest.mark.parametrize("weights", [WEIGHTS, (1.5, -2.0)])
def test_gradients_equal_finite_differences(method, weights):
    vector = tensor(*weights)
    indices, slopes = finite_differences(lambda: float(estimate(method, batch(vector))), vector, 2)
    found = gradient(method, weights)
    assert [found[index] for index in indices] == pytest.approx(slopes, abs=1e-8)


def test_the_optimal_scale_is_a_constant_of_the_batch():
    vector = tensor(*WEIGHTS)
    scale = control_scale(batch(vector))

    def with_fixed_scale():
        each = batch(vector)
        controlled = (each.rewards - scale * each.predicted) @ each.log_pi.softmax(0)
        return float(controlled + scale * each.expected.mean())

    indices, slopes = finite_differences(with_fixed_scale, vector, 2)
    found = gradient(Method.C_DC, WEIGHTS)
    assert [found[index] for index in indices] == pytest.approx(slopes, abs=1e-8)


def test_without_a_reward_model_the_doubly_controlled_estimator_is_the_reweighted_one():
    nothing = torch.zeros(3, dtype=torch.float64)
    weights = tensor(*WEIGHTS)
    for method in (Method.DC, Method.C_DC):
        controlled = estimate(method, batch(weights, predicted=nothing, expected=nothing))
        assert float(controlled) == pytest.approx(float(estimate(Method.DPM_R, batch(weights))))
    robust = estimate(Method.DR, batch(weights, predicted=nothing, expected=nothing))
    assert float(robust) == pytest.approx(float(estimate(Method.IPS, batch(weights))))


def climb(method, log_odds, rewards, steps=250):
    """Return the probability of each logged translation after following the estimator's gradient."""
    odds = tensor(*log_odds).requires_grad_()
    optimiser = torch.optim.Adam([odds], lr=0.1)
    for _ in range(steps):
        optimiser.zero_grad()
        (-estimate(method, LoggedBatch(rewards=tensor(*rewards), log_pi=odds.sigmoid().log()))).backward()
        optimiser.step()
    return odds.sigmoid().tolist()


def test_dpm_makes_every_logged_translation_certain_good_or_bad():
    assert climb(Method.DPM, (0, 0, 0), (0.9, 0.1, 0.5)) == pytest.approx([1, 1, 1], abs=0.03)
    certain = LoggedBatch(rewards=REWARDS, log_pi=tensor(0, 0, 0))
    assert float(estimate(Method.DPM, certain)) == pytest.approx(0.5)  # the mean reward


def test_the_reweighted_estimator_keeps_only_the_best_logged_translation():
    best, worst, middle = climb(Method.DPM_R, (0, 0, 0), (0.9, 0.1, 0.5))
    assert best > 0.5
    assert worst < 0.01
    assert middle < 0.01
    only_best = LoggedBatch(rewards=REWARDS, log_pi=tensor(-1, -500, -500))
    assert float(estimate(Method.DPM_R, only_best)) == pytest.approx(0.9)  # the highest reward


@pytest.mark.parametrize("method", [Method.SNIPS, Method.DPM_R])
def test_reweighting_within_a_batch_of_one_round_says_nothing(method):
    log_pi = tensor(-3.0).requires_grad_()
    value = estimate(method, LoggedBatch(rewards=tensor(0.4), log_pi=log_pi, log_mu=tensor(-1.0)))
    value.backward()
    assert value.item() == pytest.approx(0.4)
    assert log_pi.grad.tolist() == [0]


def test_one_step_late_reweighting_learns_from_a_batch_of_one_round():
    log_pi = tensor(HALF).requires_grad_()
    one = LoggedBatch(rewards=tensor(0.4), log_pi=log_pi, log_normaliser=HALF)
    estimate(Method.OSL, one).backward()
    assert log_pi.grad.tolist() == pytest.approx([0.4])


def test_a_policy_that_is_the_logger_earns_what_was_logged():
    same = LoggedBatch(rewards=REWARDS, log_pi=PROPENSITIES.log(), log_mu=PROPENSITIES.log())
    assert float(estimate(Method.IPS, same)) == pytest.approx(0.5)
    assert float(estimate(Method.SNIPS, same)) == pytest.approx(0.5)
    assert effective_sample_size(importance_weights(same)) == pytest.approx(3)


def test_probabilities_too_small_for_floating_point_are_compared_in_log_space():
    tiny = LoggedBatch(rewards=REWARDS, log_pi=tensor(-9_000, -9_001, -9_003), log_mu=tensor(-9_001, -9_001, -9_001))
    shares = torch.tensor([1.0, math.exp(-1), math.exp(-3)], dtype=torch.float64)
    assert float(estimate(Method.DPM_R, tiny)) == pytest.approx(float(REWARDS @ shares / shares.sum()))
    assert float(estimate(Method.IPS, tiny)) == pytest.approx(float(REWARDS @ shares) * math.e / 3)
    assert float(estimate(Method.DPM, tiny)) == 0  # the one that has to give up


def test_large_weights_are_cut_and_have_no_gradient_there():
    log_pi = tensor(-1.0, -1.0).requires_grad_()
    capped = LoggedBatch(rewards=tensor(1.0, 1.0), log_pi=log_pi, log_mu=tensor(-9.0, -1.0), max_weight=10)
    assert importance_weights(capped).tolist() == pytest.approx([10, 1])
    estimate(Method.IPS, capped).backward()
    assert log_pi.grad.tolist() == [0, 0.5]


def test_the_effective_sample_size_counts_equal_weights():
    assert effective_sample_size(tensor(2, 2, 2, 2)) == 4
    assert effective_sample_size(tensor(1, 0, 0, 0)) == 1
    assert effective_sample_size(tensor(3, 1)) == pytest.approx(1.6)
    assert effective_sample_size(tensor(0, 0)) == 0


@pytest.mark.parametrize("method", [Method.IPS, Method.SNIPS, Method.DR])
def test_estimators_by_propensity_need_propensities(method):
    assert method.needs_propensities
    with pytest.raises(ValueError, match="importance weights need the logged probabilities"):
        estimate(method, batch(tensor(*WEIGHTS), log_mu=None))


@pytest.mark.parametrize("method", [Method.DC, Method.C_DC, Method.DR])
def test_doubly_controlled_estimators_need_a_reward_model(method):
    assert method.needs_reward_model
    with pytest.raises(ValueError, match="this estimator needs a reward model"):
        estimate(method, batch(tensor(*WEIGHTS), predicted=None))
