"""Accuracies of systems on contrastive sets, with intervals over sources."""

import pytest

from leaderboard.evaluation.contrastive import ContrastiveSet, accuracies, contrastive_report
from leaderboard.metrics.contrastive import ContrastiveError
from tests.leaderboard.metrics.test_contrastive import balanced_groups, hashed_losses


def made_set(count=60):
    return ContrastiveSet("deixis", tuple(g for distance in (1, 2, 3) for g in balanced_groups(count, distance)))


def perfect_losses(groups):
    return [0.0 if place == g.true_index else 1.0 for g in groups for place in range(len(g.candidates))]


def test_without_context_a_balanced_set_leaves_no_doubt():
    score = accuracies(made_set(), {"random": hashed_losses(made_set().groups)})["random"]
    assert {part: each.value for part, each in score.items()} == {"total": 50.0, "1": 50.0, "2": 50.0, "3": 50.0}
    assert score["total"].interval == (50.0, 50.0)  # both groups of a source are resampled together


def test_systems_are_compared_with_the_first():
    test_set = made_set()
    losses = {"random": hashed_losses(test_set.groups), "perfect": perfect_losses(test_set.groups)}
    score = accuracies(test_set, losses)["perfect"]["2"]
    assert score.value == 100.0
    assert score.difference is not None
    assert (score.difference.mean, score.difference.significant) == (50.0, True)


def test_an_interval_is_about_as_wide_as_the_binomial_one():
    groups = [pair for pair in balanced_groups(500, 1) if pair.true_index == 0]  # no source twice
    losses = hashed_losses(groups)
    score = accuracies(ContrastiveSet("half", tuple(groups)), {"random": losses})["random"]["total"]
    assert score.interval is not None
    low, high = score.interval
    assert high - low == pytest.approx(2 * 1.96 * 100 * (0.25 / 500) ** 0.5, rel=0.15)


def test_few_sources_have_no_interval():
    score = accuracies(made_set(3), {"random": hashed_losses(made_set(3).groups)})["random"]
    assert score["total"].interval is None


def test_several_sets_are_reported_in_total():
    one, two = made_set(), ContrastiveSet("cohesion", made_set(20).groups)
    losses = {"perfect": [perfect_losses(one.groups), perfect_losses(two.groups)]}
    report = contrastive_report([one, two], losses)
    assert report.columns == ["deixis", "cohesion"]
    assert report.notes == (
        "deixis: 360 groups, 720 candidates, chance 50.0",
        "cohesion: 120 groups, 240 candidates, chance 50.0",
    )


def test_losses_of_another_set_are_refused():
    with pytest.raises(ContrastiveError, match="mine, test set deixis: there are 3 scores"):
        accuracies(made_set(), {"mine": [1.0, 2.0, 3.0]})
