"""Decoding: beam search finds the best translation, sampling follows the probabilities."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from learners.nmt import decoding
from learners.nmt.batches import pad
from learners.nmt.decoding import (
    BeamHypothesis,
    _cannot_win,
    beam_k_best,
    beam_search,
    greedy_decode,
    max_output_length,
    sample,
)
from learners.nmt.ensemble import Ensemble
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import BOS, EOS, WordVocabulary
from tests.learners import tiny
from tests.learners.nmt.toys import ARCHITECTURES, TINY, log_probability, three_token_translator

SOURCE = [4, 4, 2]
MAX_LENGTH = 4
CPU = torch.device("cpu")


@pytest.fixture
def short_outputs(monkeypatch):
    """Limit translations to four tokens, so that all of them can be enumerated."""
    monkeypatch.setattr(decoding, "max_output_length", lambda length: MAX_LENGTH)


def small_model(architecture="gru", seed=1):
    vocabulary = WordVocabulary(["a", "b", "c"])
    config = replace(TINY, architecture=architecture, vocabulary="word")
    model = new_model(config, vocabulary.size, vocabulary.size, seed=seed).double()
    translator = Translator(config, model, vocabulary, vocabulary, device=CPU)
    translator.vector.data *= 2
    return translator


def all_translations():
    """Yield every non-empty translation within the limit: ended, or as long as the limit."""
    for length in range(1, MAX_LENGTH + 1):
        for words in product((3, 4, 5, 6), repeat=length):
            if length < MAX_LENGTH:
                yield [*words, EOS]
            else:
                yield list(words)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_wide_beam_finds_the_best_of_all_translations(architecture, short_outputs):
    translator = small_model(architecture)
    candidates = [ids for ids in all_translations() if len(ids) <= MAX_LENGTH]
    scores = [log_probability(translator, SOURCE, ids).item() / len(ids) for ids in candidates]
    # A beam returns a finished translation if there is one, and only otherwise one that reached the limit.
    best = max((place for place, ids in enumerate(candidates) if ids[-1] == EOS), key=lambda place: scores[place])
    found = beam_search(Ensemble([translator.model]), pad([SOURCE], CPU), 2_000)
    assert found.ids == candidates[best]
    assert found.log_probability == pytest.approx(scores[best] * len(found.ids))


def test_the_k_best_of_a_wide_beam_are_all_finished_translations_in_order(short_outputs):
    translator = small_model()
    ended = [ids for ids in all_translations() if ids[-1] == EOS]
    scores = {tuple(ids): log_probability(translator, SOURCE, ids).item() / len(ids) for ids in ended}
    found = beam_k_best(Ensemble([translator.model]), pad([SOURCE], CPU), 2_000)
    assert len(found) == len(ended)
    assert [scores[tuple(one.ids)] for one in found] == sorted(scores.values(), reverse=True)


def test_the_first_of_the_k_best_is_that_of_the_beam_and_no_text_comes_twice():
    translator = tiny.translator()
    for source, _ in tiny.sentences(5, seed=3):
        texts = [one.text for one in translator.k_best(source, 6)]
        assert texts[0] == translator.beam(source, 6).text
        assert len(set(texts)) == len(texts) > 1


def test_a_beam_of_one_is_greedy(short_outputs):
    for seed in range(5):
        model = small_model(seed=seed).model
        source = pad([SOURCE], CPU)
        assert beam_search(Ensemble([model]), source, 1).ids == greedy_decode(model, source).ids


def test_a_beam_of_identical_models_is_a_beam_of_one_of_them():
    model = small_model().model
    source = pad([SOURCE], CPU)
    alone, together = (beam_search(Ensemble([model] * count), source, 4) for count in (1, 3))
    assert together.ids == alone.ids
    assert together.log_probability == pytest.approx(alone.log_probability)


def test_an_ensemble_averages_probabilities(short_outputs):
    one, other = small_model(seed=1), small_model(seed=2)
    found = beam_search(Ensemble([one.model, other.model]), pad([SOURCE], CPU), 3)
    probabilities = [
        translator.log_probabilities([SOURCE], [found.ids])[0].exp().detach().numpy() for translator in (one, other)
    ]
    assert found.log_probability == pytest.approx(np.log(np.mean(probabilities, axis=0)).sum())


@pytest.mark.parametrize("seed", range(4))
def test_a_translation_has_the_attention_of_its_own_tokens(seed, short_outputs):
    """Unknown words are copied by the attention of the hypothesis itself, not of its neighbours in the beam."""
    model, source = small_model(seed=seed).model, pad([SOURCE], CPU)
    found = beam_search(Ensemble([model]), source, 6)
    encoder_output = model.encode(source)
    state, attention = model.initial_state(encoder_output), []
    for token in [BOS, *found.ids[:-1]]:
        step = model.step(encoder_output, state, torch.tensor([token]))
        state = step.state
        attention.append(step.attention[0].detach().numpy())
    assert found.attention == pytest.approx(np.stack(attention))
    assert np.abs(np.diff(attention, axis=0)).max() > 1e-3


def test_finished_hypotheses_take_places_of_the_beam(short_outputs, monkeypatch):
    places, finished, extend = [], [0], decoding._extend

    def recorded(beam, log_probabilities, attention, count):
        extended, parents = extend(beam, log_probabilities, attention, count)
        places.append(count)
        finished.append(finished[-1] + sum(item.ids[-1] == EOS for item in extended))
        return extended, parents

    monkeypatch.setattr(decoding, "_extend", recorded)
    monkeypatch.setattr(decoding, "_cannot_win", lambda *_: False)
    beam_search(Ensemble([three_token_translator().model]), pad([SOURCE], CPU), 6)  # it prefers to end
    assert places == [6 - done for done in finished[:-1]]
    assert finished[-2] > 0


@pytest.mark.parametrize(("best", "lost"), [(-0.19, True), (-0.21, False)])
def test_a_beam_cannot_win_if_certainty_up_to_the_limit_would_not_help(best, lost):
    beam = [BeamHypothesis([3], -7.0, []), BeamHypothesis([4], -6.0, [])]  # -6.0 / 30 = -0.2 at best
    assert _cannot_win(beam, best, max_length=30) is lost


def test_a_beam_that_stops_early_finds_the_same(monkeypatch):
    translator, stops = tiny.translator(), []
    translator.vector.data *= 5  # makes the model confident
    sources = [source for source, _ in tiny.sentences(20, seed=3)]

    def recorded(*arguments):
        stops.append(_cannot_win(*arguments))
        return stops[-1]

    monkeypatch.setattr(decoding, "_cannot_win", recorded)
    early = [translator.beam(source, 12).text for source in sources]
    assert any(stops)
    monkeypatch.setattr(decoding, "_cannot_win", lambda *_: False)
    assert [translator.beam(source, 12).text for source in sources] == early


def test_sampling_frequencies_are_the_probabilities():
    translator = three_token_translator()
    source, rng = pad([SOURCE], CPU), np.random.default_rng(5)
    samples = 1_500
    first = Counter(sample(translator.model, source, 1.0, rng.random(20)).ids[0] for _ in range(samples))
    for token, probability in ((2, 0.665241), (3, 0.244728), (4, 0.090031)):
        deviation = math.sqrt(samples * probability * (1 - probability))
        assert abs(first[token] - samples * probability) < 4 * deviation


@pytest.mark.parametrize(
    ("uniform", "token"), [(0.0, 2), (0.6652, 2), (0.6653, 3), (0.9099, 3), (0.91, 4), (1 - 2**-53, 4)]
)
def test_a_number_between_0_and_1_picks_the_token_at_its_quantile(uniform, token):
    decoded = sample(three_token_translator().model, pad([SOURCE], CPU), 1.0, np.full(20, uniform))
    assert decoded.ids[0] == token


def test_the_length_of_greedy_output_is_limited_by_its_source_and_never_zero():
    translator = three_token_translator()  # prefers to end at once
    assert greedy_decode(translator.model, pad([SOURCE], CPU)).ids == [3, EOS]
    translator.model.output_bias.data[EOS] = -50
    assert len(greedy_decode(translator.model, pad([SOURCE], CPU)).ids) == max_output_length(3) == 16
    assert len(beam_search(Ensemble([translator.model]), pad([SOURCE], CPU), 2).ids) == 16
