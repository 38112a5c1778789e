"""Credit for single tokens: the reward is decoded into matches, and each word gets its own advantage.

With one advantage for a whole translation, a right word is blamed for the wrong ones around it. Here, the advantage of
a token is the mean of the translation's and of its word's own: the posterior that the word and its bigrams matched,
minus the usual credit of translations of the same source word. The end symbol is judged by length: decoding says
whether the output was shorter than the reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from learners.bandit.control_variates import ControlVariate
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.replay import Experience
from learners.contract import Feedback, Sentence, check_reward
from learners.credit.bleu_decoding import MAX_HYPOTHESIS, NOT_LONGER, decode_reward
from learners.credit.exactness import Exactness
from learners.credit.matched_words import posterior_given_count
from learners.credit.reference_lengths import ReferenceLengths
from learners.credit.solutions import length_given_solution, solution_weights
from learners.credit.word_critic import WordCritic, WordEvidence
from learners.nmt.hypothesis import Sample
from learners.nmt.translator import Translator
from learners.nmt.vocabulary import EOS, SPECIALS, UNK
from learners.settings import check_bounds
from learners.smt.hashing import Array
from learners.snapshot import Snapshot

NO_WORD = -1  # the word of a token that is in none: the end symbol
MIN_REPLAYED = 0.05  # positive credit that a translation must have in all to be learned from again


@dataclass(frozen=True, kw_only=True)
class TokenCreditConfig(ExpectedLossConfig):
    """How much of a token's advantage is its own."""

    token_share: float = 0.5  # the rest is the advantage of the whole translation
    bigram_share: float = 0.5  # of a word's credit; the rest is that of the word itself
    value_decay: float = 0.95  # of the usual credit of a source word, so that it follows a learner that improves
    prior_observations: float = 2.0  # of the mean of all words, in the usual credit of one
    length_rounds: int = 400  # first rounds, in which the share of outputs that are too short is measured
    target_too_short: float = 0.9  # of that share is what the end symbol is judged by

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = {"token_share": (0, 1), "bigram_share": (0, 1), "value_decay": (0, 1), "target_too_short": (0, 1)}
        check_bounds(self, **shares, prior_observations=(0, None), length_rounds=(1, None))


@dataclass(frozen=True, slots=True)
class WordMatches:
    """What a decoded reward says of the words of a translation."""

    words: Array  # the posterior that each word matched
    credit: Array  # the same, averaged with that of its bigrams
    is_too_short: bool  # the reference is longer


