"""chrF2: the F-score of character n-grams up to six characters, which counts recall twice as much (Popović 2016).

Returns what sacreBLEU's ``CHRF()`` returns for one sentence and one reference, divided by 100, without numpy: the cloud
functions score with it. White space does not count, and orders that a text is too short for are left out of the mean.
"""

from task.feedback import CHRF

MAX_ORDER = 6
BETA = 2

SENTENCE_SIGNATURE = CHRF.signature


def sentence_chrf(hypothesis: str, reference: str) -> float:
    """Return the chrF2 in [0, 1] of two strings."""
    proposed, wanted = "".join(hypothesis.split()), "".join(reference.split())
    precision = recall = 0.0
    orders = min(MAX_ORDER, len(proposed), len(wanted))
    for order in range(1, orders + 1):
        matches = _matches(proposed, wanted, order)
        if not matches:
            break  # a longer n-gram cannot match where no shorter one does
        precision += matches / (len(proposed) - order + 1)
        recall += matches / (len(wanted) - order + 1)
    if not recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    weight = BETA**2
    return min(1.0, (1 + weight) * precision * recall / (weight * precision + recall))


def _matches(proposed: str, wanted: str, order: int) -> int:
    """Count the n-grams that both strings have; counts are clipped to those of the reference."""
    available: dict[str, int] = {}
    for start in range(len(wanted) - order + 1):
        ngram = wanted[start : start + order]
        available[ngram] = available.get(ngram, 0) + 1
    matches = 0
    for start in range(len(proposed) - order + 1):
        ngram = proposed[start : start + order]
        left = available.get(ngram, 0)
        if left:
            available[ngram] = left - 1
            matches += 1
    return matches
