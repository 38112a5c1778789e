"""Card A6, literally: what a learner is told, and that it can be repeated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.feedback import Binary, Feedback, FeedbackError, Granular, HighVariance, Skewed, parse_perturbation
from leaderboard.metrics.bleu import SENTENCE_SIGNATURE, statistics

HYPOTHESIS, REFERENCE = "the cat sat on the mat", "the cat is on the mat"
SPECIFICATIONS = ["granular:5", "high-variance:1", "skewed:0.5", "binary:0.3"]


@pytest.mark.parametrize(("grades", "score", "seen"), [(1, 0.5, 1.0), (5, 0.5, 0.6), (10, 0.5, 0.5), (5, 0.1, 0.2)])
def test_granular_rounds_half_up(grades, score, seen):
    assert Granular(grades).apply(score, 0.5) == pytest.approx(seen)


@pytest.mark.parametrize(("power", "seen"), [(0.25, 0.8409), (4, 0.0625)])
def test_skewed_is_a_power(power, seen):
    assert Skewed(power).apply(0.5, 0.5) == pytest.approx(seen, abs=5e-5)


@pytest.mark.parametrize(("score", "deviation"), [(0.0, 0), (0.3, 0.192), (0.5115, 0.327), (0.7, 0.201), (1.0, 0)])
def test_high_variance_spreads_most_in_the_middle(score, deviation):
    assert HighVariance(1).deviation(score) == pytest.approx(deviation, abs=5e-4)


def test_high_variance_is_normal_around_the_score():
    assert HighVariance(1).apply(0.3, 0.5) == pytest.approx(0.3)
    assert HighVariance(1).apply(0.3, 0.8413447) == pytest.approx(0.3 + 0.192, abs=1e-6)
    assert HighVariance(1).apply(0.3, 1e-9) == 0.0
    assert HighVariance(5).apply(0.5, 1 - 1e-9) == 1.0


@pytest.mark.parametrize(("score", "seen"), [(0.299, 0.0), (0.3, 1.0), (1.0, 1.0)])
def test_binary_accepts_from_the_threshold_on(score, seen):
    assert Binary(0.3).apply(score, 0.5) == seen


def test_without_perturbation_the_learner_sees_the_clean_score():
    verdict = Feedback().judge(HYPOTHESIS, REFERENCE, run="r", index=0)
    assert verdict.shown == verdict.clean == pytest.approx(0.142872, abs=5e-7)
    assert verdict.statistics == statistics(HYPOTHESIS, REFERENCE)


@pytest.mark.parametrize("specification", SPECIFICATIONS)
def test_perturbation_touches_only_what_is_shown(specification):
    verdict = Feedback(specification, seed=3).judge(HYPOTHESIS, REFERENCE, run="r", index=0)
    assert verdict.clean == pytest.approx(0.142872, abs=5e-7)
    assert verdict.shown != verdict.clean


@given(st.sampled_from(SPECIFICATIONS), st.text("ab ", max_size=8), st.integers(0, 2**40))
def test_what_is_shown_stays_between_0_and_1(specification, hypothesis, index):
    assert 0 <= Feedback(specification).judge(hypothesis, "a b a", run="r", index=index).shown <= 1


def test_noise_depends_on_seed_run_and_round_and_on_nothing_else():
    def shown(seed=3, run="r", index=7):
        return Feedback("high-variance:1", seed).judge(HYPOTHESIS, REFERENCE, run=run, index=index).shown

    assert shown() == pytest.approx(0.20232926375807775, abs=1e-12)  # the same on every machine
    assert shown() == shown()
    assert len({shown(), shown(seed=4), shown(run="s"), shown(index=8)}) == 4


def test_noise_is_unbiased_over_rounds():
    feedback = Feedback("high-variance:0.5", seed=1)
    shown = [feedback.judge("a b", "a b c", run="r", index=k).shown for k in range(2_000)]
    clean = feedback.judge("a b", "a b c", run="r", index=0).clean
    assert sum(shown) / len(shown) == pytest.approx(clean, abs=0.012)


def test_the_signature_says_how_the_score_was_blurred():
    assert Feedback().signature == SENTENCE_SIGNATURE
    assert Feedback("granular:5", seed=9).signature == f"{SENTENCE_SIGNATURE}|perturb:granular:5"


def test_the_signature_does_not_give_the_noise_away():
    assert Feedback("high-variance:1", seed=1234567).signature == Feedback("high-variance:1", seed=2).signature


@pytest.mark.parametrize(
    "text",
    [
        *("", "granular", "granular:", "granular:x", "granular:0", "granular:2.5", "granular:٥", "stars:5", "none:1"),
        *(
            "binary:0",
            "binary:1.5",
            "skewed:0",
            "skewed:" + "9" * 400,
            "granular:" + "9" * 400,
            "high-variance:0",
            "high-variance:-1",
        ),
    ],
)
def test_a_perturbation_that_does_not_exist_is_refused(text):
    with pytest.raises(FeedbackError):
        parse_perturbation(text)


def test_the_refusal_lists_what_exists():
    with pytest.raises(FeedbackError, match=r"known are none, granular:NUMBER, high-variance:NUMBER, skewed:NUMBER"):
        Feedback("stars:5")
