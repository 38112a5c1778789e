"""A translator takes any text, answers with text, and comes back from its file as it was."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from learners.contract import PLACEHOLDER
from learners.errors import DivergedError, SnapshotError
from learners.nmt.decoding import length_bound
from learners.nmt.hypothesis import Sample
from learners.nmt.recipes import Recipe
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import EOS
from learners.snapshot import Snapshot
from tests.learners.nmt.toys import ARCHITECTURES, TINY, three_token_translator, tiny_translator


@pytest.fixture(params=ARCHITECTURES)
def translator(request):
    return tiny_translator(replace(TINY, architecture=request.param))


def test_a_source_of_5000_tokens_is_cut_at_the_bound(translator):
    source = " ".join(["hemd"] * 5_000)
    ids = translator.encode_source(source)
    assert len(ids) == TINY.max_source == 100
    assert ids[-1] == EOS
    for hypothesis in (translator.greedy(source), translator.sample(source, 1.0, np.random.default_rng(1))):
        assert 0 < len(hypothesis.ids) <= length_bound(100)


@pytest.mark.parametrize("source", ["", "   ", "☃", "\x00", "<s> </s>", "a" * 300])
def test_whatever_the_source_there_is_an_answer(translator, source):
    answers = [
        translator.greedy(source),
        translator.beam(source, 3),
        translator.sample(source, 1.0, np.random.default_rng(2)),
        translator.sample(source, 1e-9, np.random.default_rng(2)),
    ]
    assert all(answer.text.strip() for answer in answers)
    assert answers[0].ids == answers[3].ids  # cold enough, sampling is greedy


def test_a_sample_without_text_is_answered_greedily_and_then_with_the_source():
    translator = three_token_translator()
    sample = translator.sample("a b", 1.0, _constant(0.1))
    assert sample.ids == [EOS]
    assert translator.greedy("a b").ids == [3, EOS]
    assert sample.text == translator.greedy("a b").text == "a"  # it looks everywhere alike, so at the first word
    assert translator.sample("", 1.0, _constant(0.1)).text == PLACEHOLDER


def _constant(number: float) -> Any:
    """A source of randomness that is not random."""
    return SimpleNamespace(random=lambda count: np.full(count, number))


@pytest.mark.parametrize(
    ("temperature", "gradient"),
    [(1.0, (0.066524, -0.075527, 0.009003)), (0.5, (0.173363, -0.176538, 0.003175))],
)
@pytest.mark.parametrize("accelerated", [True, False])
def test_the_gradient_of_a_tempered_token(temperature, gradient, accelerated):  # card B8
    translator = three_token_translator()
    translator.accelerated = accelerated
    sample = translator.sample("a", temperature, _constant(0.9 if temperature == 1 else 0.95))
    assert sample.ids[0] == 3
    weights = [0.4 - 0.3, *[0.0] * (len(sample.ids) - 1)]
    translator.backward(sample, weights)
    found = translator.model.output_bias.grad
    assert found is not None
    assert found[2:].tolist() == pytest.approx(gradient, abs=1e-6)


@pytest.mark.parametrize(
    ("temperature", "probabilities"),
    [(1.0, (0.665241, 0.244728, 0.090031)), (0.5, (0.866813, 0.117310, 0.015876)), (0.1, (0.999955, 4.5e-5, 2.1e-9))],
)
def test_tempered_probabilities(temperature, probabilities):  # card B8
    translator = three_token_translator()
    found = [translator.sequence_log_probability([4, EOS], [token], temperature).exp().item() for token in (2, 3, 4)]
    assert found == pytest.approx(probabilities, rel=0.02, abs=1e-6)


def test_a_samples_probability_is_that_of_its_tokens(translator):
    sample = translator.sample("rot hemd", 0.7, np.random.default_rng(4))
    again = translator.sequence_log_probability(sample.source_ids, sample.ids, 0.7).item()
    assert sample.log_probability == pytest.approx(again, abs=1e-4)


def test_features_are_the_same_with_and_without_a_sample(translator):
    sample = translator.sample("rot hemd", 1.0, np.random.default_rng(4))
    np.testing.assert_allclose(sample.features, translator.features("rot hemd"), atol=1e-6)


def test_a_bonus_for_entropy_makes_the_next_distribution_flatter(translator):
    sample = translator.sample("rot hemd", 1.0, np.random.default_rng(4))

    def entropy() -> float:
        return -float(translator.loss(sample, 0.0, entropy=1.0).detach())

    before = entropy()
    translator.backward(sample, 0.0, entropy=1.0)
    translator.vector.data -= 1e-3 * translator.vector.grad
    assert entropy() > before


def test_a_diverged_model_is_reported(translator):
    translator.vector.data.fill_(float("nan"))
    for answer in (lambda: translator.greedy("rot"), lambda: translator.sample("rot", 1.0, np.random.default_rng(1))):
        with pytest.raises(DivergedError, match="diverged"):
            answer()


@pytest.mark.parametrize("recipe", [TINY, replace(TINY, vocabulary="word", tied=False)], ids=["bpe", "word"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_translator_comes_back_from_its_file(recipe, architecture, tmp_path):
    translator = tiny_translator(replace(recipe, architecture=architecture))
    sizes = (translator.source_vocabulary.size, translator.target_vocabulary.size)
    translator.companions = [new_model(translator.recipe, *sizes, seed=9).eval()]
    translator.lexicon = {"größe": "size"}
    translator.save(tmp_path / "model")
    again = Translator.load(tmp_path / "model", device=torch.device("cpu"))
    assert torch.equal(again.vector, translator.vector)
    assert again.lexicon == {"größe": "size"}
    assert again.beam("rot hemd", 3) == translator.beam("rot hemd", 3)
    assert again.greedy("rot hemd ☃") == translator.greedy("rot hemd ☃")


class TestForeignFiles:
    """What is not a model of this version is refused, with the reason."""

    @pytest.fixture
    def snapshot(self):
        return tiny_translator().snapshot()

    def refused(self, snapshot, match):
        with pytest.raises(SnapshotError, match=match):
            Translator.from_snapshot(snapshot)

    def test_a_file_cut_short(self, tmp_path):
        path = tmp_path / "model"
        tiny_translator().save(path)
        path.write_bytes(path.read_bytes()[:-10])
        with pytest.raises(SnapshotError, match="damaged or cut short"):
            Translator.load(path)

    def test_a_snapshot_of_something_else(self):
        self.refused(Snapshot(values={"kind": "learner"}), "something else")

    def test_a_recipe_of_another_version(self, snapshot):
        snapshot.values["recipe"]["colour"] = "red"
        self.refused(snapshot, "another version")

    def test_a_damaged_vocabulary(self, snapshot):
        snapshot.arrays["source_vocabulary"] = snapshot.arrays["source_vocabulary"][:50]
        self.refused(snapshot, "vocabulary is damaged")

    def test_no_vocabulary(self, snapshot):
        del snapshot.arrays["source_vocabulary"]
        self.refused(snapshot, "no vocabulary")

    def test_tensors_of_another_size(self, snapshot):
        snapshot.values["recipe"]["decoder"] = 12
        self.refused(snapshot, "do not fit")

    def test_a_missing_tensor(self, snapshot):
        del snapshot.arrays["model.bridge.bias"]
        self.refused(snapshot, "do not fit")


def test_recipes_are_told_from_values():
    recipe = Recipe(name="mine", layers=3)
    assert Recipe.from_values(vars(recipe).copy()) == recipe


def test_a_sample_can_be_made_by_hand_for_learning_from_logs(translator):
    ids, source = translator.encode_target("red shirt"), translator.encode_source("rot hemd")
    sample = Sample(source, ids, "red shirt", 0.0, 1.0, translator.features("rot hemd"))
    translator.backward(sample, 1.0)
    by_torch = translator.vector.grad.clone()
    translator.zero_gradient()
    (-translator.sequence_log_probability(source, ids)).backward()
    torch.testing.assert_close(translator.vector.grad, by_torch)
