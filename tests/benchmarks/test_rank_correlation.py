"""Rank correlations, with values worked out by hand."""

import pytest

from benchmarks.studies.rank_correlation import kendall, rank_correlations, spearman


@pytest.mark.parametrize(
    ("ours", "theirs", "rho", "tau"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1, 1),
        ([4, 3, 2, 1], [1, 2, 3, 4], -1, -1),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8, 4 / 6),  # one of six pairs is reversed
        ([1, 1, 2], [1, 2, 3], 0.8660, 0.8165),  # a tie: ranks 1.5, 1.5 and 3
        ([1, 1, 1], [1, 2, 3], 0, 0),  # no order at all
    ],
)
def test_correlations_of_ranks(ours, theirs, rho, tau):
    assert spearman(ours, theirs) == pytest.approx(rho, abs=1e-4)
    assert kendall(ours, theirs) == pytest.approx(tau, abs=1e-4)


def test_intervals_over_systems_and_over_sentences():
    ours, theirs = [1, 2, 3, 4, 5], [1, 3, 2, 4, 5]
    rho, tau = rank_correlations(ours, theirs, resamples=[ours] * 30 + [theirs] * 30)
    # atanh 0.9 = 1.4722, sd = sqrt((1 + 0.405) / 2) = 0.8382; atanh 0.8 = 1.0986, sd = sqrt(0.437 / 1) = 0.6611
    assert rho.over_systems == pytest.approx((-0.1689, 0.9961), abs=2e-4)
    assert tau.over_systems == pytest.approx((-0.1946, 0.9835), abs=2e-4)
    assert (rho.over_sentences, tau.over_sentences) == (pytest.approx((0.9, 1)), pytest.approx((0.8, 1)))
    assert str(tau) == "Kendall's tau 0.80 (-0.19 to 0.98 over systems, 0.80 to 1.00 over sentences)"


def test_there_is_no_interval_of_few_systems_or_of_the_same_order():
    for ours in ([1, 2, 4, 3], [1, 2, 3, 4, 5, 6]):
        rho, _ = rank_correlations(ours, sorted(ours))
        assert (rho.over_systems, rho.over_sentences) == (None, None)
    assert str(rho) == "Spearman's rho 1.00"
