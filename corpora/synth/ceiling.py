"""How well the best possible system could do: one that knows the product, the template, the house and every rate.

What it cannot know is what the editor or the vendor happened to write. So for a drawn source it considers references
that could have been written, answers with the one that agrees best with the others (minimum Bayes risk), and is scored
against one more.
"""

from collections.abc import Callable

from corpora.synth.random_stream import RandomStream
from corpora.synth.shop import REVERSED, Draft, Shop

CANDIDATES = 16


def expected_best(shop: Shop, rng: RandomStream, score: Callable[[str, str], float], sample: int) -> float:
    """The mean over ``sample`` lines of the score of the best answer."""
    total = 0.0
    for _ in range(sample):
        draft = shop.draft(rng)
        possible = [_reference(draft, rng) for _ in range(CANDIDATES)]
        total += score(_most_agreeable(possible, score), _reference(draft, rng))
    return total / sample


def _reference(draft: Draft, rng: RandomStream) -> str:
    return draft.english(rng.chance(REVERSED), rng)


def _most_agreeable(possible: list[str], score: Callable[[str, str], float]) -> str:
    """The answer with the highest expected score; the first of them on a tie."""
    distinct = list(dict.fromkeys(possible))
    return max(distinct, key=lambda answer: sum(score(answer, reference) for reference in possible))
