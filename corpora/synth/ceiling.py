"""The expected score of the best possible system: one that knows the product, the template, the style and all rates.

It cannot know what the editor or the vendor happened to write. So it samples references that the source could have,
answers with the one that agrees best with the others (minimum Bayes risk), and is scored against one more sample.
"""

from collections.abc import Callable

from corpora.synth.random_stream import RandomStream
from corpora.synth.shop import REVERSED_SHARE, Draft, Shop

REFERENCE_SAMPLES = 16  # among which the answer is chosen


def expected_best_score(shop: Shop, rng: RandomStream, score: Callable[[str, str], float], sample: int) -> float:
    """Return the mean score of the best answers to ``sample`` lines."""
    total = 0.0
    for _ in range(sample):
        draft = shop.draft(rng)
        possible = [_reference(draft, rng) for _ in range(REFERENCE_SAMPLES)]
        total += score(_minimum_bayes_risk(possible, score), _reference(draft, rng))
    return total / sample


def _reference(draft: Draft, rng: RandomStream) -> str:
    return draft.english(rng.chance(REVERSED_SHARE), rng)


def _minimum_bayes_risk(possible: list[str], score: Callable[[str, str], float]) -> str:
    """Return the answer with the highest expected score; on a tie, the first."""
    distinct = list(dict.fromkeys(possible))
    return max(distinct, key=lambda answer: sum(score(answer, reference) for reference in possible))
