"""Our sentence BLEU compared with sacreBLEU: calls per second, and the largest difference of scores.

The pairs have the lengths of the task (1 to 25 tokens, 6.6 on average); one side is a noisy copy of the other. If no
unigram matches, the two scores differ by design (see leaderboard/metrics/bleu.py); such pairs are counted separately.
"""

import random
import time
from collections.abc import Callable, Sequence

from sacrebleu.metrics.bleu import BLEU

from leaderboard.metrics.bleu import sentence_bleu

PAIRS = 100_000
TIMED_PAIRS = 10_000
REPEATS = 7

Pair = tuple[str, str]


def random_pairs(count: int, seed: int) -> list[Pair]:
    """Return pairs of a hypothesis and its reference."""
    rng = random.Random(seed)
    words = [f"w{rank}" for rank in range(2_000)]
    pairs = []
    for _ in range(count):
        length = rng.randint(1, 3) if rng.random() < 0.45 else min(25, 8 + int(rng.expovariate(0.4)))
        reference = [words[int(2_000 * rng.random() ** 3)] for _ in range(length)]
        kept = [word for word in reference if rng.random() < 0.7] or [rng.choice(words)]
        hypothesis = [rng.choice(words) if rng.random() < 0.3 else word for word in kept]
        pairs.append((" ".join(hypothesis), " ".join(reference)))
    return pairs


def seconds(function: Callable[[str, str], float], pairs: Sequence[Pair]) -> float:
    """Return the time to score all pairs."""
    start = time.perf_counter()
    for hypothesis, reference in pairs:
        function(hypothesis, reference)
    return time.perf_counter() - start


def main() -> None:
    sacrebleu = BLEU(smooth_method="floor", smooth_value=0.01, effective_order=True, tokenize="none")

    def sacrebleu_score(hypothesis: str, reference: str) -> float:
        return float(sacrebleu.sentence_score(hypothesis, [reference]).score) / 100

    pairs = random_pairs(PAIRS, seed=17)
    largest, unmatched = 0.0, 0
    for hypothesis, reference in pairs:
        if set(hypothesis.split()).isdisjoint(reference.split()):
            unmatched += 1
        else:
            largest = max(largest, abs(sentence_bleu(hypothesis, reference) - sacrebleu_score(hypothesis, reference)))
    timed = pairs[:TIMED_PAIRS]
    # The fastest of several passes counts: noise on a shared machine can only slow it down.
    ours = len(timed) / min(seconds(sentence_bleu, timed) for _ in range(REPEATS))
    theirs = len(timed) / min(seconds(sacrebleu_score, timed) for _ in range(REPEATS))
    print(f"banditmt   {ours:10,.0f} calls/s")
    print(f"sacrebleu  {theirs:10,.0f} calls/s")
    print(f"ratio      {ours / theirs:10.1f}")
    print(f"largest difference over {PAIRS - unmatched:,} pairs with a matching unigram: {largest:.1e}")
    print(f"pairs without one, where sacreBLEU answers 0 by design: {unmatched:,}")


if __name__ == "__main__":
    main()
