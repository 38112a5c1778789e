"""Mean sentence BLEU (SBLEU) in the smoothings that papers use.

Simianer et al. 2019 report the mean of sentence BLEU after Nakov et al. 2012, which describes several smoothings. They
differ by many points, so every mean carries the signature of its smoothing. All of them add one to the n-gram counts
instead of flooring zero counts: the reward of the WMT 2017 task is another smoothing, in ``bleu``.
"""

import math
from collections.abc import Iterable
from enum import StrEnum

from leaderboard.metrics.bleu import MAX_ORDER, BleuStatistics


class Smoothing(StrEnum):
    """What is added to n-gram counts and lengths of a single sentence."""

    ADD_ONE_HIGHER = "add-one-higher"  # to orders 2 to 4 (Lin and Och 2004); sacreBLEU's add-k with k = 1
    ADD_ONE = "add-one"  # to all orders, as Moses tunes with
    ADD_ONE_BREVITY = "add-one-brevity"  # and one word to the reference length (Nakov et al. 2012)
    GROUNDED = "grounded"  # and the score of an output without any match subtracted (Nakov et al. 2012)

    @property
    def signature(self) -> str:
        """What the number means, in the manner of sacreBLEU."""
        return f"SBLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:{self.value}|v:1"


def smoothed_bleu(counts: BleuStatistics, smoothing: Smoothing = Smoothing.ADD_ONE_HIGHER) -> float:
    """Return the smoothed BLEU in [0, 1] of the statistics of one sentence."""
    if not counts.hypothesis_length:
        return 0.0
    score = _add_one(counts.matches, counts, smoothing)
    if smoothing is Smoothing.GROUNDED:
        score -= _add_one((0,) * MAX_ORDER, counts, smoothing)
    return score


def mean_sentence_bleu(many: Iterable[BleuStatistics], smoothing: Smoothing = Smoothing.ADD_ONE_HIGHER) -> float | None:
    """Return the mean over sentences in BLEU points, 0 to 100; None for no sentences."""
    scores = [smoothed_bleu(counts, smoothing) for counts in many]
    return 100 * math.fsum(scores) / len(scores) if scores else None


def _add_one(matches: tuple[int, ...], counts: BleuStatistics, smoothing: Smoothing) -> float:
    is_higher_only = smoothing is Smoothing.ADD_ONE_HIGHER
    product = 1.0
    for order, (matched, total) in enumerate(zip(matches, counts.candidates, strict=True), start=1):
        added = 0 if is_higher_only and order == 1 else 1
        product *= (matched + added) / (total + added)
    longer = smoothing in (Smoothing.ADD_ONE_BREVITY, Smoothing.GROUNDED)
    brevity = min(0.0, 1 - (counts.reference_length + longer) / counts.hypothesis_length)
    return math.pow(product, 1 / MAX_ORDER) * math.exp(brevity)
