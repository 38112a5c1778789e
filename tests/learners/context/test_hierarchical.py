"""S-HIER-TO-2.TIED: hierarchical attention with worked numbers, and one encoder for both sentences."""

import torch

from learners.context.examples import Example
from learners.context.hierarchical import HierarchicalCombination
from tests.learners.context import tiny


def test_context_vectors_are_weighed_by_themselves():
    combination = HierarchicalCombination(2)
    with torch.no_grad():
        combination.score.weight.copy_(torch.tensor([[0.5, 0.25]]))
        combination.score.bias.zero_()
        combined = combination(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]))  # both score 0.5
    torch.testing.assert_close(combined, torch.tensor([[0.5, 1.0]]))


def test_both_sentences_have_the_same_encoder_and_its_gradients_add():
    translator = tiny.hierarchical()
    names = {name.split(".")[0] for name, _ in translator.decoder.named_parameters()}
    assert len([name for name in names if "encoder" in name]) == 1
    example = Example("go home .", (("it is late .", "es ist spät ."),), "geh nach hause .")
    encoded = translator.encode([example]).encoded
    weight = translator.decoder.encoder.weight_ih_l0
    own = torch.autograd.grad(encoded.states.sum(), weight, retain_graph=True)[0]
    other = torch.autograd.grad(encoded.keys[1].sum(), weight, retain_graph=True)[0]
    both = torch.autograd.grad(encoded.states.sum() + encoded.keys[1].sum(), weight)[0]
    torch.testing.assert_close(both, own + other)


def test_the_target_begins_with_the_previous_sentence():
    translator = tiny.hierarchical()
    example = Example("go home .", (("a", "b"), ("it is late .", "es ist spät .")), "geh nach hause .")
    ids, start = translator.target_ids(example)
    assert translator._text(ids[:start]).replace("<sep>", "").strip() == "es ist spät ."
    assert translator._text(translator.current_ids(ids)) == "geh nach hause ."
    assert translator.target_ids(Example("x", (), "geh nach hause ."))[1] == 0
