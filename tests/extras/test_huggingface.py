"""Models of transformers as seed models: what is sampled is what is learned, and every learner resumes exactly."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from learners.contract import Feedback, Sentence, as_proposal
from learners.errors import LearnerError, SettingError
from learners.huggingface import systems
from learners.huggingface.configs import HuggingFaceConfig
from learners.huggingface.loading import load_translator
from learners.huggingface.plain_text import PlainText
from learners.seed_models.store import ModelStore
from learners.snapshot import Snapshot
from learners.systems.registry import find_system
from simulator import cli
from tests.client_sdk.fake_service import KEY, serving
from tests.extras.tiny_huggingface import save_causal, save_encoder_decoder
from tests.simulator.small_task import write_task

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = ["rot seil", "blau", "seil rot blau", "neu decke"]
LEARNERS = ["HF-EL", "HF-REPLAY"]
MODULE = "learners.huggingface.systems"
CONSTANTS = ["STATIC", "BEAM", "SAMPLING", "EXPECTED_LOSS", "SELF_IMITATION"]
SYSTEMS = {getattr(systems, name).name: f"{MODULE}:{name}" for name in CONSTANTS}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return {
        "encoder-decoder": save_encoder_decoder(folder / "encoder-decoder"),
        "causal": save_causal(folder / "causal"),
    }


@pytest.fixture(params=["encoder-decoder", "causal"])
def model(request, folders):
    return folders[request.param]


def translator_of(model, **options):
    return load_translator(HuggingFaceConfig(name=model, max_target_tokens=12, **options), trainable=True)


def test_the_probability_of_a_sample_is_that_of_the_gradient(model):
    translator, rng = translator_of(model), np.random.default_rng(5)
    for temperature in (1.0, 0.5):
        for source in SOURCES:
            sample = translator.sample(source, temperature, rng)
            with torch.no_grad():
                computed = translator.log_probabilities([sample.source_ids], [sample.ids], temperature)
            assert sample.log_probability == pytest.approx(float(computed.sum()), abs=1e-4)
            assert sample.text.strip()


def test_samples_are_drawn_from_the_distribution_of_the_model(model):
    translator, rng = translator_of(model), np.random.default_rng(6)
    with torch.no_grad():
        first = translator._scores([translator._encode("rot")], [[5]], 1.0)[0, 0].exp().numpy()
    drawn = np.bincount([translator.sample("rot", 1.0, rng).ids[0] for _ in range(1_500)], minlength=len(first)) / 1_500
    assert first[0] == 0  # padding
    assert np.abs(drawn - first).max() < 0.05


def test_the_same_random_numbers_give_the_same_sample_and_a_batch_the_same_as_its_parts(model):
    translator = translator_of(model)
    once, again = (translator.sample("rot seil", 1.0, np.random.default_rng(1)) for _ in range(2))
    assert once == again
    samples = [translator.sample(source, 1.0, np.random.default_rng(2)) for source in SOURCES]
    with torch.no_grad():
        together = translator.log_probabilities([one.source_ids for one in samples], [one.ids for one in samples])
        alone = [translator.log_probabilities([one.source_ids], [one.ids]).sum() for one in samples]
    assert together.sum(1).tolist() == pytest.approx([float(one) for one in alone], abs=1e-4)


def test_the_gradient_is_that_of_finite_differences(model):
    translator = translator_of(model)
    sample = translator.sample("rot seil", 0.7, np.random.default_rng(3))
    translator.backward(sample, 2.0, entropy=0.1)
    gradient = translator.vector.grad.clone()

    def loss():
        with torch.no_grad():
            scores = translator._scores([sample.source_ids], [sample.ids], sample.temperature)[0].double()
            chosen = scores[range(len(sample.ids)), sample.ids].sum()
            return float(-2.0 * chosen + 0.1 * torch.nan_to_num(scores.exp() * scores).sum())  # 0 log 0 is 0

    direction = torch.randn(len(gradient), generator=torch.Generator().manual_seed(1))
    step = 1e-3
    with torch.no_grad():
        translator.vector.add_(step * direction)
        above = loss()
        translator.vector.sub_(2 * step * direction)
        below = loss()
    assert float(gradient @ direction) == pytest.approx((above - below) / (2 * step), rel=0.005)


def test_a_beam_of_one_is_greedy_search_and_a_wider_one_is_scored_by_the_model(model):
    translator = translator_of(model)
    for source in SOURCES:
        greedy, narrow, wide = translator.greedy(source), translator.beam(source, 1), translator.beam(source, 4)
        assert (narrow.ids, narrow.text) == (greedy.ids, greedy.text)
        assert narrow.log_probability == pytest.approx(greedy.log_probability, abs=1e-4)
        assert wide.text
        assert np.isfinite(wide.log_probability)


def new_learner(name, model, seed=1, **settings):
    settings = {"model.name": model, "model.max_target_tokens": "12", "optimiser.learning_rate": "0.01", **settings}
    return find_system(SYSTEMS[name]).with_settings(settings).new_learner(ModelStore(Path()), seed)


def play(learner, rounds, reward, start=0):
    rewards = []
    for number in range(start, start + rounds):
        sentence = Sentence(SOURCES[number % len(SOURCES)])
        translation = as_proposal(learner.propose(sentence)).translation
        rewards.append(reward(translation))
        learner.update(sentence, translation, Feedback(rewards[-1]))
    return rewards


def is_red(translation):
    return float("red" in translation.split())


@pytest.mark.parametrize("lora", ["0", "4"])
def test_expected_loss_learns_and_its_control_does_not(lora, model):
    options = {"schedule.temperature": "1", "model.lora_rank": lora}
    learner = new_learner("HF-EL", model, batch="2", **options)
    rewards = play(learner, 160, is_red)
    settings = {"model.name": model, "model.max_target_tokens": "12", "schedule.temperature": "1"}
    control = find_system(SYSTEMS["HF-sampling"]).with_settings(settings).new_learner(ModelStore(Path()), 1)
    assert np.mean(rewards[-40:]) > np.mean(play(control, 60, is_red)) + 0.3


def test_adapters_learn_in_place_of_the_model(model):
    learner = new_learner("HF-EL", model, batch="2", **{"model.lora_rank": "2", "schedule.temperature": "1"})
    before = {name: value.clone() for name, value in learner._translator.model.named_parameters()}
    play(learner, 12, is_red)
    changed = {name for name, value in learner._translator.model.named_parameters() if not value.equal(before[name])}
    assert changed
    assert all("lora_" in name for name in changed)
    assert len(learner._translator.vector) < 0.5 * sum(value.numel() for value in before.values())


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("lora", ["0", "2"])
def test_a_learner_resumes_exactly_in_the_middle_of_a_minibatch(name, lora, folders, tmp_path):
    settings = {"batch": "4", "model.lora_rank": lora}
    whole = new_learner(name, folders["encoder-decoder"], **settings)
    proposals = []

    def reward(translation):
        proposals.append(translation)
        return len(translation) % 7 / 7

    play(whole, 10, reward)
    whole.save().write(tmp_path / "snapshot")
    play(whole, 14, reward, start=10)
    expected = proposals[10:]
    resumed = new_learner(name, folders["encoder-decoder"], **settings)
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    proposals.clear()
    play(resumed, 14, reward, start=10)
    assert proposals == expected
    assert resumed._translator.vector.equal(whole._translator.vector)


def test_a_multilingual_model_starts_with_the_token_of_the_target_language(folders):
    translator = translator_of(folders["encoder-decoder"], first_target_token="<en>")
    assert translator._prefix == [2, 4]
    assert translator.greedy("rot").text
    assert translator.beam("rot", 2).text
    with pytest.raises(LearnerError, match="has no token '<xx>'"):
        translator_of(folders["encoder-decoder"], first_target_token="<xx>")


def test_a_long_source_is_cut_and_a_causal_model_keeps_its_prompt(folders):
    translator = translator_of(folders["causal"], max_source_tokens=6)
    ids = translator._encode("rot " * 20)
    assert (len(ids), translator._tokeniser.decode(ids[-1:])) == (6, "English:")


def test_plain_text_is_joined_and_tokenised():
    plain = PlainText("de", "en")
    assert plain.join("die größe : xl , rot .") == "die größe: xl, rot."
    assert plain.tokenise("The terrier\u2019s Size: XL.") == "the terrier 's size : xl ."


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "no model: --set model.name=FOLDER"),
        ({"model.name": "./nowhere"}, "transformers cannot load the model './nowhere': "),
    ],
)
def test_a_model_that_is_not_there_is_told(settings, complaint, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(LearnerError, match=complaint):
        find_system(SYSTEMS["HF-static"]).with_settings(settings).new_learner(ModelStore(Path()), 1)
    with pytest.raises(SettingError, match=r"prompt must contain \{source\}"):
        find_system(SYSTEMS["HF-static"]).with_settings({"model.prompt": "x"})


def test_a_device_that_is_not_there_is_told(folders):
    for device in ("meteor", "cuda:99"):
        settings = {"model.name": folders["encoder-decoder"], "model.device": device}
        with pytest.raises(LearnerError, match=f"^model.device={device} cannot be used here: "):
            find_system(SYSTEMS["HF-static"]).with_settings(settings).new_learner(ModelStore(Path()), 1)


def test_a_model_plays_by_name_and_other_weights_do_not_resume_its_run(folders, tmp_path, capsys):
    task = str(write_task(tmp_path / "task"))
    places = ["--task", task, "--store", f"sqlite:{tmp_path / 'store'}", "--runs", str(tmp_path / "runs"), "--json"]
    model = folders["encoder-decoder"]
    for name in ("HF-static", "HF-beam", "HF-sampling", *LEARNERS):
        assert cli.run(["play", SYSTEMS[name], "--phase", "mock", "--set", f"model.name={model}", *places]) == 0
        (end,) = json.loads(capsys.readouterr().out)
        assert (end["state"], end["rounds"], end["settings"]) == ("finished", 5, {"model.name": model})
    begun = end["name"]
    other = ["--set", f"model.name={folders['causal']}", "--name", begun]
    assert cli.run(["play", SYSTEMS["HF-REPLAY"], "--phase", "mock", *other, *places]) == 1
    assert "was begun with" in capsys.readouterr().err
    assert replace(find_system(SYSTEMS["HF-EL"])).control == "HF-sampling"


def test_the_example_with_the_sdk_alone_plays(folders, tmp_path):
    with serving(SOURCES) as server:
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / "huggingface_sdk.py"), folders["encoder-decoder"]],
            env={**os.environ, "BANDITMT_URL": server.url, "BANDITMT_API_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("4 rounds, mean reward 0.")
        assert len(server.service.ledger) == 4
