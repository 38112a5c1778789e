"""Both decoders agree with an enumeration of all derivations that shares no code with them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from learners.smt.configs import DecoderKind
from learners.smt.extraction import GAP
from learners.smt.features import FEATURE, FEATURES
from learners.smt.grammar import ROOT, child
from learners.smt.language_model import END, START, predict
from learners.smt.translator import SmtTranslator
from tests.learners.smt.toy_language import model, random_weights, sentences, translator

NO_POP_LIMIT = 50_000  # more hypotheses than these sentences have


class Exhaustive:
    """All translations of all spans of one sentence, as (words, features without those of the language model)."""

    def __init__(self, source):
        self.words = source.split()
        self.source_ids = model().source_words.ids_of(self.words)
        self.span = cache(self._span)

    def rules(self, node):
        grammar = model().grammar
        for rule in range(grammar.first_rule[node], grammar.first_rule[node + 1]):
            target = grammar.target[grammar.target_start[rule] : grammar.target_start[rule + 1]].tolist()
            count, source_count = int(grammar.rule_count[rule]), int(grammar.source_count[node])
            features = np.zeros(14)
            features[: FEATURE.Glue] = (
                np.log10(count / source_count),
                np.log10(1 + source_count),
                np.log10(1 + count),
                *grammar.lexical[rule],
                source_count == 1,
                count == 1,
            )
            features[FEATURE.WordPenalty] = -sum(symbol >= 0 for symbol in target)
            features[FEATURE.RuleCount] = 1
            if GAP - 1 in target and target.index(GAP - 1) < target.index(GAP):
                features[FEATURE.Reordering] = -1
            yield target, features

    def by_phrase(self, i, j):
        """Return the translations of a span by one phrase, or by a copy."""
        node = ROOT
        for number in self.source_ids[i:j]:
            node = child(model().grammar, node, number) if node >= 0 and number >= 0 else -1
        found = [(tuple(target), features) for target, features in self.rules(node)] if node >= 0 else []
        if j == i + 1 and not found:
            features = np.zeros(14)
            features[[FEATURE.PassThrough, FEATURE.WordPenalty]] = 1, -1
            found = [((self.copy_id(i),), features)]
        return found

    def copy_id(self, i):
        word_id = model().target_words.id_of(self.words[i])
        return word_id if word_id >= 0 else 1_000 + i

    def _span(self, i, j):
        """Return the translations of a span by rules, with or without gaps."""
        found = list(self.by_phrase(i, j))
        for node, gaps in self.matches(i, j, ROOT, ()):
            for target, features in self.rules(node):
                found += self.filled(target, features, gaps)
        return found

    def matches(self, i, j, node, gaps):
        """Yield the gapped source sides that cover a span, with the spans of their gaps."""
        if node < 0:
            return
        if i == j:
            if gaps:
                yield node, gaps
            return
        if self.source_ids[i] >= 0:
            yield from self.matches(i + 1, j, child(model().grammar, node, self.source_ids[i]), gaps)
        if len(gaps) < 2 and not (gaps and gaps[-1][1] == i):
            for k in range(i + 1, j + 1):
                yield from self.matches(k, j, child(model().grammar, node, GAP - len(gaps)), (*gaps, (i, k)))

    def filled(self, target, features, gaps):
        """Return the translations by a rule with all translations of its gaps."""
        parts = [((), features)]
        for symbol in target:
            options = [((symbol,), 0.0)] if symbol >= 0 else self.span(*gaps[-1 - symbol])
            parts = [(words + more, total + extra) for words, total in parts for more, extra in options]
        return parts

    def glued(self, j, max_span):
        """Return the translations of the first j words by Hiero."""
        if j == 0:
            return [((), np.zeros(14))]
        found = []
        for i in range(max(0, j - max_span), j):
            glue = np.eye(14)[FEATURE.Glue] * (i > 0)
            for words, features in self.glued(i, max_span):
                found += [(words + more, features + extra + glue) for more, extra in self.span(i, j)]
        return found

    def reordered(self, covered, end, config):
        """Return the phrase-based translations of all uncovered words."""
        n = len(self.words)
        if len(covered) == n:
            return [((), np.zeros(14))]
        first_gap = min(set(range(n)) - covered)
        found = []
        for i in range(first_gap, n):
            for j in range(i + 1, min(n, i + config.max_phrase_length) + 1):
                new = set(range(i, j))
                back = j - first_gap if i > first_gap else 0
                if new & covered or abs(i - end) > config.distortion_limit or back > config.distortion_limit:
                    continue
                distortion = np.eye(14)[FEATURE.Reordering] * -abs(i - end)
                for words, features in self.by_phrase(i, j):
                    rest = self.reordered(covered | new, j, config)
                    found += [(words + more, features + distortion + extra) for more, extra in rest]
        return found


def with_lm_features(words, features):
    """Return the features with those of the language model for the whole sentence."""
    language_model = model().language_model
    context, total = [START], 0.0
    for word in (*words, END):
        latest = np.array([*reversed(context[1 - language_model.order :]), 0], np.int32)
        total += predict(language_model, latest, min(len(context), language_model.order - 1), word)[0]
        context.append(word if word < language_model.vocabulary_size else 0)
    features = features.copy()
    features[FEATURE.LanguageModel] = total
    features[FEATURE.LanguageModel_OOV] = sum(word >= language_model.vocabulary_size for word in words)
    return features


@pytest.mark.parametrize("kind", DecoderKind)
@pytest.mark.parametrize("source", ["den hund habe ich gesehen", "löwe ich habe xyz", *sentences(4, seed=3, longest=4)])
def test_without_a_pop_limit_the_forest_holds_all_derivations(kind, source):
    decoder = translator(kind)
    decoder.config = replace(decoder.config, pop_limit=NO_POP_LIMIT, distortion_limit=2)
    enumeration = Exhaustive(source)
    if kind is DecoderKind.HIERO:
        found = enumeration.glued(len(source.split()), decoder.config.max_span)
    else:
        found = enumeration.reordered(frozenset(), 0, decoder.config)
    features = np.array([with_lm_features(*one) for one in found])
    for seed in range(3):
        weights = random_weights(np.random.default_rng(seed))
        forest = decoder.forest(source, weights)
        scores = features @ weights
        assert forest.best(weights).features @ weights == pytest.approx(scores.max(), abs=1e-4)
        assert forest.log_partition(weights) == pytest.approx(np.logaddexp.reduce(scores), abs=1e-4)


@pytest.mark.parametrize("kind", DecoderKind)
def test_no_pop_limit_finds_a_better_score_than_a_large_one(kind):
    decoder = translator(kind)
    for source in sentences(20):
        scores = []
        for limit in (1, 5, 50, 1_000):
            decoder.config = replace(decoder.config, pop_limit=limit)
            forest = decoder.forest(source, decoder.weights)
            scores.append(forest.best(decoder.weights).features @ decoder.weights)
        assert max(scores) == pytest.approx(scores[-1])
        assert forest.graph.starts[-1] > 1


@pytest.mark.parametrize("kind", DecoderKind)
@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("", ""),
        ("ist", "is"),
        ("xyz", "xyz"),
        ("xyz löwe xyz", "xyz löwe xyz"),
        ("ich habe den brief gesehen", "i have seen the letter"),
        ("ich habe den xyz gesehen", "i have seen the xyz"),
    ],
)
def test_best_translation(kind, source, translation):
    decoder = translator(kind)
    assert decoder.forest(source, decoder.weights).best(decoder.weights).translation == translation


@pytest.mark.parametrize("kind", DecoderKind)
@pytest.mark.parametrize("words", [["ich", "habe", "den", "hund", "gesehen"], ["xyz"]])
def test_search_effort_grows_linearly_with_sentence_length(kind, words):
    decoder = translator(kind)
    source = " ".join((words * 150)[:150])
    forest = decoder.forest(source, decoder.weights)
    best = forest.best(decoder.weights)
    assert len(best.translation.split()) == 150
    cells = 150 * (decoder.config.max_span + 1) + 1
    assert forest.graph.starts[-1] <= cells * decoder.config.pop_limit  # this bounds time, too
    assert len(forest.k_best(decoder.weights, 3)) == (3 if len(words) > 1 else 1)


def best_features(kind, source):
    """Return the features of the best derivation by name."""
    decoder = translator(kind)
    return dict(zip(FEATURES, decoder.forest(source, decoder.weights).best(decoder.weights).features, strict=True))


def test_copied_words_are_counted():
    found = best_features(DecoderKind.PHRASE_BASED, "xyz hund")
    assert (found["PassThrough"], found["LanguageModel_OOV"], found["WordPenalty"]) == (1, 1, -2)
    assert (found["RuleCount"], found["Glue"], found["Reordering"]) == (1, 0, 0)


def test_spans_that_no_rule_combines_are_glued():
    assert best_features(DecoderKind.HIERO, "xyz")["Glue"] == 0
    assert best_features(DecoderKind.HIERO, "xyz löwe xyz")["Glue"] == 2


def test_reordering_counts_the_words_jumped_over():
    found = best_features(
        DecoderKind.PHRASE_BASED, "habe ich"
    )  # ich comes first, over one word, and then habe, back over both
    assert (found["Reordering"], found["RuleCount"]) == (-3, 2)
    found = best_features(
        DecoderKind.PHRASE_BASED, "den brief habe ich verloren"
    )  # den, habe over one, ich verloren, brief back over four
    assert (found["Reordering"], found["RuleCount"]) == (-5, 4)
    found = best_features(DecoderKind.PHRASE_BASED, "ich habe den brief verloren")  # as they come
    assert (found["Reordering"], found["RuleCount"]) == (0, 2)


def test_a_repeated_unknown_word_is_copied_each_time():
    assert translator().forest("a b a", translator().weights).best(translator().weights).translation == "a b a"


def test_every_feature_has_an_initial_weight():
    assert translator().features == FEATURES
    assert len(FEATURES) == 14
    assert SmtTranslator(model()).weights.shape == (14,)
