"""Observed and true rewards of a translation, and that noise can be repeated but not guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas import scoring
from lambdas.scoring import Scorer
from lambdas.text_lines import Reference
from leaderboard.metrics.bleu import count_ngram_matches
from leaderboard.metrics.post_edit import post_edit_statistics
from task.feedback import FeedbackKind, FeedbackSpec

HYPOTHESIS, REFERENCE = "the cat sat on the mat", Reference("the cat is on the mat")
FINGERPRINT = "f" * 64
NOISES = ["granular:5", "high-variance:1", "skewed:0.5", "binary:0.3"]


def scorer(noise="none", seed=3, fingerprint=FINGERPRINT):
    return Scorer(FeedbackSpec(noise, seed), fingerprint)


def test_without_noise_the_learner_observes_the_true_reward():
    scored = scorer().score(HYPOTHESIS, REFERENCE, run="r", index=0)
    assert scored.observed_reward == scored.true_reward == pytest.approx(0.142872, abs=5e-7)
    assert scored.statistics == count_ngram_matches(HYPOTHESIS, REFERENCE.text).to_bytes()


def test_only_a_post_edit_phase_pays_for_the_measures_of_adaptation(monkeypatch):
    compared = []

    def recording_statistics(*texts):
        compared.append(texts)
        return post_edit_statistics(*texts)

    monkeypatch.setattr(scoring, "post_edit_statistics", recording_statistics)
    bandit = scorer().score(HYPOTHESIS, REFERENCE, run="r", index=0)
    assert (len(bandit.statistics), compared) == (9, [])
    post_edit = Scorer(FeedbackSpec(kind=FeedbackKind.POST_EDIT), FINGERPRINT)
    reference = Reference(REFERENCE.text, [["cat"], ["mat"]])
    assert len(post_edit.score(HYPOTHESIS, reference, run="r", index=0).statistics) == 15
    assert compared == [(HYPOTHESIS, REFERENCE.text, [["cat"], ["mat"]])]


@pytest.mark.parametrize("noise", NOISES)
def test_noise_changes_only_the_observed_reward(noise):
    scored = scorer(noise).score(HYPOTHESIS, REFERENCE, run="r", index=0)
    assert scored.true_reward == pytest.approx(0.142872, abs=5e-7)
    assert scored.observed_reward != scored.true_reward


@given(st.sampled_from(NOISES), st.text("ab ", max_size=8), st.integers(0, 2**40))
def test_the_observed_reward_stays_between_0_and_1(noise, hypothesis, index):
    assert 0 <= scorer(noise).score(hypothesis, Reference("a b a"), run="r", index=index).observed_reward <= 1


def test_noise_depends_on_seed_text_run_and_round_and_on_nothing_else():
    def observed(seed=3, fingerprint=FINGERPRINT, run="r", index=7):
        noisy = scorer("high-variance:1", seed, fingerprint)
        return noisy.score(HYPOTHESIS, REFERENCE, run=run, index=index).observed_reward

    assert observed() == pytest.approx(0.15272935394635712, abs=1e-12)  # the same on every machine and in every version
    assert observed(fingerprint="0" * 64) == pytest.approx(0.2870210752358342, abs=1e-12)
    assert observed() == observed()
    others = {observed(), observed(seed=4), observed(fingerprint="0" * 64), observed(run="s"), observed(index=8)}
    assert len(others) == 5


def test_noise_is_unbiased_over_rounds():
    noisy = scorer("high-variance:0.5", seed=1)
    scored = [noisy.score("a b", Reference("a b c"), run="r", index=k) for k in range(2_000)]
    mean = sum(each.observed_reward for each in scored) / len(scored)
    assert mean == pytest.approx(scored[0].true_reward, abs=0.012)
