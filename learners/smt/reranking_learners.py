"""SMT-LINEAR and SMT-IMPUTE: learners that choose among the k best translations of a seed model.

Both propose greedily, and are deterministic. SMT-LINEAR learns from any reward. SMT-IMPUTE decodes exact rewards, and
learns from imputed rewards of all candidates; where rewards are rounded or noisy, it says so and plays as SMT-LINEAR.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from learners.contract import Feedback, Learner, Sentence, check_reward
from learners.credit.bleu_decoding import MAX_HYPOTHESIS, decode_reward
from learners.credit.exactness import Exactness
from learners.credit.reference_lengths import ReferenceLengths
from learners.errors import SnapshotError
from learners.smt.candidate_words import CandidateWords, feature_scores, index_candidates
from learners.smt.forest import Derivation, LogLinearTranslator
from learners.smt.hashing import Array, compiled
from learners.smt.imputation import Beliefs, expected_rewards, impute_rewards, prior_beliefs
from learners.smt.length_drift import LengthDrift
from learners.smt.linear_reranker import LinearConfig, LinearReranker
from learners.smt.list_critic import ListCritic
from learners.smt.proposals import proposal_text
from learners.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class RankedList:
    """The k best translations of a source, and the one that was proposed."""

    derivations: list[Derivation]
    words: CandidateWords
    model_scores: Array
    scores: Array  # as the learner sees them
    played: int

    def length(self, candidate: int) -> int:
        """Return the number of tokens of a candidate."""
        return int(self.words.starts[candidate + 1] - self.words.starts[candidate])


class RerankingLearner(Learner):
    """Base of the learners: lists candidates, proposes the best one by its own score, and watches lengths."""

    snapshot_version: ClassVar[int] = 1

    def __init__(self, translator: LogLinearTranslator, candidates: int) -> None:
        self._translator = translator
        self._k = candidates
        self._drift = LengthDrift()
        self._rounds = 0
        self._list: RankedList | None = None

    def propose(self, sentence: Sentence) -> str:
        tuned = self._translator.weights
        derivations = self._translator.forest(sentence.source, tuned).k_best(tuned, self._k)
        words = index_candidates([one.translation for one in derivations])
        model_scores = np.concatenate([one.features for one in derivations]).reshape(-1, len(tuned)) @ tuned
        scores = self._scores(sentence.source, words, model_scores)
        played = int(scores.argmax())
        if self._drift.alarm:
            played = int(np.where(self._drift.allowed(np.diff(words.starts)), scores, -np.inf).argmax())
        self._list = RankedList(derivations, words, model_scores, scores, played)
        return proposal_text(derivations[played])

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:  # noqa: ARG002 (it proposed it)
        ranked = self._list
        assert ranked is not None, "feedback follows a proposal"
        reward = check_reward(feedback.reward)
        self._drift.observe(ranked.length(ranked.played), ranked.length(0))
        self._learn(sentence.source, ranked, reward)
        self._rounds += 1

    @abstractmethod
    def _scores(self, source: str, words: CandidateWords, model_scores: Array) -> Array:
        """Return the score of each candidate."""

    @abstractmethod
    def _learn(self, source: str, ranked: RankedList, reward: float) -> None:
        """Learn from the reward of the played candidate."""

    def save(self) -> Snapshot:
        snapshot = Snapshot(values={"kind": self._kind(), "rounds": self._rounds})
        snapshot.put("drift", self._drift.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        if (kind := snapshot.values.get("kind")) != self._kind():
            raise SnapshotError(f"the snapshot is of {kind}, not of {self._kind()}")
        self._rounds = snapshot.values["rounds"]
        self._drift.load(snapshot.part("drift"))

    def _kind(self) -> str:
        return f"{type(self).__name__} {self.snapshot_version}"


@dataclass(frozen=True, kw_only=True)
class LinearLearnerConfig:
    """The list of candidates, and the linear model."""

    candidates: int = 60  # k of the k-best list
    linear: LinearConfig = field(default_factory=LinearConfig)


class LinearLearner(RerankingLearner):
    """SMT-LINEAR: a linear posterior over the reward minus the value of the source."""

    def __init__(self, translator: LogLinearTranslator, config: LinearLearnerConfig, *, seed: int) -> None:  # noqa: ARG002 (nothing is random)
        super().__init__(translator, config.candidates)
        self._linear = LinearReranker(config.linear)

    def _scores(self, source: str, words: CandidateWords, model_scores: Array) -> Array:  # noqa: ARG002
        return self._linear.scores(words, model_scores)

    def _learn(self, source: str, ranked: RankedList, reward: float) -> None:  # noqa: ARG002
        self._linear.learn(ranked.words, ranked.model_scores, ranked.played, reward)

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot.put("linear", self._linear.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        self._linear.load(snapshot.part("linear"))


@dataclass(frozen=True, kw_only=True)
class ImputationConfig:
    """The candidates, their distribution, and the steps towards imputed rewards."""

    candidates: int = 60  # k of the k-best list
    weight_scale: float = 5.0  # on the tuned weights
    critic_scale: float = 4.0  # on the rewards that the critic of words expects
    critic_rate: float = 1.0  # of AdaGrad, for the critic's weights of words
    temperature: float = 0.2  # of imputed rewards: at 0, the best estimate would count alone
    learning_rate: float = 0.4  # of AdaGrad
    initial_square: float = 0.5  # of AdaGrad's sums: without it, first steps would be too long
    memory_scale: float = 20.0  # on the imputed rewards of a source that comes again
    memory_size: int = 100_000  # sources that are remembered; the oldest is forgotten first
    buckets: int = 1 << 20  # bigrams are hashed into this many weights; a power of two
    linear: LinearConfig = field(default_factory=LinearConfig)  # what it plays with if rewards are not exact


@dataclass(frozen=True, slots=True)
class Prediction:
    """What an imputing learner expects before a reward."""

    scores: Array  # by candidate
    of_list: Beliefs  # in words and bigrams, as the distribution over candidates has them
    beliefs: Beliefs  # the same, corrected by the critic
    lengths: Array  # the distribution of the reference's length


class ImputingLearner(RerankingLearner):
    """SMT-IMPUTE: every reward is decoded into matches, and teaches all candidates."""

    snapshot_version: ClassVar[int] = 2

    def __init__(self, translator: LogLinearTranslator, config: ImputationConfig, *, seed: int) -> None:  # noqa: ARG002 (nothing is random)
        super().__init__(translator, config.candidates)
        self._config = config
        self._weights = np.zeros(config.buckets)
        self._squares = np.full(config.buckets, config.initial_square)
        self._memory: dict[str, Array] = {}  # by source: what is added to the scores of its candidates
        self._lengths = ReferenceLengths()
        self._exactness = Exactness("a linear model of the reward ranks the candidates, as in SMT-LINEAR")
        self._linear = LinearReranker(config.linear)
        self._critic = ListCritic(config.critic_rate)
        self._prediction: Prediction | None = None

    def _scores(self, source: str, words: CandidateWords, model_scores: Array) -> Array:
        self._prediction = self._predict(source, words, model_scores)
        if self._exactness.is_lost:
            return self._linear.scores(words, model_scores)
        return self._prediction.scores

    def _predict(self, source: str, words: CandidateWords, model_scores: Array) -> Prediction:
        scores = self._config.weight_scale * model_scores + feature_scores(words, self._weights)
        if (remembered := self._memory.get(source)) is not None:
            scores += remembered
        of_list = prior_beliefs(words, softmax(scores))
        beliefs = self._critic.correct(words, of_list)
        lengths = self._lengths.distribution(int(words.starts[1]))
        scores += self._config.critic_scale * expected_rewards(words, beliefs, lengths)
        return Prediction(scores, of_list, beliefs, lengths)

    def _learn(self, source: str, ranked: RankedList, reward: float) -> None:
        self._linear.learn(ranked.words, ranked.model_scores, ranked.played, reward)
        estimates = self._estimate(source, ranked, reward)
        if estimates is None:
            return
        assert self._prediction is not None, "feedback follows a proposal"
        scores, config = self._prediction.scores, self._config
        impute_step(
            ranked.words,
            softmax(scores),
            softmax(scores + estimates / config.temperature),
            self._weights,
            self._squares,
            config.learning_rate,
        )
        self._remember(source, config.memory_scale * (estimates - estimates.max()))

    def _estimate(self, source: str, ranked: RankedList, reward: float) -> Array | None:  # noqa: ARG002
        """Return estimates of all candidates' rewards; None if the reward cannot be decoded."""
        length, before = ranked.length(ranked.played), self._prediction
        assert before is not None, "feedback follows a proposal"
        solutions = decode_reward(reward, length)
        if 0 < length <= MAX_HYPOTHESIS:
            self._exactness.observe(bool(len(solutions)))
        if not len(solutions):
            return None
        imputed = impute_rewards(ranked.words, ranked.played, before.beliefs, solutions, before.lengths, reward)
        if not len(imputed.rewards):
            return None
        self._lengths.observe(ranked.length(0), imputed.lengths)
        self._critic.learn(ranked.words, ranked.played, before.of_list, before.beliefs, imputed.words)
        return imputed.rewards

    def _remember(self, source: str, change: Array) -> None:
        before = self._memory.pop(source, None)  # so that it becomes the newest
        self._memory[source] = change if before is None else before + change
        if len(self._memory) > self._config.memory_size:
            del self._memory[next(iter(self._memory))]

    def save(self) -> Snapshot:
        snapshot = super().save()
        touched = np.flatnonzero(self._squares != self._config.initial_square)
        remembered = list(self._memory.values())
        snapshot.arrays |= {
            "touched": touched,
            "weights": self._weights[touched],
            "squares": self._squares[touched],
            "memory": np.concatenate([np.zeros(0), *remembered]),
            "memory_sizes": np.array([len(one) for one in remembered], np.int64),
        }
        snapshot.values["sources"] = list(self._memory)
        snapshot.put("lengths", self._lengths.save())
        snapshot.put("exactness", self._exactness.save())
        snapshot.put("linear", self._linear.save())
        snapshot.put("critic", self._critic.save())
        return snapshot

    def load(self, snapshot: Snapshot) -> None:
        super().load(snapshot)
        touched = snapshot.arrays["touched"]
        self._weights[:], self._squares[:] = 0.0, self._config.initial_square
        self._weights[touched], self._squares[touched] = snapshot.arrays["weights"], snapshot.arrays["squares"]
        ends = np.cumsum(snapshot.arrays["memory_sizes"])
        remembered = np.split(snapshot.arrays["memory"], ends[:-1]) if len(ends) else []
        self._memory = dict(zip(snapshot.values["sources"], (one.copy() for one in remembered), strict=True))
        self._lengths.load(snapshot.part("lengths"))
        self._exactness.load(snapshot.part("exactness"))
        self._linear.load(snapshot.part("linear"))
        self._critic.load(snapshot.part("critic"))


