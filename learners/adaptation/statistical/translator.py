"""The adapting translator: options of background and foreground, one search, one feature vector."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from learners.adaptation.statistical.features import (
    BACKGROUND,
    FEATURE,
    FEATURES,
    FOREGROUND,
    ORIENTATION_COUNT,
    PHRASES,
    TABLE_FEATURES,
)
from learners.adaptation.statistical.model import LM_ORDER, Background, Foreground
from learners.adaptation.statistical.orientation_counts import match_phrases
from learners.adaptation.statistical.phrase_counts import DISCONTINUOUS, MONOTONE, SWAP
from learners.adaptation.statistical.search import Found, Options, SearchWeights, search
from learners.adaptation.statistical.witten_bell import ORDER, log_probability
from learners.smt.forest import Derivation, Vector
from learners.smt.hashing import Array
from learners.smt.language_model import END, START, predict

OPTIONS_PER_SPAN = 10  # the best ones by estimate
POP_LIMIT = 100  # hypotheses that are scored for each stack
ORIENTATION_PRIOR = 0.5  # occurrences with the orientations of all phrases that are added to those of each phrase
MAX_SENTENCE = 60  # words that are translated at once: longer sentences are cut


NO_TABLE = -1  # of a copied word
NO_CONTEXT = np.zeros(1, np.int64)
PHRASE_COUNT, WORD_PENALTY, PASS_THROUGH = (FEATURE[name] for name in ("PhraseCount", "WordPenalty", "PassThrough"))

Span = tuple[int, int]


class Models(StrEnum):
    """Which models translate."""

    BACKGROUND = "background"
    BOTH = "both"
    FOREGROUND = "foreground"


@dataclass(frozen=True)
class _Option:
    """A translation of a span."""

    start: int
    end: int
    words: tuple[str, ...]
    features: Vector  # of all that does not depend on the search
    table: int  # where the features of its phrase table begin, or NO_TABLE
    reordering: Vector  # [6]: log probabilities of the orientations
    lm_estimate: float  # the background's log probability of its words without context


class AdaptingTranslator:
    """Translates with background and foreground models.

    An option has the features of the table that it comes from; a phrase pair of both tables is two options. Both
    language models score every translation. So without post-edits, the system is the background system.
    """

    def __init__(self, background: Background, models: Models = Models.BOTH, foreground_share: float = 1.0) -> None:
        """Create a translator without post-edits.

        Args:
            background: The models of out-of-domain text, with their weights.
            models: Which models translate.
            foreground_share: What the weights of the background's features are multiplied by for the foreground's.
        """
        self.background = background
        self.foreground = Foreground(background)
        self.models = models
        self.weights = inherit_weights(background.weights, models, foreground_share)
        known, prior = background.orientations, background.orientations.sum(0) + 1.0
        self._orientation_prior = prior / np.repeat(prior.reshape(2, -1).sum(1), ORIENTATION_COUNT)
        self._background_reordering = _log_shares(known, self._orientation_prior)
        grammar = background.grammar
        rules = np.diff(grammar.first_rule)
        self._source_counts = np.repeat(grammar.source_count, rules)  # by rule

    @property
    def features(self) -> tuple[str, ...]:
        return FEATURES

    def translate(self, source: str) -> str:
        """Return the best translation."""
        words = source.split()
        parts = [words[at : at + MAX_SENTENCE] for at in range(0, len(words), MAX_SENTENCE)]
        return " ".join(self.k_best(part, self.weights, 1)[0].translation for part in parts)

    def forest(self, source: str, weights: Vector) -> "StackForest":  # noqa: ARG002 (it searches when it is asked)
        """Return a forest for tuning, which searches with the weights that it is asked with."""
        return StackForest(self, source.split()[:MAX_SENTENCE])

    def k_best(self, words: Sequence[str], weights: Vector, k: int) -> list[Derivation]:
        """Return the best derivation of each of the k best translations that the last stack holds."""
        if not words:
            return [Derivation("", np.zeros(len(FEATURES)))]
        arrays, options, ids = self._arrays(self._options(words), len(words), weights)
        language_models = self.background.language_model, self.foreground.language_model.counts
        config = self.background.config
        found = search(
            arrays, len(words), language_models, self._search_weights(weights), config.distortion_limit, POP_LIMIT
        )
        derivations: dict[str, Derivation] = {}
        for place in found.finished.tolist():
            derivation = self._derivation(found, place, options, ids)
            derivations.setdefault(derivation.translation, derivation)
            if len(derivations) == k:
                break
        return list(derivations.values())

    @property
    def _has_foreground(self) -> bool:
        return self.models is not Models.BACKGROUND and self.foreground.sentences > 0

    def _search_weights(self, weights: Vector) -> SearchWeights:
        return SearchWeights(
            weights[FEATURE["Background.LM"]],
            weights[FEATURE["Background.LM_OOV"]],
            weights[FEATURE["Foreground.LM"]] if self._has_foreground else 0.0,
            weights[FEATURE["Distortion"]],
        )

    def _options(self, words: Sequence[str]) -> dict[Span, list[_Option]]:
        """Return all options by span; words that no option translates on their own are copied."""
        found: dict[Span, list[_Option]] = {}
        if self.models is not Models.FOREGROUND:
            self._add_background(words, found)
        if self.models is not Models.BACKGROUND:
            self._add_foreground(words, found)
        for start, word in enumerate(words):
            if (start, start + 1) not in found:
                found[start, start + 1] = [self._copy(start, word)]
        return found

    def _add_background(self, words: Sequence[str], found: dict[Span, list[_Option]]) -> None:
        grammar, target_words = self.background.grammar, self.background.target_words
        matches = match_phrases(
            grammar, self.background.source_words.ids_of(words), self.background.config.max_phrase_length
        )
        for start, end, first, last in matches.tolist():
            counts = grammar.rule_count[first:last].astype(float)
            features = np.zeros((last - first, len(FEATURES)))
            node_count = float(self._source_counts[first])
            features[:, BACKGROUND : BACKGROUND + PHRASES] = np.column_stack(
                (
                    np.log10(counts / node_count),
                    np.full(len(counts), np.log10(1 + node_count)),
                    np.log10(1 + counts),
                    grammar.lexical[first:last],
                    np.full(len(counts), float(node_count == 1)),
                    counts == 1,
                )
            )
            features[:, PHRASE_COUNT] = 1.0
            features[:, WORD_PENALTY] = -np.diff(grammar.target_start[first : last + 1])
            found[start, end] = [
                _Option(
                    start,
                    end,
                    tuple(
                        target_words.word_of(word)
                        for word in grammar.target[grammar.target_start[rule] : grammar.target_start[rule + 1]].tolist()
                    ),
                    features[rule - first],
                    BACKGROUND,
                    self._background_reordering[rule],
                    float(grammar.lm_estimate[rule]),
                )
                for rule in range(first, last)
            ]

    def _add_foreground(self, words: Sequence[str], found: dict[Span, list[_Option]]) -> None:
        phrases, lexicons = self.foreground.phrases, self.foreground.lexicons
        prior = np.array(phrases.orientations) + self._orientation_prior
        prior /= np.repeat(prior.reshape(2, -1).sum(1), ORIENTATION_COUNT)
        max_length = self.background.config.max_phrase_length
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + max_length) + 1):
                side = tuple(words[start:end])
                source_count = phrases.source_count(side)
                for target, entry in phrases.translations(side):
                    features = np.zeros(len(FEATURES))
                    features[FOREGROUND : FOREGROUND + PHRASES] = (
                        np.log10(entry.count / source_count),
                        np.log10(1 + source_count),
                        np.log10(1 + entry.count),
                        lexicons.source_given_target.score(side, target),
                        lexicons.target_given_source.score(target, side),
                        float(source_count == 1),
                        float(entry.count == 1),
                    )
                    features[PHRASE_COUNT], features[WORD_PENALTY] = 1.0, -len(target)
                    reordering = _log_shares(np.array(entry.orientations, float)[None], prior)[0]
                    found.setdefault((start, end), []).append(
                        _Option(start, end, target, features, FOREGROUND, reordering, self._lm_estimate(target))
                    )

    def _copy(self, start: int, word: str) -> _Option:
        features = np.zeros(len(FEATURES))
        features[PASS_THROUGH], features[WORD_PENALTY] = 1.0, -1.0
        return _Option(
            start, start + 1, (word,), features, NO_TABLE, np.zeros(2 * ORIENTATION_COUNT), self._lm_estimate((word,))
        )

    def _lm_estimate(self, words: Sequence[str]) -> float:
        """Return the background's log probability of words without context."""
        model = self.background.language_model
        ids = [self.background.target_words.id_of(word) for word in words]
        return sum(predict(model, NO_CONTEXT, 0, word if word >= 0 else model.vocabulary_size)[0] for word in ids)

    def _arrays(
        self, found: dict[Span, list[_Option]], n: int, weights: Vector
    ) -> tuple[Options, list[_Option], dict[str, int]]:
        """Return the best options of each span for the search, the same as a list, and the ids of their words."""
        lm_weight, ranked = weights[FEATURE["Background.LM"]], list[_Option]()
        scores, estimates = list[float](), list[float]()
        max_length = self.background.config.max_phrase_length
        span_start = np.zeros((n, max_length + 2), np.int64)
        for start in range(n):
            for length in range(1, max_length + 1):
                options = found.get((start, start + length), [])
                span_start[start, length] = len(ranked)
                own = np.array([option.features @ weights for option in options])
                total = own + lm_weight * np.array([option.lm_estimate for option in options])
                for place in np.argsort(-total, kind="stable")[:OPTIONS_PER_SPAN]:
                    ranked.append(options[place])
                    scores.append(own[place])
                    estimates.append(total[place])
            span_start[start, max_length + 1] = len(ranked)
        ids = self._ids(ranked)
        return (
            Options(
                span_start,
                np.array([option.end - option.start for option in ranked]),
                np.array(scores),
                np.array(estimates),
                np.array([self._weighted_reordering(option, weights) for option in ranked]),
                np.cumsum([0, *(len(option.words) for option in ranked)]),
                np.array([ids[word] for option in ranked for word in option.words]),
            ),
            ranked,
            ids,
        )

    def _ids(self, options: Sequence[_Option]) -> dict[str, int]:
        """Return the ids of all words; those that no model knows get ids after all others."""
        ids: dict[str, int] = {}
        unknown = 0
        for word in (word for option in options for word in option.words):
            if word not in ids:
                ids[word] = self.foreground.id_of(word)
                if ids[word] < 0:
                    ids[word] = self.foreground.vocabulary_size + unknown
                    unknown += 1
        return ids

    def _weighted_reordering(self, option: _Option, weights: Vector) -> Vector:
        if option.table == NO_TABLE:
            return option.reordering
        first = option.table + PHRASES
        weighted: Vector = option.reordering * weights[first : first + 2 * ORIENTATION_COUNT]
        return weighted

    def _derivation(self, found: Found, place: int, options: Sequence[_Option], ids: dict[str, int]) -> Derivation:
        """Return the translation of a finished hypothesis, and the sum of its features."""
        chosen: list[_Option] = []
        while place > 0:
            chosen.append(options[found.option[place]])
            place = int(found.parent[place])
        chosen.reverse()
        features = np.sum([option.features for option in chosen], axis=0)
        last = (0, 0)
        for before, option in zip([None, *chosen[:-1]], chosen, strict=True):
            orientation = MONOTONE if option.start == last[1] else SWAP if option.end == last[0] else DISCONTINUOUS
            _add_reordering(features, option, orientation)
            if before is not None:
                _add_reordering(features, before, ORIENTATION_COUNT + orientation)
            features[FEATURE["Distortion"]] -= abs(option.start - last[1])
            last = option.start, option.end
        words = [word for option in chosen for word in option.words]
        self._add_lm_features(features, [ids[word] for word in words])
        return Derivation(" ".join(words), features)

    def _add_lm_features(self, features: Vector, words: Sequence[int]) -> None:
        background, foreground = self.background.language_model, self.foreground.language_model.counts
        has_foreground = self._has_foreground
        context = np.array([START], np.int64)
        for word in (*words, END):
            features[FEATURE["Background.LM"]] += predict(background, context, min(len(context), LM_ORDER - 1), word)[0]
            features[FEATURE["Background.LM_OOV"]] += word >= background.vocabulary_size
            if has_foreground:
                features[FEATURE["Foreground.LM"]] += log_probability(
                    foreground, context, min(len(context), ORDER - 1), word
                )
            context = np.array([word, *context[: LM_ORDER - 2]], np.int64)


