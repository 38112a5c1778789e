"""What an extractor of references learns by playing many systems over the same sentences.

    python -m benchmarks.extraction

The extractor reads each score as a measurement. A score of full precision tells how many words and word pairs of an
answer are in the reference. It first searches for the words of each reference, with sets of words that are as large as
the scores can tell apart, and then for their order, by sending an order that agrees with all scores so far. It knows
the vocabulary, the number of words in each reference, that no word comes twice, and how scores are rounded. All of this
favours it: an attacker of a real task knows less. ``tests/security/test_extraction.py`` says what it must not get.
"""

import random
import sys
import tempfile
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from lambdas.answers import Sentence
from lambdas.errors import QuotaExceededError
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from leaderboard.metrics.bleu import BleuStatistics, sentence_bleu, sentence_score
from task.feedback import FeedbackNoise, FeedbackSpec
from task.layout import Layout
from task.phases import Phase

VOCABULARY = [f"w{number}" for number in range(48)]
LENGTH = 6  # words of a reference
SENTENCES = 20
FRESH = Layout.plain(SENTENCES)
HELD_OUT = Layout(blocks=12, block=SENTENCES, gap=0)  # as many passes as training had in WMT 2017, and nothing else
MANY_SYSTEMS = 100
TOLERANCE = 1e-12


class Extractor:
    """What is known of one reference of ``length`` different words of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str], length: int, rounding: FeedbackNoise | None = None) -> None:
        self.length, self._rounding = length, rounding
        self.words: list[str] = []  # known to be in the reference
        self._pending = [(tuple(vocabulary), length)]  # sets of words, with how many of them are in the reference
        self._asked: tuple[str, ...] = ()
        self._orders: list[tuple[str, ...]] = []
        self._settle()

    def guess(self) -> str:
        """Return the best answer to what is known: an order that agrees with all scores, or the words found."""
        if self._orders:
            return " ".join(self._orders[0])
        unknown = [word for words, count in self._pending for word in words[:count]]
        return " ".join((*self.words, *unknown))

    def probe(self) -> str:
        """Return the next answer to send."""
        if self._orders:
            self._asked = self._orders[0]
        else:
            words, _ = self._pending[-1]
            self._asked = words[: self._best_size(len(words) // 2)]
        return " ".join(self._asked)

    def learn(self, score: float) -> None:
        """Learn from the score of the last probe. A score that several numbers of words explain teaches nothing."""
        if self._orders:
            asked = " ".join(self._asked)
            agreeing = [each for each in self._orders if self._explains(sentence_bleu(asked, " ".join(each)), score)]
            self._orders = agreeing or self._orders
            return
        words, count = self._pending[-1]
        most = min(count, len(self._asked))
        counts = [number for number in range(most + 1) if self._could_match(number, score)]
        if len(counts) != 1:
            self._pending.insert(0, self._pending.pop())  # try another set
            return
        self._pending[-1:] = [(self._asked, counts[0]), (words[len(self._asked) :], count - counts[0])]
        self._settle()

    def _best_size(self, most: int) -> int:
        """Return the largest number of words whose score tells how many of them are right; 1 if none does."""
        for size in range(most, 1, -1):
            scores = [self._set_scores(size, number)[0] for number in range(min(size, self.length) + 1)]
            if len(set(map(self._shown, scores))) == len(scores):
                return size
        return 1

    def _could_match(self, number: int, score: float) -> bool:
        """Return whether the score may be that of an answer with so many words of the reference, in any order."""
        return any(self._explains(each, score) for each in self._set_scores(len(self._asked), number))

    def _set_scores(self, size: int, number: int) -> list[float]:
        """Return the scores of so many words with ``number`` right ones: without right pairs first, then with some."""
        candidates = (size, max(0, size - 1), max(0, size - 2), max(0, size - 3))
        matches = [(number, pairs, 0, 0) for pairs in range(max(1, min(number, size - 1)))]
        return [sentence_score(BleuStatistics(each, candidates, self.length)) for each in matches]

    def _explains(self, expected: float, score: float) -> bool:
        return abs(self._shown(expected) - score) < TOLERANCE

    def _shown(self, score: float) -> float:
        return score if self._rounding is None else self._rounding.apply(score, 0.5)

    def _settle(self) -> None:
        """Keep only the sets that are not known completely; begin with orders when all words are known."""
        self.words += [word for words, count in self._pending if count == len(words) for word in words]
        self._pending = [(words, count) for words, count in self._pending if 0 < count < len(words)]
        if len(self.words) == self.length:
            self._orders = list(permutations(self.words))


class Loot(NamedTuple):
    """What the extractor has in the end."""

    systems: int  # that the service let it play
    exact: int  # references that it knows
    score: float  # the mean score of answers with all that it knows


def references() -> list[str]:
    rng = random.Random(3)
    return [" ".join(rng.sample(VOCABULARY, LENGTH)) for _ in range(SENTENCES)]


def extract(layout: Layout, noise: str = "none", runs: int | None = None) -> Loot:
    """Play systems of one participant in a training phase until the service refuses another, or 100 of them.

    ``runs`` is the budget of runs; None for the default.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore.open(f"{Path(folder) / 'store.db'}?synchronous=normal")
        try:
            phase = Phase("training", layout, repeatable=False, feedback=FeedbackSpec(noise))
            load_phase(store, phase, [(f"satz {n}", text) for n, text in enumerate(references())], runs=runs)
            return _play(store, phase)
        finally:
            store.close()


def _play(store: SQLiteStore, phase: Phase) -> Loot:
    registry, service = Registry(store), Service(store)
    registry.add_participant("acme")
    acme = registry.require_participant("acme")
    known = [Extractor(VOCABULARY, LENGTH, phase.feedback.parsed_noise) for _ in range(SENTENCES)]
    systems = 0
    for systems in range(MANY_SYSTEMS + 1):
        try:
            run = service.open_run(acme, phase.name, f"probe-{systems}").run
        except QuotaExceededError:
            break
        sentence: Sentence | None = service.sentence(acme, run)
        while sentence is not None:
            extractor = known[int(sentence.source.split()[1])]
            answer = service.translate(acme, run, sentence.id, extractor.probe())
            extractor.learn(answer.score)
            sentence = answer.next
    pairs = [(extractor.guess(), text) for extractor, text in zip(known, references(), strict=True)]
    exact = sum(guess == text for guess, text in pairs)
    return Loot(systems, exact, sum(sentence_bleu(*pair) for pair in pairs) / SENTENCES)


def main() -> int:
    """Print what the extractor gets under several budgets and roundings."""
    print(f"{SENTENCES} references of {LENGTH} words of a vocabulary of {len(VOCABULARY)}; 12 held-out passes")
    print(f"{'sentences':10} {'feedback':14} {'systems':>7} {'exact':>6} {'score':>7}")
    for name, layout in (("fresh", FRESH), ("held out", HELD_OUT)):
        for noise, budgets in (("none", (1, 2, 3, 10, 20, 30)), ("granular:100", (1, 3)), ("granular:20", (3, 30))):
            for runs in budgets:
                loot = extract(layout, noise, runs)
                print(f"{name:10} {noise:14} {loot.systems:7} {loot.exact:6} {loot.score:7.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
