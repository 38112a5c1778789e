"""The adapting translator: its features, its search, and what post-edits change."""

import numpy as np
import pytest

from learners.adaptation.statistical.features import FEATURE, FEATURES, TABLE_FEATURES
from learners.adaptation.statistical.model import Background
from learners.adaptation.statistical.orientation_counts import count_orientations, match_phrases
from learners.adaptation.statistical.phrase_counts import PhraseCounts
from learners.adaptation.statistical.search import Found, search
from learners.adaptation.statistical.translator import AdaptingTranslator, Models, inherit_weights
from learners.errors import SnapshotError, TrainingError
from learners.smt.alignment import align_corpus
from learners.smt.extraction import ExtractionLimits
from learners.smt.model_file import write_model_file
from tests.learners.adaptation.statistical.toy_background import background
from tests.learners.tiny import sentences

BLOCK = [("rot kiste", "crimson box"), ("neu kiste", "new box"), ("kiste gross", "large box")]
SOURCES = ["rot seil gross", "neu decke xk-77 blau", "kiste", "rot " * 70, ""]


def test_without_post_edits_it_is_the_background_system():
    adapting, alone = AdaptingTranslator(background()), AdaptingTranslator(background(), Models.BACKGROUND)
    assert [adapting.translate(source) for source in SOURCES] == [alone.translate(source) for source in SOURCES]


def test_the_words_of_the_background_are_translated_and_unknown_ones_copied():
    assert AdaptingTranslator(background()).translate("rot seil xk-77 gross") == "red rope xk-77 large"


def test_long_sentences_are_translated_in_parts_and_empty_ones_to_nothing():
    translator = AdaptingTranslator(background())
    assert translator.translate("rot " * 130).split() == ["red"] * 130
    assert translator.translate("") == ""


def test_post_edits_teach_words_and_the_background_keeps_the_others():
    translator = AdaptingTranslator(background())
    translator.foreground.add(BLOCK)
    assert translator.translate("neu kiste") == "new box"
    assert translator.translate("blau seil") == "blue rope"


def test_the_foreground_alone_knows_only_post_edits():
    translator = AdaptingTranslator(background(), Models.FOREGROUND)
    assert translator.translate("neu kiste") == "neu kiste"
    translator.foreground.add(BLOCK)
    assert translator.translate("neu kiste seil") == "new box seil"


@pytest.mark.parametrize("models", Models)
def test_the_score_of_a_search_is_that_of_the_features(models, monkeypatch):
    """The search adds up scores on its way; the features of its result, times the weights, give the same."""
    translator = AdaptingTranslator(background(), models)
    translator.foreground.add(BLOCK)
    weights = translator.weights + 0.01 * np.arange(len(FEATURES))
    searched: list[Found] = []

    def record(*arguments):
        searched.append(search(*arguments))
        return searched[-1]

    monkeypatch.setattr("learners.adaptation.statistical.translator.search", record)
    for source in ("seil rot kiste xk-77 neu", "neu kiste rot", "gross decke"):
        best = translator.k_best(source.split(), weights, 1)[0]
        assert best.features @ weights == pytest.approx(searched[-1].scores[0], abs=1e-4)


def test_the_k_best_are_different_translations_in_order():
    translator = AdaptingTranslator(background())
    found = translator.k_best(["rot", "seil", "gross"], translator.weights, 5)
    scores = [derivation.features @ translator.weights for derivation in found]
    assert len({derivation.translation for derivation in found}) == 5
    assert scores == sorted(scores, reverse=True)
    forest = translator.forest("rot seil gross", translator.weights)
    assert [one.translation for one in forest.k_best(translator.weights, 5)] == [one.translation for one in found]


def test_weights_of_the_foreground_are_inherited():
    weights = inherit_weights(background().weights, Models.BOTH, 0.5)
    for name in TABLE_FEATURES:
        assert weights[FEATURE[f"Foreground.{name}"]] == 0.5 * weights[FEATURE[f"Background.{name}"]]
    assert weights[FEATURE["Foreground.LM"]] == 0.5 * weights[FEATURE["Background.LM"]]
    assert inherit_weights(background().weights, Models.FOREGROUND, 1.0)[FEATURE["Background.LM"]] == 0.0


def test_background_and_foreground_count_the_same_orientations():
    """Compiled code and plain Python extract the same phrases of the same text."""
    trained = background()
    pairs = [(source.split(), target.split()) for source, target in sentences(120)]
    alignment = align_corpus(pairs, trained.source_words, trained.target_words, 5)
    limits = ExtractionLimits(*(getattr(trained.config, name) for name in ExtractionLimits._fields))
    compiled = count_orientations(trained.grammar, alignment.bitext, limits)
    assert compiled.tolist() == trained.orientations.tolist()
    counts, text = PhraseCounts(trained.config), alignment.bitext
    for number, (source, target) in enumerate(pairs):
        span = slice(text.link_start[number], text.link_start[number + 1])
        links = zip(text.link_source[span].tolist(), text.link_target[span].tolist(), strict=True)
        counts.add(source, target, list(links))
    compared = 0
    for start, end, first, last in match_phrases(trained.grammar, trained.source_words.ids_of(pairs[0][0]), 3).tolist():
        found = dict(counts.translations(tuple(pairs[0][0][start:end])))
        for rule in range(first, last):
            ids = trained.grammar.target[trained.grammar.target_start[rule] : trained.grammar.target_start[rule + 1]]
            entry = found[tuple(trained.target_words.word_of(word) for word in ids.tolist())]
            assert entry.count == trained.grammar.rule_count[rule]
            assert entry.orientations == compiled[rule].tolist()
            compared += 1
    assert compared > 5


def test_blocks_give_the_same_models_as_their_order_says():
    """Foreground models are those of all post-edits: the phrases of two blocks are those of one, aligned alike."""
    once, twice = AdaptingTranslator(background()), AdaptingTranslator(background())
    once.foreground.add(sentences(30, seed=3))
    twice.foreground.add(sentences(30, seed=3)[:15])
    twice.foreground.add(sentences(30, seed=3)[15:])
    assert [once.translate(source) for source in SOURCES] == [twice.translate(source) for source in SOURCES]
    assert once.foreground.sentences == twice.foreground.sentences == 30


def test_empty_pairs_are_left_out():
    translator = AdaptingTranslator(background())
    translator.foreground.add([("", "box"), ("kiste", ""), ("kiste " * 200, "box")])
    assert translator.foreground.sentences == 0
    with pytest.raises(TrainingError, match="empty text"):
        Background.train([("", "")])


def test_a_background_is_kept_in_a_file(tmp_path):
    background().save(tmp_path / "model")
    loaded = Background.load(tmp_path / "model")
    for source in SOURCES:
        assert AdaptingTranslator(loaded).translate(source) == AdaptingTranslator(background()).translate(source)
    write_model_file(tmp_path / "model", {}, {"format": "smt 2"})
    with pytest.raises(SnapshotError, match="not an adapting translator"):
        Background.load(tmp_path / "model")
