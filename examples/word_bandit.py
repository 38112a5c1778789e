"""A learner to start from: it translates word by word, and learns from rewards which translations are right.

    banditmt play examples.word_bandit:WordBandit --phase dev --task .banditmt/demo/task

Copy the file, and change what it does: `propose` gets a sentence and returns a translation, `update` gets the reward.
"""

import gzip
import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

from learners.contract import Learner


@dataclass(frozen=True)
class Config:
    task: str = ".banditmt/demo/task"  # whose out-of-domain text has the candidates for each word
    candidates: int = 3  # possible translations of a word
    exploration: float = 0.02  # share of words that are translated at random
    prior_rounds: int = 5  # rounds after which rewards count as much as the order of the candidates


class WordBandit(Learner):
    """Chooses for each word the candidate that has earned most, beginning with the most likely one."""

    def __init__(self, config: Config, seed: int = 1):
        self.exploration, self.prior_rounds = config.exploration, config.prior_rounds
        self.candidates = likely_translations(Path(config.task), config.candidates)
        self.rng = random.Random(seed)
        self.rewards, self.rounds = Counter(), Counter()  # of each (word, translation)
        self.choices = []

    def propose(self, sentence):
        self.choices = [(word, self.choose(word)) for word in sentence.source.split()]
        return " ".join(translation for _, translation in self.choices)

    def choose(self, word):
        known = self.candidates.get(word, [word])
        if self.rng.random() < self.exploration:
            return self.rng.choice(known)
        return max(known, key=lambda translation: self.estimate(word, translation, known.index(translation)))

    def estimate(self, word, translation, place):
        """Return the mean reward of a choice, drawn to what its place among the candidates lets expect."""
        expected, weight = 0.25 - 0.1 * place, self.prior_rounds
        return (self.rewards[word, translation] + weight * expected) / (self.rounds[word, translation] + weight)

    def update(self, sentence, translation, feedback):  # noqa: ARG002 (the contract has all three)
        for choice in self.choices:
            self.rewards[choice] += feedback.reward
            self.rounds[choice] += 1


def likely_translations(task: Path, count: int) -> dict[str, list[str]]:
    """Return the target words that occur most often together with each source word (Dice coefficient), best first."""
    sources, targets, together = Counter(), Counter(), defaultdict(Counter)
    german, english = (task / f"out-of-domain.{language}.gz" for language in ("de", "en"))
    with gzip.open(german, "rt") as source_lines, gzip.open(english, "rt") as target_lines:
        for source, target in zip(source_lines, target_lines, strict=True):
            source_words, target_words = set(source.split()), set(target.split())
            sources.update(source_words)
            targets.update(target_words)
            for word in source_words:
                together[word].update(target_words)

    def best(word: str) -> list[str]:
        dice = {other: 2 * both / (sources[word] + targets[other]) for other, both in together[word].items()}
        return nlargest(count, dice, key=lambda other: (dice[other], other))

    return {word: best(word) for word in together}