class StackForest:
    """What a search found for one source, as tuning needs it."""

    def __init__(self, translator: AdaptingTranslator, words: Sequence[str]) -> None:
        self._translator, self._words = translator, words

    def k_best(self, weights: Vector, k: int) -> list[Derivation]:
        return self._translator.k_best(self._words, weights, k)


def inherit_weights(weights: Vector, models: Models, share: float) -> Vector:
    """Return the background's weights, and a share of them for the same features of the foreground.

    Bertoldi et al. 2012 inherit them from a system of another domain that has post-edits; here, the background's own
    features are that system. If the foreground translates alone, only its language model counts.
    """
    inherited = weights.copy()
    count = len(TABLE_FEATURES)
    inherited[FOREGROUND : FOREGROUND + count] = share * weights[BACKGROUND : BACKGROUND + count]
    inherited[FEATURE["Foreground.LM"]] = share * weights[FEATURE["Background.LM"]]
    if models is Models.FOREGROUND:
        inherited[[FEATURE["Background.LM"], FEATURE["Background.LM_OOV"]]] = 0.0
    return inherited


def _add_reordering(features: Vector, option: _Option, orientation: int) -> None:
    if option.table != NO_TABLE:
        features[option.table + PHRASES + orientation] += option.reordering[orientation]


def _log_shares(counts: Array, prior: Array) -> Array:
    """Return the log probabilities of orientations [phrase, 6], smoothed by those of all phrases [6]."""
    smoothed = counts + ORIENTATION_PRIOR * prior
    totals = np.repeat(smoothed.reshape(len(counts), 2, -1).sum(2), ORIENTATION_COUNT, 1)
    shares: Array = np.log10(smoothed / totals)
    return shares
