"""The group lasso: proximal steps, budgets, and what stays within them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from learners.adaptation.gains import GroupGains, fill_budget
from learners.adaptation.lasso import LassoAdaptation, LassoConfig, shrinkage
from learners.adaptation.neural import OUTPUT_BIAS, full_adaptation
from learners.contract import Feedback, Sentence
from learners.snapshot import Snapshot
from tests.learners.adaptation.tiny_base import STREAM, parameters, show, vector

CONFIG = LassoConfig(learning_rate=0.1)


def test_the_proximal_step_shrinks_a_group_or_makes_it_zero():
    rate_penalty = 0.1 * 0.5
    assert [round(value * shrinkage(5.0, 2, rate_penalty), 6) for value in (3.0, 4.0)] == [2.957574, 3.943431]
    assert shrinkage(0.05, 2, rate_penalty) == 0.0  # below the threshold 0.070711
    assert shrinkage(0.0, 2, rate_penalty) == 0.0


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), st.floats(0.01, 1.0))
def test_the_proximal_step_minimises_distance_plus_penalty(values, rate_penalty):
    """Nearby points have no lower ``|x - values|^2 / 2 + rate_penalty * sqrt(size) * |x|``."""
    offsets = np.array(values)

    def objective(point):
        return ((point - offsets) ** 2).sum() / 2 + rate_penalty * math.sqrt(len(values)) * np.linalg.norm(point)

    shrunk = offsets * shrinkage(float(np.linalg.norm(offsets)), len(values), rate_penalty)
    for place in range(len(values)):
        for change in (1e-3, -1e-3):
            nearby = shrunk.copy()
            nearby[place] += change
            assert objective(nearby) >= objective(shrunk) - 1e-9


def test_a_budget_is_filled_in_order_of_gains_and_skips_what_does_not_fit():
    gains, sizes = {"a": 0.3536, "b": 0.1, "c": 0.02}, {"a": 2, "b": 9, "c": 4}
    assert fill_budget(gains, sizes, 6) == ["a", "c"]
    assert fill_budget({"b": 1.0, "a": 1.0}, {"a": 1, "b": 1}, 1) == ["a"]  # ties by name


def test_gains_are_the_first_order_decrease_per_parameter():
    """A gradient of four twos, clipped to norm 1: a step of a quarter of it lowers the loss by its product with it."""
    gains = GroupGains({"small": torch.zeros(4), "table": torch.zeros(2, 2)}, ["table"])
    gradients = [torch.full((4,), 2.0), torch.tensor([[0.6, 0.8], [0.0, 0.0]])]
    gains.add(["small", "table"], gradients, [0.25, 1.0])
    assert gains.tensors == {"small": pytest.approx(4 * 0.5 * 2.0 / 4)}
    assert gains.rows["table"].tolist() == pytest.approx([0.5, 0.0])


def moved_parameters(adapted):
    """Return the numbers of parameters that moved: outside embeddings and bias, in embedding tables, in the bias."""
    counts = {name: int(offset.count_nonzero()) for name, offset in adapted.offsets.items()}
    tables = sum(counts[name] for name in adapted.tables)
    return sum(counts.values()) - tables - counts[OUTPUT_BIAS], tables, counts[OUTPUT_BIAS]


def test_the_moved_parameters_stay_within_the_budgets_after_every_update():
    adapted = parameters()
    learner = LassoAdaptation(adapted, CONFIG)
    assert 0 < learner.budget < sum(tensor.numel() for tensor in adapted.tensors.values()) * 0.127
    for source, target in 3 * STREAM:
        learner.update(Sentence(source), "x", Feedback(0.1, target))
        outside, tables, bias = moved_parameters(adapted)
        assert 0 < outside <= learner.budget
        assert 0 < tables <= learner.embedding_budget
        assert bias > 0  # always included


def test_without_penalty_and_with_room_for_everything_it_is_full_adaptation():
    lasso, full = parameters(), parameters()
    config = LassoConfig(learning_rate=0.1, penalty=0.0, budget_share=1.0, embedding_budget_share=1.0)
    assert show(LassoAdaptation(lasso, config), STREAM) == show(full_adaptation(full, config), STREAM)
    assert vector(lasso) == vector(full)


def test_a_large_penalty_leaves_only_the_bias():
    adapted = parameters()
    show(LassoAdaptation(adapted, LassoConfig(learning_rate=0.1, penalty=1e3)), STREAM)
    outside, tables, bias = moved_parameters(adapted)
    assert (outside, tables) == (0, 0)
    assert bias > 0


def test_a_snapshot_resumes_exactly(tmp_path):
    whole = LassoAdaptation(parameters(), CONFIG)
    show(whole, 2 * STREAM)
    interrupted = LassoAdaptation(parameters(), CONFIG)
    show(interrupted, STREAM)
    interrupted.save().write(tmp_path / "snapshot")
    resumed = LassoAdaptation(parameters(), CONFIG)
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    show(resumed, STREAM)
    assert vector(resumed._user.activate()) == vector(whole._user.activate())
    assert resumed.save().values == whole.save().values
