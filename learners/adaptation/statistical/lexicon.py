"""Lexical translation probabilities of background and foreground, and the word alignment of post-edits by them.

A block is too small to learn an alignment from. Its words are aligned by the probabilities of the background, which
those of earlier post-edits change, and by what the block itself repeats: it is aligned twice.
"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from learners.smt.alignment import NULL_WORD, LexicalTable
from learners.smt.fast_align import NULL_PROBABILITY, TENSION
from learners.smt.grammar import MIN_LEXICAL_PROBABILITY
from learners.smt.hashing import HASH_SEED, Array, find_slot, hash_combine
from learners.smt.symmetrisation import BACKWARD, FORWARD, KEPT, grow_diag_final_and
from learners.smt.word_index import WordIndex

PRIOR_LINKS = 1.0  # how many links of post-edits weigh as much as the background
COPY_PROBABILITY = 0.1  # of a word that the background lacks to be its own translation: names and numbers are
NULL = ""  # the partner of words without a link

Words = Sequence[str]
Links = list[tuple[int, int]]  # a source and a target position each


class Lexicon:
    """p(outcome word | given word) in one direction."""

    def __init__(self, table: LexicalTable | None, given_words: WordIndex, outcome_words: WordIndex) -> None:
        """Begin with the background's probabilities, or without any."""
        self._table, self._given_words, self._outcome_words = table, given_words, outcome_words
        self._links: Counter[tuple[str, str]] = Counter()  # of post-edits
        self._totals: Counter[str] = Counter()  # of post-edits, by given word

    def add(self, given: str, outcome: str) -> None:
        """Count a link of a post-edit."""
        self._links[given, outcome] += 1
        self._totals[given] += 1

    def probability(self, given: str, outcome: str) -> float:
        """Return the probability of an outcome word given another word, or ``NULL``."""
        links, total = self._links[given, outcome], self._totals[given]
        return (links + PRIOR_LINKS * self._background(given, outcome)) / (total + PRIOR_LINKS)

    def score(self, outcomes: Words, givens: Words) -> float:
        """Return the log probability of outcome words, each given its most probable partner or none."""
        partners = [NULL, *givens]
        return sum(
            math.log10(max(MIN_LEXICAL_PROBABILITY, *(self.probability(given, outcome) for given in partners)))
            for outcome in outcomes
        )

    def _background(self, given: str, outcome: str) -> float:
        given_id = NULL_WORD if given == NULL else self._given_words.id_of(given)
        outcome_id = self._outcome_words.id_of(outcome)
        if self._table is None or (given != NULL and given_id < 0) or outcome_id < 0:
            return COPY_PROBABILITY if given == outcome else MIN_LEXICAL_PROBABILITY
        slot = find_slot(self._table.keys, hash_combine(hash_combine(HASH_SEED, given_id), outcome_id))
        return float(self._table.probabilities[slot]) if slot >= 0 else MIN_LEXICAL_PROBABILITY


class Lexicons:
    """Both directions."""

    def __init__(self, target_given_source: Lexicon, source_given_target: Lexicon) -> None:
        self.target_given_source = target_given_source
        self.source_given_target = source_given_target

    def align_block(self, pairs: Sequence[tuple[Words, Words]]) -> list[Links]:
        """Return the links of each sentence pair, and count them.

        The first alignment is only counted for the second one.
        """
        first = Lexicons(_Overlay(self.target_given_source), _Overlay(self.source_given_target))
        for source, target in pairs:
            first._count(source, target, first.align(source, target))
        aligned = [first.align(source, target) for source, target in pairs]
        for (source, target), links in zip(pairs, aligned, strict=True):
            self._count(source, target, links)
        return aligned

    def align(self, source: Words, target: Words) -> Links:
        """Return the symmetrised links of a sentence pair."""
        links = np.zeros((len(source), len(target)), np.uint8)
        for place, chosen in enumerate(_best_partners(self.target_given_source, source, target)):
            if chosen >= 0:
                links[chosen, place] |= FORWARD
        for place, chosen in enumerate(_best_partners(self.source_given_target, target, source)):
            if chosen >= 0:
                links[place, chosen] |= BACKWARD
        grow_diag_final_and(links)
        return [(int(i), int(j)) for i, j in np.argwhere(links & KEPT)]

    def _count(self, source: Words, target: Words, links: Links) -> None:
        linked_source, linked_target = {i for i, _ in links}, {j for _, j in links}
        pairs = [(source[i], target[j]) for i, j in links]
        pairs += [(word, NULL) for i, word in enumerate(source) if i not in linked_source]
        pairs += [(NULL, word) for j, word in enumerate(target) if j not in linked_target]
        for one, other in pairs:
            self.target_given_source.add(one, other)
            self.source_given_target.add(other, one)


class _Overlay(Lexicon):
    """A lexicon with further links on top of another one's, so that copying costs nothing."""

    def __init__(self, below: Lexicon) -> None:
        super().__init__(below._table, below._given_words, below._outcome_words)
        self._below = below

    def probability(self, given: str, outcome: str) -> float:
        links = self._links[given, outcome] + self._below._links[given, outcome]
        total = self._totals[given] + self._below._totals[given]
        return (links + PRIOR_LINKS * self._background(given, outcome)) / (total + PRIOR_LINKS)


def _best_partners(lexicon: Lexicon, givens: Words, outcomes: Words) -> Array:
    """Return the position of the most probable partner of each outcome word, or -1 for none.

    Positions near the diagonal are preferred, as in fast_align (Dyer et al. 2013).
    """
    positions = (np.arange(len(givens)) + 1) / len(givens)
    chosen = np.full(len(outcomes), -1)
    for place, outcome in enumerate(outcomes):
        prior = np.exp(-TENSION * np.abs(positions - (place + 1) / len(outcomes)))
        prior *= (1 - NULL_PROBABILITY) / prior.sum()
        scores = prior * [lexicon.probability(given, outcome) for given in givens]
        best = int(scores.argmax())
        if scores[best] > NULL_PROBABILITY * lexicon.probability(NULL, outcome):
            chosen[place] = best
    return chosen
