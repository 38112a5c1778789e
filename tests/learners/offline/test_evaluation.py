"""Off-policy evaluation: estimates of what a system would earn, against what it does earn."""

import math

import numpy as np
import pytest

from learners.contract import Learner, Proposal, StaticSystem
from learners.offline.evaluation import OffPolicyEvaluator
from learners.offline.logged_round import LogError, LoggedRound

SHARES = {"good": 0.2, "fair": 0.5, "bad": 0.3}  # with which the logging system proposed each
EARNED = {"good": 0.9, "fair": 0.5, "bad": 0.1}


def log(count=1_000, *, probabilities=True):
    rng = np.random.default_rng(3)
    drawn = rng.choice(list(SHARES), size=count, p=list(SHARES.values()))
    noise = rng.uniform(-0.1, 0.1, size=count)
    return [
        LoggedRound(
            f"s{number % 100}",
            str(text),
            EARNED[text] + noise[number],
            math.log(SHARES[text]) if probabilities else None,
        )
        for number, text in enumerate(drawn)
    ]


class Always(StaticSystem):
    """Proposes the same text for every source."""

    def __init__(self, text):
        self._text = text

    def propose(self, sentence):
        return self._text


class Sampler(StaticSystem):
    """Proposes one of two texts, each in half of the rounds."""

    def __init__(self):
        self._rng = np.random.default_rng(4)

    def propose(self, sentence):
        return Proposal(str(self._rng.choice(["good", "bad"])), math.log(0.5))


class Recorder(Learner):
    """Remembers what it learned from."""

    def __init__(self):
        self.seen = []

    def propose(self, sentence):
        return "good"

    def update(self, sentence, translation, feedback):
        self.seen.append((sentence.source, translation, feedback.reward))


def intervals(found):
    """Return the estimates that rest on the rounds in which the system agrees."""
    estimates = (found.ips, found.snips, found.doubly_robust)
    assert None not in estimates
    return estimates


@pytest.mark.parametrize("text", list(SHARES))
def test_a_system_that_was_never_played_is_estimated_from_the_rounds_that_agree_with_it(text):
    found = OffPolicyEvaluator(log()).evaluate(Always(text))
    for estimate in intervals(found):
        assert estimate.low <= EARNED[text] <= estimate.high
        assert estimate.low < estimate.value < estimate.high
    assert found.direct.value == pytest.approx(EARNED[text], abs=0.2)  # a model that is shrunk towards the mean
    assert found.matches == pytest.approx(1_000 * SHARES[text], abs=60)
    assert found.effective_rounds == pytest.approx(found.matches)  # their weights are equal
    assert found.rounds == 1_000
    assert found.logged == pytest.approx(0.46, abs=0.02)


def test_normalising_and_a_reward_model_make_intervals_narrower():
    found = OffPolicyEvaluator(log()).evaluate(Always("good"))
    widths = [each.high - each.low for each in intervals(found)]
    assert widths[0] > 2 * widths[1]
    assert widths[0] > 2 * widths[2]


def test_a_system_that_samples_is_estimated_without_its_probabilities():
    found = OffPolicyEvaluator(log()).evaluate(Sampler())
    by_propensity, *_ = intervals(found)
    assert by_propensity.low <= 0.5 <= by_propensity.high
    assert found.doubly_robust.value == pytest.approx(0.5, abs=0.05)


def test_a_learner_learns_from_the_rounds_that_agree_with_it_only():
    learner, rounds = Recorder(), log(60)
    OffPolicyEvaluator(rounds).evaluate(learner)
    agreeing = [(each.source, each.translation, each.reward) for each in rounds if each.translation == "good"]
    assert learner.seen == agreeing


def test_a_deterministic_log_has_no_propensities():
    evaluator = OffPolicyEvaluator(log(probabilities=False))
    assert evaluator.is_deterministic
    found = evaluator.evaluate(Always("good"))
    assert found.ips is None
    assert found.snips is not None
    assert found.snips.value == pytest.approx(0.9, abs=0.02)  # here, because it agrees in random rounds
    assert found.effective_rounds == found.matches


def test_a_system_that_never_agrees_has_only_the_reward_model():
    found = OffPolicyEvaluator(log()).evaluate(Always("something else"))
    assert (found.matches, found.effective_rounds, found.snips) == (0, 0, None)
    assert found.ips is not None
    assert found.ips.value == 0  # an estimate that only its effective sample size exposes
    assert found.doubly_robust == found.direct


def test_rounds_without_probability_are_left_out_where_others_have_one():
    evaluator = OffPolicyEvaluator([*log(100), *log(probabilities=False)[:30]])
    assert (len(evaluator.rounds), evaluator.left_out) == (100, 30)


@pytest.mark.parametrize(
    ("rounds", "complaint"),
    [
        (log(19), "an evaluation needs at least 20 logged rounds, but there are 19"),
        ([LoggedRound("s", "t", 0.5)] * 30, "an evaluation needs rounds of more sources"),
    ],
)
def test_a_log_that_is_too_small_is_refused(rounds, complaint):
    with pytest.raises(LogError, match=complaint):
        OffPolicyEvaluator(rounds)