def softmax(scores: Array) -> Array:
    """Return the distribution over candidates that their scores define."""
    unnormalised = np.exp(scores - scores.max())
    distribution: Array = unnormalised / unnormalised.sum()
    return distribution


@compiled
def impute_step(
    candidates: CandidateWords, probabilities: Array, wanted: Array, weights: Array, squares: Array, rate: float
) -> None:
    """Move the distribution over candidates towards the wanted one: a step of AdaGrad on their cross-entropy."""
    mask, starts = len(weights) - 1, candidates.starts
    features = candidates.features & mask
    distinct, places = _number(features)
    gradient = np.zeros(len(distinct))
    for c in range(len(probabilities)):
        for k in range(starts[c] + c, starts[c + 1] + c + 1):
            gradient[places[k]] += wanted[c] - probabilities[c]
    for k in range(len(distinct)):
        if abs(gradient[k]) > 1e-9:
            squares[distinct[k]] += gradient[k] ** 2
            weights[distinct[k]] += rate * gradient[k] / np.sqrt(squares[distinct[k]])


@compiled
def _number(values: Array) -> tuple[Array, Array]:
    """Return the distinct values in order, and the place of each value among them."""
    order = np.argsort(values)
    distinct, places = np.empty(len(values), np.int64), np.empty(len(values), np.int64)
    count = 0
    for k in range(len(order)):
        value = values[order[k]]
        if count == 0 or distinct[count - 1] != value:
            distinct[count] = value
            count += 1
        places[order[k]] = count - 1
    return distinct[:count], places
