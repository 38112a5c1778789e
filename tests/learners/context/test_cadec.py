"""CADec: sizes as published, a frozen base model, distances as the only order, drafts, and copying."""

import hashlib

import numpy as np
import pytest
import torch

from learners.context.cadec import CadecDecoder, CadecLayer, source_width, target_width
from learners.context.examples import Example
from learners.context.training import ContextTrainingConfig, DevelopmentSets, train_in_context
from learners.context.two_pass import corrupt
from learners.nmt.batches import shift_right
from learners.nmt.configs import TRANSFORMER_BASE
from learners.nmt.transformer import DecoderLayer
from learners.nmt.vocabulary import EOS, SPECIALS
from tests.learners.context import tiny


def parameter_count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_memories_have_the_published_widths():
    assert (source_width(512), target_width(512)) == (516, 1_028)
    translator = tiny.two_pass()  # width 16
    drafts = [[5, 6, EOS]] * 2
    sources, targets, _ = translator.memories(tiny.examples(2), drafts)
    assert (sources.states.shape[-1], targets.states.shape[-1]) == (16 + 4, 2 * 16 + 4)


def test_the_published_size_has_the_published_number_of_parameters():
    with torch.device("meta"):
        assert parameter_count(CadecLayer(TRANSFORMER_BASE)) == 5_788_160
        assert parameter_count(DecoderLayer(TRANSFORMER_BASE)) == 4_204_032
        decoder = CadecDecoder(TRANSFORMER_BASE, torch.zeros(32_000, 512))
    assert parameter_count(decoder.layers) == 34_728_960  # six layers: 34.73 million
    assert parameter_count(decoder.output) == 16_384_000


def test_distances_are_one_hot_and_the_draft_is_at_distance_zero():
    translator = tiny.two_pass()
    example = tiny.examples(1)[0]
    sources, _, lengths = translator.memories([example], [[5, EOS]])
    distances = sources.states[0, :, -4:][sources.mask[0]]
    assert distances.sum(1).tolist() == [1.0] * len(distances)
    assert int(distances[:, 0].sum()) == lengths[0]
    oldest = translator.memories([Example(example.context[0][0])], [[5, EOS]])[2][0]
    assert int(distances[:, 3].sum()) == oldest  # the oldest of three


def test_a_step_changes_no_tensor_of_the_base_model():
    translator = tiny.two_pass()
    base = translator.base.translator.model

    def digest(module):
        data = b"".join(tensor.detach().numpy().tobytes() for tensor in module.state_dict().values())
        return hashlib.sha256(data).hexdigest()

    before, trained = digest(base), digest(translator.trained)
    config = ContextTrainingConfig(max_steps=2, validate_every=2)
    train_in_context(translator, tiny.examples(8), DevelopmentSets([], {}), config)
    assert digest(base) == before
    assert digest(translator.trained) != trained
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in base.parameters())


def test_permuting_sentences_with_their_distances_changes_nothing():
    translator = tiny.two_pass()
    (example,) = tiny.examples(1)
    sources, targets, _ = translator.memories([example], [translator.target_ids(example)[0]])
    previous = shift_right(torch.tensor([translator.target_ids(example)[0]]))
    permuted = []
    for memory in (sources, targets):
        order = torch.arange(memory.states.shape[1]).view(4, -1)[[2, 0, 3, 1]].flatten()
        permuted.append(type(memory)(memory.states[:, order], memory.mask[:, order]))
    with torch.no_grad():
        expected = translator.decoder.decode(translator.decoder.attend_to(sources, targets), previous)
        found = translator.decoder.decode(translator.decoder.attend_to(*permuted), previous)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_permuting_sentences_without_their_distances_changes_the_output():
    translator = tiny.two_pass()
    (example,) = tiny.examples(1)
    swapped = Example(example.source, example.context[::-1], example.target)
    assert translator.sentence_losses([example]) != pytest.approx(translator.sentence_losses([swapped]), rel=1e-6)


@pytest.mark.parametrize("kind", ["cadec", "s-hier-to-2.tied"])
def test_steps_are_the_teacher_forced_pass(kind):
    translator = tiny.KINDS[kind]()
    examples = tiny.examples(3)
    sources = translator.encode(examples)
    previous = torch.tensor([[1, 7, 9, 12]] * 3)
    with torch.no_grad():
        expected = translator.decoder.decode(sources.encoded, previous)
        state = translator.decoder.initial_state(sources.encoded)
        for place in range(4):
            step = translator.decoder.step(sources.encoded, state, previous[:, place])
            state = step.state
            torch.testing.assert_close(step.logits, expected[:, place], atol=1e-4, rtol=1e-4)


def test_corruption_spares_the_first_and_the_last_token():
    ids = [*range(10, 29), EOS]  # 20 tokens: 18 may be replaced, of which a fifth is 3.6
    rng = np.random.default_rng(1)
    made = [corrupt(ids, 0.2, 1_000, rng) for _ in range(4_000)]
    assert all(each[0] == 10 and each[-1] == EOS and len(each) == 20 for each in made)
    changed = np.mean([sum(a != b for a, b in zip(each, ids, strict=True)) for each in made])
    assert changed == pytest.approx(3.6, abs=0.1)
    assert min(token for each in made for token in each[:-1]) >= len(SPECIALS)
    assert corrupt(ids, 0.0, 1_000, rng) == ids


def test_drafts_are_corrupted_references_with_probability_p():
    examples = tiny.examples(40)
    references = [tiny.two_pass().target_ids(example)[0] for example in examples]
    for p, expected in ((1.0, 40), (0.0, 0)):
        translator = tiny.two_pass(corruption_probability=p, corruption=0.0, sample_corruption=0.0)
        drafts = translator._training_drafts(examples, np.random.default_rng(1))
        assert sum(draft == reference for draft, reference in zip(drafts, references, strict=True)) == expected


def test_without_context_the_draft_is_the_translation():
    translator = tiny.two_pass()
    examples = [Example("go home ."), *tiny.examples(2), Example("well .")]
    found = translator.translate(examples)
    assert [found[0], found[3]] == translator.base.translate([examples[0], examples[3]])
    assert translator.sentence_losses([examples[0]]) == translator.base.sentence_losses([examples[0]])


def test_with_perfect_drafts_it_learns_to_copy():
    """With p = 1 and no corruption, the draft is the reference."""
    translator = tiny.two_pass(corruption_probability=1.0, corruption=0.0)
    examples = [example.limited(1) for example in tiny.examples(6)]
    before = translator.loss(examples, np.random.default_rng(0)).item()
    config = ContextTrainingConfig(
        max_steps=80, validate_every=80, learning_rate_scale=2.0, label_smoothing=0.0, averaged_checkpoints=1
    )
    train_in_context(translator, examples, DevelopmentSets([], {}), config)
    after = translator.loss(examples, np.random.default_rng(0)).item()
    assert after < 0.2 * before
