"""A translator translates any text, computes gradients, and survives saving and loading."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from lambdas.service import check_translation
from learners.contract import PLACEHOLDER
from learners.errors import DivergedError, SnapshotError
from learners.nmt.decoding import max_output_length
from learners.nmt.hypothesis import Sample
from learners.nmt.translator import Translator, new_model
from learners.nmt.vocabulary import EOS, UNK, WordVocabulary
from learners.snapshot import Snapshot
from tests.learners.nmt.toys import (
    ARCHITECTURES,
    TINY,
    finite_differences,
    log_probability,
    three_token_translator,
    tiny_translator,
)


@pytest.fixture(params=ARCHITECTURES)
def translator(request):
    return tiny_translator(replace(TINY, architecture=request.param))


def test_a_source_of_5000_tokens_is_truncated(translator):
    source = " ".join(["hemd"] * 5_000)
    ids = translator.encode_source(source)
    assert len(ids) == TINY.max_source == 100
    assert ids[-1] == EOS
    for hypothesis in (translator.greedy(source), translator.sample(source, 1.0, np.random.default_rng(1))):
        assert 0 < len(hypothesis.ids) <= max_output_length(100)


@pytest.mark.parametrize("source", ["", "   ", "☃", "\x00", "<s> </s>", "a" * 300])
def test_every_source_has_a_translation_that_is_not_empty(translator, source):
    hypotheses = [
        translator.greedy(source),
        translator.beam(source, 3),
        translator.sample(source, 1.0, np.random.default_rng(2)),
        translator.sample(source, 1e-9, np.random.default_rng(2)),
    ]
    assert all(hypothesis.text.strip() for hypothesis in hypotheses)
    assert hypotheses[0].ids == hypotheses[3].ids  # at this temperature, sampling is greedy


def test_a_sample_without_text_falls_back_to_the_greedy_translation_and_that_to_the_source():
    translator = three_token_translator()
    sample = translator.sample("a b", 1.0, _constant(0.1))
    assert sample.ids == [EOS]
    assert translator.greedy("a b").ids == [3, EOS]
    assert sample.text == translator.greedy("a b").text == "a"  # with uniform attention, the first word is copied
    assert translator.sample("", 1.0, _constant(0.1)).text == PLACEHOLDER
    assert sample.is_fallback
    assert not translator.greedy("a b").is_fallback
    assert translator.greedy("").is_fallback
    assert not translator.sample("a b", 1.0, _constant(0.7)).is_fallback


def test_a_model_that_copies_a_long_code_again_and_again_stays_within_the_services_limit(translator):
    code = "https://example.org/" + "x7" * 300
    translator.vector.data.zero_()
    translator.model.output_bias.data[UNK] = 9.0  # only unknown tokens, and all of them the code
    source = f"rot {code}"
    hypotheses = [
        translator.greedy(source),
        translator.beam(source, 2),
        translator.sample(source, 1.0, np.random.default_rng(1)),
        translator.greedy("\n" + "x" * 5_000),  # has no unknown token to copy, so that the source is the fallback
    ]
    for hypothesis in hypotheses:
        check_translation(hypothesis.text)
    assert hypotheses[0].text == " ".join([code] * 6)  # of 14


def _constant(number: float) -> Any:
    """Return a random generator that always returns this number."""
    return SimpleNamespace(random=lambda count: np.full(count, number))


@pytest.mark.parametrize(
    ("temperature", "gradient"),
    [(1.0, (0.066524, -0.075527, 0.009003)), (0.5, (0.173363, -0.176538, 0.003175))],
)
@pytest.mark.parametrize("accelerated", [True, False])
def test_the_gradient_of_a_tempered_token(temperature, gradient, accelerated):
    translator = three_token_translator()
    translator.accelerated = accelerated
    sample = translator.sample("a", temperature, _constant(0.9 if temperature == 1 else 0.95))
    assert sample.ids[0] == 3
    weights = [0.4 - 0.3, *[0.0] * (len(sample.ids) - 1)]
    translator.backward(sample, weights)
    found = translator.model.output_bias.grad
    assert found is not None
    assert found[2:].tolist() == pytest.approx(gradient, abs=5e-7)


@pytest.mark.parametrize(
    ("temperature", "probabilities"),
    [
        (1.0, (0.665241, 0.244728, 0.0900306)),
        (0.5, (0.866813, 0.117310, 0.0158762)),
        (0.1, (0.999955, 4.53979e-5, 2.06106e-9)),
    ],
)
def test_tempered_probabilities_to_six_digits(temperature, probabilities):
    translator = three_token_translator()
    assert translator._engine is not None
    by_torch = [log_probability(translator, [4, EOS], [token], temperature).exp().item() for token in (2, 3, 4)]
    by_engine = translator._engine.forward([4, EOS], [EOS], temperature, dropout=0.0).decoder.probabilities[0, 2:]
    assert by_torch == pytest.approx(probabilities, rel=5e-6, abs=0)
    assert by_engine == pytest.approx(probabilities, rel=5e-6, abs=0)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("entropy", [0.0, 0.3])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_gradients_of_tokens_with_weights_equal_finite_differences(architecture, temperature, entropy, dropout):
    config = replace(TINY, architecture=architecture, dropout=dropout)
    translator = tiny_translator(config, dtype=torch.float64)
    translator.model.train()
    sample = Sample(translator.encode_source("rot x hemd"), [9, 5, 7, EOS], "", 0.0, temperature)
    weights = [0.5, -0.2, 0.0, 1.0]

    def loss() -> float:
        torch.manual_seed(7)  # the same mask every time
        return float(translator.loss(sample, weights, entropy=entropy).detach())

    with torch.random.fork_rng():
        torch.manual_seed(7)
        translator.backward(sample, weights, entropy=entropy)
        gradient = translator.parameters.gradient
        assert (gradient != 0).float().mean() > 0.4
        places, slopes = finite_differences(loss, translator.vector, 40)
    assert gradient[places].tolist() == pytest.approx(slopes, abs=1e-6, rel=1e-5)


def all_of_three_tokens() -> list[list[int]]:
    """Return all translations of at most three tokens, an unknown or "a": ended, or cut off after three."""
    ended = [[*words, EOS] for length in range(3) for words in product((UNK, 4), repeat=length)]
    return [*ended, *(list(words) for words in product((UNK, 4), repeat=3))]


@pytest.mark.parametrize("baseline", [0.0, 0.4])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
@pytest.mark.parametrize("by", [*ARCHITECTURES, "engine"])
def test_in_expectation_a_sample_has_the_gradient_of_the_expected_loss(by, temperature, baseline):
    """The expectation is over all translations, by their probabilities; a baseline does not change it."""
    config = replace(TINY, vocabulary="word", architecture="gru" if by == "engine" else by)
    vocabulary, cpu = WordVocabulary(["a"]), torch.device("cpu")
    exact, learning = (
        Translator(config, new_model(config, 5, 5, seed=2).to(dtype), vocabulary, vocabulary, device=cpu)
        for dtype in (torch.float64, torch.float32 if by == "engine" else torch.float64)
    )
    learning.vector.data *= 1.5
    exact.vector.data.copy_(learning.vector.data)
    source, translations = [4, UNK, EOS], all_of_three_tokens()
    rewards = [place * 7 % 15 / 14 for place in range(15)]

    def probabilities() -> list[float]:
        chosen = exact.log_probabilities([source] * 15, translations, temperature)
        return chosen.detach().sum(1).exp().tolist()

    def expected_loss() -> float:
        return -sum(p * reward for p, reward in zip(probabilities(), rewards, strict=True))

    assert sum(probabilities()) == pytest.approx(1.0)
    gradient = torch.zeros(len(exact.vector), dtype=torch.float64)
    for ids, p, reward in zip(translations, probabilities(), rewards, strict=True):
        engine = learning._engine if by == "engine" else None
        trace = engine.forward(source, ids, temperature, dropout=0.0) if engine else None
        learning.zero_gradient()
        learning.backward(Sample(source, ids, "", 0.0, temperature, trace), reward - baseline)
        gradient += p * learning.parameters.gradient
    places, slopes = finite_differences(expected_loss, exact.vector, 40)
    assert max(map(abs, slopes)) > 0.01
    assert gradient[places].tolist() == pytest.approx(slopes, abs=1e-6 if by == "engine" else 1e-9)


def test_a_samples_probability_is_that_of_its_tokens(translator):
    sample = translator.sample("rot hemd", 0.7, np.random.default_rng(4))
    again = log_probability(translator, sample.source_ids, sample.ids, 0.7).item()
    assert sample.log_probability == pytest.approx(again, abs=1e-4)


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_the_text_of_a_sample_has_the_probability_of_its_tokens(translator, temperature):
    sample = translator.sample("rot hemd", temperature, np.random.default_rng(4))
    assert sample.text_log_probability == sample.log_probability < 0


def test_a_text_that_was_not_sampled_has_no_probability(translator):
    assert translator.sample("rot hemd", 1e-9, np.random.default_rng(4)).text_log_probability is None
    fallback = three_token_translator().sample("a b", 1.0, _constant(0.1))
    assert (fallback.ids, fallback.text, fallback.text_log_probability) == ([EOS], "a", None)
    translator.vector.data.zero_()
    translator.model.output_bias.data[UNK] = 9.0  # copies the code until the text is too long
    truncated = translator.sample("rot " + "x7" * 300, 1.0, np.random.default_rng(1))
    assert (len(truncated.text), truncated.text_log_probability) == (6 * 601 - 1, None)


def test_an_entropy_bonus_makes_the_distribution_flatter(translator):
    sample = translator.sample("rot hemd", 1.0, np.random.default_rng(4))

    def entropy() -> float:
        return -float(translator.loss(sample, 0.0, entropy=1.0).detach())

    before = entropy()
    translator.backward(sample, 0.0, entropy=1.0)
    translator.vector.data -= 1e-3 * translator.vector.grad
    assert entropy() > before


def test_a_diverged_model_is_reported(translator):
    translator.vector.data.fill_(float("nan"))
    for answer in (
        lambda: translator.greedy("rot"),
        lambda: translator.sample("rot", 1.0, np.random.default_rng(1)),
        lambda: translator.beam("rot", 1),
        lambda: translator.beam("rot", 12),
    ):
        with pytest.raises(DivergedError, match="diverged"):
            answer()


def test_one_diverged_ensemble_member_is_reported(translator):
    sizes = (translator.source_vocabulary.size, translator.target_vocabulary.size)
    broken = new_model(translator.config, *sizes).eval()
    broken.output_bias.data[7] = float("nan")
    translator.ensemble_members = [broken]
    with pytest.raises(DivergedError, match="diverged"):
        translator.beam("rot", 12)


@pytest.mark.parametrize("config", [TINY, replace(TINY, vocabulary="word", tied=False)], ids=["bpe", "word"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_translator_survives_saving_and_loading(config, architecture, tmp_path):
    translator = tiny_translator(replace(config, architecture=architecture))
    sizes = (translator.source_vocabulary.size, translator.target_vocabulary.size)
    translator.ensemble_members = [new_model(translator.config, *sizes, seed=9).eval()]
    translator.lexicon = {"größe": "size"}
    translator.save(tmp_path / "model")
    again = Translator.load(tmp_path / "model", device=torch.device("cpu"))
    assert torch.equal(again.vector, translator.vector)
    assert again.lexicon == {"größe": "size"}
    assert again.beam("rot hemd", 3) == translator.beam("rot hemd", 3)
    assert again.greedy("rot hemd ☃") == translator.greedy("rot hemd ☃")


class TestForeignFiles:
    """A file that is not a model of this version is refused, with its path and the reason."""

    @pytest.fixture
    def snapshot(self):
        return tiny_translator().snapshot()

    @pytest.fixture
    def path(self, tmp_path):
        return tmp_path / "bnmt.model"

    @pytest.fixture
    def refused(self, path):
        def refuse(snapshot, match):
            snapshot.write(path)
            with pytest.raises(SnapshotError, match=f"{path}: .*{match}"):
                Translator.load(path)

        return refuse

    def test_a_truncated_file(self, path):
        tiny_translator().save(path)
        path.write_bytes(path.read_bytes()[:-10])
        with pytest.raises(SnapshotError, match="damaged or truncated"):
            Translator.load(path)

    def test_a_snapshot_of_something_else(self, refused):
        refused(Snapshot(values={"kind": "learner"}), "not the snapshot of a translator")

    def test_a_configuration_of_another_version(self, snapshot, refused):
        snapshot.values["recipe"]["colour"] = "red"
        refused(snapshot, "another version")

    def test_a_damaged_vocabulary(self, snapshot, refused):
        snapshot.arrays["source_vocabulary"] = snapshot.arrays["source_vocabulary"][:50]
        refused(snapshot, "vocabulary is damaged")

    def test_no_vocabulary(self, snapshot, refused):
        del snapshot.arrays["source_vocabulary"]
        refused(snapshot, "no vocabulary")

    def test_tensors_of_another_size(self, snapshot, refused):
        snapshot.values["recipe"]["decoder"] = 12
        refused(snapshot, "do not fit")

    @pytest.mark.parametrize("embedding", [0, -1, 0.5, 10**30, "wide"])
    def test_impossible_sizes(self, snapshot, refused, embedding):
        snapshot.values["recipe"]["embedding"] = embedding
        refused(snapshot, "the model file does not fit together")

    def test_a_missing_tensor(self, snapshot, refused):
        del snapshot.arrays["model.bridge.bias"]
        refused(snapshot, "do not fit")

    def test_a_missing_value(self, snapshot, refused):
        del snapshot.values["lexicon"]
        refused(snapshot, "has no 'lexicon'")


def test_a_logged_translation_can_be_learned_from_as_a_sample(translator):
    ids, source = translator.encode_target("red shirt"), translator.encode_source("rot hemd")
    sample = Sample(source, ids, "red shirt", 0.0, 1.0)
    translator.backward(sample, 1.0)
    by_torch = translator.vector.grad.clone()
    translator.zero_gradient()
    (-log_probability(translator, source, ids)).backward()
    torch.testing.assert_close(translator.vector.grad, by_torch)
