"""Search finds what is there, and sampling draws what is probable."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from learners.nmt import decoding
from learners.nmt.batches import padded
from learners.nmt.decoding import BeamHypothesis, _hopeless, beam_search, draw, length_bound
from learners.nmt.ensemble import Ensemble
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import BOS, EOS, WordVocabulary
from tests.learners import tiny
from tests.learners.nmt.toys import ARCHITECTURES, TINY, log_probability, three_token_translator

SOURCE = [4, 4, 2]
LONGEST = 4
CPU = torch.device("cpu")


@pytest.fixture
def short(monkeypatch):
    """Translations of at most four tokens, so that all of them can be listed."""
    monkeypatch.setattr(decoding, "length_bound", lambda length: LONGEST)


def small_model(architecture="gru", seed=1):
    vocabulary = WordVocabulary(["a", "b", "c"])
    config = replace(TINY, architecture=architecture, vocabulary="word")
    model = new_model(config, vocabulary.size, vocabulary.size, seed=seed).double()
    translator = Translator(config, model, vocabulary, vocabulary, device=CPU)
    translator.vector.data *= 2
    return translator


def all_translations():
    """Every non-empty translation within the bound: ended, or as long as can be."""
    for length in range(1, LONGEST + 1):
        for words in product((3, 4, 5, 6), repeat=length):
            if length < LONGEST:
                yield [*words, EOS]
            else:
                yield list(words)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_wide_beam_finds_the_best_of_all_translations(architecture, short):
    translator = small_model(architecture)
    candidates = [ids for ids in all_translations() if len(ids) <= LONGEST]
    scores = [log_probability(translator, SOURCE, ids).item() / len(ids) for ids in candidates]
    # A beam ends with finished translations if there are any, and only else with those that were cut.
    best = max((place for place, ids in enumerate(candidates) if ids[-1] == EOS), key=lambda place: scores[place])
    found = beam_search(Ensemble([translator.model]), padded([SOURCE], CPU), 2_000)
    assert found.ids == candidates[best]
    assert found.log_probability == pytest.approx(scores[best] * len(found.ids))


def test_a_beam_of_one_is_greedy(short):
    for seed in range(5):
        model = small_model(seed=seed).model
        source = padded([SOURCE], CPU)
        assert beam_search(Ensemble([model]), source, 1).ids == draw(model, source, 1.0, None).ids


def test_a_beam_of_identical_models_is_a_beam_of_one_of_them():
    model = small_model().model
    source = padded([SOURCE], CPU)
    alone, together = (beam_search(Ensemble([model] * count), source, 4) for count in (1, 3))
    assert together.ids == alone.ids
    assert together.log_probability == pytest.approx(alone.log_probability)


def test_an_ensemble_averages_probabilities(short):
    one, other = small_model(seed=1), small_model(seed=2)
    found = beam_search(Ensemble([one.model, other.model]), padded([SOURCE], CPU), 3)
    votes = [
        translator.log_probabilities([SOURCE], [found.ids])[0].exp().detach().numpy() for translator in (one, other)
    ]
    assert found.log_probability == pytest.approx(np.log(np.mean(votes, axis=0)).sum())


@pytest.mark.parametrize("seed", range(4))
def test_a_translation_has_the_attention_of_its_own_tokens(seed, short):
    """Unknown words are copied from where a ray looked, not from where its neighbours did."""
    model, source = small_model(seed=seed).model, padded([SOURCE], CPU)
    found = beam_search(Ensemble([model]), source, 6)
    memory = model.encode(source)
    state, looked = model.start(memory), []
    for token in [BOS, *found.ids[:-1]]:
        step = model.step(memory, state, torch.tensor([token]))
        state = step.state
        looked.append(step.attention[0].detach().numpy())
    assert found.attention == pytest.approx(np.stack(looked))
    assert np.abs(np.diff(looked, axis=0)).max() > 1e-3


def test_a_beam_has_room_for_as_many_as_are_not_finished(short, monkeypatch):
    room, finished, extended = [], [0], decoding._extended

    def watched(rays, votes, attention, count):
        longer, parents = extended(rays, votes, attention, count)
        room.append(count)
        finished.append(finished[-1] + sum(ray.ids[-1] == EOS for ray in longer))
        return longer, parents

    monkeypatch.setattr(decoding, "_extended", watched)
    monkeypatch.setattr(decoding, "_hopeless", lambda *_: False)
    beam_search(Ensemble([three_token_translator().model]), padded([SOURCE], CPU), 6)  # it likes to end
    assert room == [6 - done for done in finished[:-1]]
    assert finished[-2] > 0


@pytest.mark.parametrize(("best", "hopeless"), [(-0.19, True), (-0.21, False)])
def test_a_ray_is_hopeless_if_certainty_up_to_the_bound_would_not_help(best, hopeless):
    assert (
        _hopeless([BeamHypothesis([3], -7.0, []), BeamHypothesis([4], -6.0, [])], best, longest=30) is hopeless
    )  # -0.2 at best


def test_a_beam_that_ends_early_finds_the_same(monkeypatch):
    translator, ends = tiny.translator(), []
    translator.vector.data *= 5  # a model that is sure of itself
    sources = [source for source, _ in tiny.sentences(20, seed=3)]

    def hopeless(*what):
        ends.append(_hopeless(*what))
        return ends[-1]

    monkeypatch.setattr("learners.nmt.decoding._hopeless", hopeless)
    early = [translator.beam(source, 12).text for source in sources]
    assert any(ends)
    monkeypatch.setattr("learners.nmt.decoding._hopeless", lambda *_: False)
    assert [translator.beam(source, 12).text for source in sources] == early


def test_sampling_frequencies_are_the_probabilities():
    translator = three_token_translator()
    source, rng = padded([SOURCE], CPU), np.random.default_rng(5)
    draws = 1_500
    first = Counter(draw(translator.model, source, 1.0, rng.random(20)).ids[0] for _ in range(draws))
    for token, probability in ((2, 0.665241), (3, 0.244728), (4, 0.090031)):
        deviation = math.sqrt(draws * probability * (1 - probability))
        assert abs(first[token] - draws * probability) < 4 * deviation


@pytest.mark.parametrize(
    ("uniform", "token"), [(0.0, 2), (0.6652, 2), (0.6653, 3), (0.9099, 3), (0.91, 4), (1 - 2**-53, 4)]
)
def test_a_number_between_0_and_1_picks_the_token_at_its_quantile(uniform, token):
    drawn = draw(three_token_translator().model, padded([SOURCE], CPU), 1.0, np.full(20, uniform))
    assert drawn.ids[0] == token


def test_greedy_output_is_bounded_by_its_source_and_never_empty():
    translator = three_token_translator()  # prefers to end at once
    assert draw(translator.model, padded([SOURCE], CPU), 1.0, None).ids == [3, EOS]
    translator.model.output_bias.data[EOS] = -50
    assert len(draw(translator.model, padded([SOURCE], CPU), 1.0, None).ids) == length_bound(3) == 16
    assert len(beam_search(Ensemble([translator.model]), padded([SOURCE], CPU), 2).ids) == 16