class TokenCreditLearner(ExpectedLossLearner):
    """BNMT-IMPUTE: BNMT-EL-VALUE with an advantage for each token."""

    snapshot_version: ClassVar[int] = 1

    def __init__(
        self, translator: Translator, config: TokenCreditConfig, control_variate: ControlVariate, *, seed: int
    ) -> None:
        super().__init__(translator, config, control_variate, seed=seed)
        self._credit_config = config
        self._critic = WordCritic()
        self._values = SourceWordValues(config)
        self._lengths = ReferenceLengths()
        self._exactness = Exactness("the advantage of a whole translation is that of each of its tokens")
        self._adjacency = [9.0, 10.0]  # right neighbours that are neighbours in the reference, too, and all of them
        self._too_short = [0.0, 0]  # share in the first rounds, and their number
        self._reward = 0.0

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        self._reward = check_reward(feedback.reward)
        super().update(sentence, translation, feedback)

    def _learn(self, source: str, advantage: float) -> None:
        sample, config = self._sample, self._config
        if sample is None:
            return
        self._safeguards.observe(sample)
        entropy = 0.0 if sample.is_fallback else self._safeguards.entropy_weight
        weights, replayed = self._token_weights(source, sample, advantage)
        step_size = config.batch + config.replay_batch
        step_is_due = self._round % config.batch == 0
        with self._dropout(config.dropout):
            if weights.any() or entropy:
                self._translator.backward(sample, weights / step_size, entropy=entropy / step_size)
            if step_is_due and (earlier := self._sample_replay()):
                self._add_imitation_gradient(earlier, 1 / step_size)
        if config.replay_batch and replayed.sum() > MIN_REPLAYED:
            self._replay.add(Experience(sample.source_ids, sample.ids, replayed.tolist()))
        if step_is_due:
            self._replay.commit()
            self._optimiser.step(config.schedule.rate_factor(self._round))

    def _token_weights(self, source: str, sample: Sample, advantage: float) -> tuple[Array, Array]:
        """Return the weight of each token in this step, and in later ones that replay the sample."""
        if sample.is_fallback:  # the reward is that of another translation
            return np.zeros(len(sample.ids)), np.zeros(len(sample.ids))
        signed = np.full(len(sample.ids), advantage)
        numbers = number_words(self._translator, sample.ids)
        evidence = self._evidence(source, sample, numbers)
        matches = self._decode(source, evidence) if evidence else None
        if matches is not None:
            own = self._own_advantages(evidence, matches, numbers)
            share = self._credit_config.token_share
            signed = share * own + (1 - share) * advantage
        allowed = self._safeguards.limit(1.0, source, sample) > 0
        weights = np.where(signed > 0, signed * allowed, signed * self._config.safeguards.negative_advantage_weight)
        replayed = np.maximum(weights, 0.0)
        if matches is not None and matches.is_too_short:
            replayed[numbers == NO_WORD] = 0.0
        return weights, replayed

    def _evidence(self, source: str, sample: Sample, numbers: Array) -> list[WordEvidence]:
        """Return what is known of each word; [] if the tokens are not those of the text's words."""
        words = sample.text.split()
        if sample.attention is None or not words or len(words) != numbers.max(initial=NO_WORD) + 1:
            return []
        source_words = set(source.split())
        aligned = aligned_source_words(self._translator, sample, numbers)
        scores = np.zeros(len(words))
        np.add.at(scores, numbers[numbers >= 0], self._translator.token_log_probabilities(sample)[numbers >= 0])
        return [
            WordEvidence(word, aligned[place], float(scores[place]), word in source_words, word in words[:place])
            for place, word in enumerate(words)
        ]

    def _decode(self, source: str, evidence: Sequence[WordEvidence]) -> WordMatches | None:
        """Return the matches of the words, averaged over all solutions of the reward; None if there are none."""
        length, source_length = len(evidence), len(source.split())
        solutions = decode_reward(self._reward, length)
        if length <= MAX_HYPOTHESIS:
            self._exactness.observe(bool(len(solutions)))
        if not len(solutions):
            return None
        prior, lengths = self._critic.predict(evidence), self._lengths.distribution(source_length)
        weights = solution_weights(prior, solutions, lengths)
        if not weights.any():
            return None
        words, bigrams, posterior_lengths = np.zeros(length), np.zeros(max(length - 1, 0)), np.zeros(len(lengths))
        adjacent = self._adjacency[0] / self._adjacency[1]
        for weight, (m1, m2, *_, reference) in zip(weights, solutions, strict=True):
            posterior = posterior_given_count(prior, m1)
            words += weight * posterior
            bigrams += weight * posterior_given_count(np.clip(adjacent * posterior[:-1] * posterior[1:], 1e-6, 1.0), m2)
            posterior_lengths += weight * length_given_solution(lengths, reference, length)
        self._critic.learn(evidence, words)
        self._lengths.observe(source_length, posterior_lengths)
        self._observe_adjacency(words, bigrams)
        share = self._credit_config.bigram_share if length > 1 else 0.0
        return WordMatches(
            words,
            (1 - share) * words + share * neighbour_means(bigrams, length),
            bool(weights[solutions[:, 4] != NOT_LONGER].sum() > 0.5),
        )

    def _observe_adjacency(self, words: Array, bigrams: Array) -> None:
        both = np.maximum(words[:-1] * words[1:], bigrams).sum()
        self._adjacency = [0.999 * self._adjacency[0] + float(bigrams.sum()), 0.999 * self._adjacency[1] + float(both)]

    def _own_advantages(self, evidence: Sequence[WordEvidence], matches: WordMatches, numbers: Array) -> Array:
        """Return each token's own advantage: that of its word, or of the end of the translation."""
        sources = [one.source for one in evidence]
        advantages = matches.credit - self._values.predict(sources)
        self._values.learn(sources, matches.credit)
        return np.where(numbers >= 0, advantages[numbers], self._end_advantage(matches.is_too_short))

    def _end_advantage(self, is_too_short: bool) -> float:
        share, rounds = self._too_short
        if rounds < self._credit_config.length_rounds:
            rounds += 1
            share += (is_too_short - share) / rounds
            self._too_short = [share, rounds]
        advantage = share * self._credit_config.target_too_short - is_too_short
        # The weight of negative advantages would let lengths shrink: ends are as often too early as they are blamed.
        blame = self._config.safeguards.negative_advantage_weight
        return advantage / blame if advantage < 0 and blame else advantage

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.values |= {"adjacency": list(self._adjacency), "too_short": list(self._too_short)}
        snapshot.put("critic", self._critic.save())
        snapshot.put("values", self._values.save())
        snapshot.put("lengths", self._lengths.save())
        snapshot.put("exactness", self._exactness.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._adjacency, self._too_short = list(snapshot.values["adjacency"]), list(snapshot.values["too_short"])
        self._critic.load(snapshot.part("critic"))
        self._values.load(snapshot.part("values"))
        self._lengths.load(snapshot.part("lengths"))
        self._exactness.load(snapshot.part("exactness"))


class SourceWordValues:
    """The usual credit of the words that translate a source word."""

    def __init__(self, config: TokenCreditConfig) -> None:
        self._config = config
        self._sums: dict[str, list[float]] = {}  # by source word: decayed sum and number of credits
        self._all = [0.6, 1.0]

    def predict(self, sources: Sequence[str]) -> Array:
        mean, prior = self._all[0] / self._all[1], self._config.prior_observations
        found = (self._sums.get(source, (0.0, 0.0)) for source in sources)
        return np.array(
            [(total + prior * mean) / (number + prior) if number + prior else mean for total, number in found]
        )

    def learn(self, sources: Sequence[str], observed: Array) -> None:
        decay = self._config.value_decay
        for source, credit in zip(sources, observed.tolist(), strict=True):
            total, number = self._sums.get(source, (0.0, 0.0))
            self._sums[source] = [decay * total + credit, decay * number + 1.0]
            self._all = [0.999 * self._all[0] + credit, 0.999 * self._all[1] + 1.0]

    def save(self) -> Snapshot:
        return Snapshot(values={"sums": {word: list(one) for word, one in self._sums.items()}, "all": list(self._all)})

    def load(self, snapshot: Snapshot) -> None:
        self._sums = {word: list(one) for word, one in snapshot.values["sums"].items()}
        self._all = list(snapshot.values["all"])


def number_words(translator: Translator, ids: Sequence[int]) -> Array:
    """Return the number of the word that each token of a translation is in; ``NO_WORD`` for special tokens."""
    vocabulary, numbers, number = translator.target_vocabulary, [], NO_WORD
    for token in ids:
        is_text = token == UNK or token >= len(SPECIALS)
        if is_text and (vocabulary.begins_word(token) or number == NO_WORD):
            number += 1
        numbers.append(number if is_text else NO_WORD)
    return np.array(numbers)


def aligned_source_words(translator: Translator, sample: Sample, numbers: Array) -> list[str]:
    """Return, for each word, the source word that its tokens attend to most, spelled as its token ids."""
    vocabulary = translator.source_vocabulary
    begins = [token != EOS and vocabulary.begins_word(token) for token in sample.source_ids[:-1]]
    places = np.maximum(np.cumsum(begins) - 1, 0)
    spelled: dict[int, str] = {}
    for place, token in zip(places.tolist(), sample.source_ids, strict=False):
        spelled[place] = f"{spelled.get(place, '')} {token}"
    if not spelled:  # an empty source
        return [""] * (int(numbers.max()) + 1)
    assert sample.attention is not None
    attention = np.zeros((int(numbers.max()) + 1, len(spelled)))
    for token, number in enumerate(numbers):
        if number != NO_WORD:
            np.add.at(attention[number], places, sample.attention[token, : len(places)])
    return [spelled[place] for place in attention.argmax(1).tolist()]


def neighbour_means(bigrams: Array, length: int) -> Array:
    """Return, for each word, the mean over the bigrams that it is in; 0 for a single word."""
    if length < 2:
        return np.zeros(length)
    total, number = np.zeros(length), np.zeros(length)
    for shift in (0, 1):
        total[shift : shift + length - 1] += bigrams
        number[shift : shift + length - 1] += 1
    means: Array = total / number
    return means
