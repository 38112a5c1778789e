"""Search in batches finds what search for single sources finds."""

import pytest
import torch

from learners.context.examples import Example
from learners.context.search import Sources, beam_search_batch, sample_batch
from learners.nmt.batches import pad
from learners.nmt.decoding import beam_search, max_output_length
from learners.nmt.ensemble import Ensemble
from learners.nmt.vocabulary import EOS
from tests.learners.context import tiny

SOURCES = ["go home .", "did you see the key ?", "well .", "the taxi is waiting in front of the rose club ."]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_beam_in_a_batch_is_the_beam_of_one_source(size, seed):
    translator = tiny.sentence(seed)
    model = translator.translator.model
    found = beam_search_batch(model, translator.encode([Example(source) for source in SOURCES]), size)
    alone = [
        beam_search(Ensemble([model]), pad([translator.source_ids(Example(source))], translator.device), size).ids
        for source in SOURCES
    ]
    assert found == alone


def test_samples_end_and_depend_on_the_seed_alone():
    translator = tiny.sentence()
    sources = translator.encode([Example(source) for source in SOURCES])

    def draw(seed):
        return sample_batch(translator.decoder, sources, 1.0, torch.Generator().manual_seed(seed))

    assert draw(1) == draw(1) != draw(2)
    assert all(ids[-1] == EOS and EOS not in ids[:-1] for ids in draw(1))
    assert all(len(ids) <= max_output_length(max(sources.lengths)) + 1 for ids in draw(1))


def test_a_cold_sample_is_the_greedy_translation():
    translator = tiny.sentence()
    sources = translator.encode([Example(SOURCES[0])])
    cold = sample_batch(translator.decoder, sources, 1e-4, torch.Generator().manual_seed(1))[0]
    greedy = beam_search_batch(translator.decoder, Sources(sources.encoded, sources.lengths), 1)[0]
    assert cold[: len(greedy)] == greedy or cold[0] == EOS  # beam search does not begin with the end symbol
