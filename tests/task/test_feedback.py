"""Feedback noise, by worked examples, and the signature of feedback."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from task.feedback import (
    CHRF,
    Binary,
    FeedbackError,
    FeedbackSpec,
    Granular,
    HighVariance,
    Skewed,
    find_kind,
    find_metric,
    parse_noise,
)

NOISES = ["granular:5", "high-variance:1", "skewed:0.5", "binary:0.3"]


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


@given(st.sampled_from(NOISES), st.floats(0, 1), st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_a_noisy_score_stays_between_0_and_1(text, score, uniform):
    noise = parse_noise(text)
    assert noise is not None
    assert 0 <= noise.apply(score, uniform) <= 1


def test_without_noise_there_is_nothing_to_apply():
    assert parse_noise("none") is None
    assert not FeedbackSpec().has_noise
    assert FeedbackSpec("binary:0.3").has_noise
    assert FeedbackSpec("binary:0.3").parsed_noise == Binary(0.3)


def test_the_signature_names_metric_and_noise():
    metric = "sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1"
    assert FeedbackSpec().metric == ("sentence-bleu", metric)
    assert FeedbackSpec().signature == metric
    assert FeedbackSpec("granular:5", seed=9).signature == f"{metric}|perturb:granular:5"


def test_the_signature_leaves_out_the_seed():
    assert FeedbackSpec("high-variance:1", seed=1234567).signature == FeedbackSpec("high-variance:1", seed=2).signature


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
def test_noise_that_does_not_exist_is_refused(text):
    with pytest.raises(FeedbackError):
        parse_noise(text)


def test_the_error_lists_the_known_kinds():
    with pytest.raises(FeedbackError, match=r"known are none, granular:NUMBER, high-variance:NUMBER, skewed:NUMBER"):
        FeedbackSpec("stars:5")


def test_metrics_and_kinds_are_found_by_name():
    assert find_metric("chrf").signature == "sentChrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|v:1"
    assert FeedbackSpec(kind=find_kind("post-edit")).shows_post_edits
    assert not FeedbackSpec().shows_post_edits


@pytest.mark.parametrize(
    ("find", "message"),
    [
        (find_metric, "unknown metric 'stars'; known are sentence-bleu, chrf"),
        (find_kind, "unknown feedback 'stars'; known are bandit, post-edit"),
    ],
)
def test_an_unknown_metric_or_kind_is_refused(find, message):
    with pytest.raises(FeedbackError, match=message):
        find("stars")


def test_the_signature_names_the_metric():
    assert FeedbackSpec("binary:0.5", metric=CHRF).signature == f"{CHRF.signature}|perturb:binary:0.5"
