"""Candidates of a group are scored together, with the losses that each has by itself."""

from dataclasses import replace

import pytest
import torch

from learners.context.concatenation import SentenceTranslator
from learners.context.examples import Example
from learners.context.scoring import row_length
from learners.nmt.batches import pad, shift_right
from learners.nmt.packing import PackedTargets
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import BOS, PAD
from tests.learners.context import tiny

CONTEXTS = (
    (("it is late .", "es ist spät ."), ("how are you ?", "wie geht es ihnen ?")),
    (("i am tired .", "ich bin müde ."),),
)
TARGETS = ("bist du allein ?", "sind sie allein ?", "sind sie hier heute abend ganz allein ?", "allein ?")


def candidates():
    return [Example("are you alone ?", context, target) for context in CONTEXTS for target in TARGETS]


def loss_of_own_tokens(translator, example):
    """Score one whole target by itself, and add up the tokens of its last sentence."""
    ids, start = translator.target_ids(example)
    targets = pad([ids], translator.device)
    with torch.no_grad():
        logits = translator.decoder.decode(translator.encode([example]).encoded, shift_right(targets))
    return -float(logits.log_softmax(-1)[0].gather(1, targets.T)[start:].sum())


@pytest.mark.parametrize("kind", list(tiny.KINDS))
def test_candidates_of_a_group_have_the_losses_that_they_have_alone(kind):
    translator = tiny.KINDS[kind]()
    expected = [loss_of_own_tokens(translator, example) for example in candidates()]
    assert translator.sentence_losses(candidates()) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", list(tiny.KINDS))
def test_each_source_in_its_context_is_read_once(kind, monkeypatch):
    translator = tiny.KINDS[kind]()
    read: list[Example] = []
    encode = translator.encode

    def recorded(examples):
        read.extend(examples)
        return encode(examples)

    monkeypatch.setattr(translator, "encode", recorded)
    losses = translator.sentence_losses([*candidates(), *candidates()[:3]])
    assert len(read) == (1 if kind == "sentence" else 2)  # without context, both groups read the same
    assert losses[-3:] == losses[:3]  # equal examples are scored once


def test_targets_in_a_row_see_their_prefix_but_not_each_other():
    packed = PackedTargets.of([[([5, 6, 7, 8], 2), ([5, 6, 9], 2)], [([7], 0)]], torch.device("cpu"))
    assert packed.previous.tolist() == [[BOS, 5, 6, 7, 6], [BOS, PAD, PAD, PAD, PAD]]
    assert packed.positions[0].tolist() == [0, 1, 2, 3, 2]
    assert packed.labels.tolist() == [[PAD, PAD, 7, 8, 9], [7, PAD, PAD, PAD, PAD]]
    assert packed.numbers.tolist() == [0, 0, 1, 2]
    assert packed.visible[0, 0].int().tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 0, 0, 1],
    ]
    assert row_length([([5, 6, 7, 8], 2), ([5, 6, 9], 2)]) == 5


def test_a_recurrent_model_without_context_is_scored_too():
    words, config = tiny.vocabulary(), replace(tiny.CONFIG, architecture="gru")
    model = new_model(config, words.size, words.size, seed=1)
    translator = SentenceTranslator(Translator(config, model, words, words))
    examples = candidates()[: len(TARGETS)]
    assert translator.sentence_losses(examples) == pytest.approx(
        [loss_of_own_tokens(translator, example) for example in examples], rel=1e-4
    )
