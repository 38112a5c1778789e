"""Networks that learn from post-edits: which tensors move, by which gradient, and what a resume needs."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
import torch

from learners.adaptation.neural import (
    OUTPUT_BIAS,
    AdaptationConfig,
    BiasAdaptation,
    TensorAdaptation,
    full_adaptation,
    top_adaptation,
    top_tensors,
)
from learners.contract import Feedback, Sentence
from learners.errors import LearnerError, SnapshotError
from learners.nmt.configs import MODEL_CONFIGS
from learners.nmt.transformer import TransformerModel
from learners.snapshot import Snapshot
from tests.learners.adaptation.tiny_base import CONFIG, STREAM, base, parameters, show, vector
from tests.learners.nmt.toys import TINY, finite_differences, log_probability

METHODS = {"full": full_adaptation, "top": top_adaptation, "bias": BiasAdaptation}
RATE = AdaptationConfig(learning_rate=0.1)


def hashes(adapted):
    """Return a hash of each tensor."""
    return {
        name: hashlib.sha256(tensor.detach().numpy().tobytes()).hexdigest() for name, tensor in adapted.tensors.items()
    }


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("full", lambda _name: True),
        ("top", lambda name: name.startswith(("encoder.2.", "decoder.1."))),
        ("bias", lambda name: name == OUTPUT_BIAS),
    ],
)
def test_hashes_show_that_the_tensors_of_the_method_move_and_no_others(method, expected):
    adapted = parameters()
    before = hashes(adapted)
    learner = METHODS[method](adapted, RATE)
    learner.update(Sentence("rot hemd"), "x", Feedback(0.1, "red shirt"))
    after = hashes(adapted)
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {name for name in before if expected(name)}


def test_only_the_embeddings_of_tokens_in_the_pair_move():
    adapted = parameters()
    full_adaptation(adapted, RATE).update(Sentence("rot hemd"), "x", Feedback(0.1, "red shirt"))
    tokens = set(adapted.translator.encode_source("rot hemd"))
    moved = adapted.offsets["source_embedding.weight"].any(1).nonzero()[:, 0].tolist()
    assert set(moved) == tokens


def test_the_published_model_has_the_published_shape():
    """Simianer et al. 2019, section 5.1; 789,760 + 1,053,440 parameters adapt in the topmost layers."""
    config = MODEL_CONFIGS["transformer-adaptation"]
    assert (config.layers, config.decoder_layers, config.heads, config.embedding) == (6, 3, 8, 256)
    assert (config.vocabulary_size, config.tied, config.shared_embeddings) == (40_000, False, False)
    model = TransformerModel(config, 10, 10)
    sizes = {name: tensor.numel() for name, tensor in model.named_parameters()}
    top = top_tensors(model, sizes)
    assert sum(sizes[name] for name in top if name.startswith("encoder")) == 789_760
    assert sum(sizes[name] for name in top if name.startswith("decoder")) == 1_053_440


def test_a_step_of_all_parameters_follows_the_slopes_of_finite_differences():
    translator = base(dtype=torch.float64)
    adapted = parameters(dtype=torch.float64)
    source, target = translator.encode_source("rot hemd"), translator.encode_target("red shirt")
    slopes = finite_differences(
        lambda: -log_probability(translator, source, target).item(), translator.vector.data, count=60
    )
    before = np.array(vector(adapted))
    config = AdaptationConfig(learning_rate=1.0, max_updates=1, max_norm=1e9)
    full_adaptation(adapted, config).update(Sentence("rot hemd"), "x", Feedback(0.1, "red shirt"))
    gradient = before - np.array(vector(adapted))
    for index, slope in zip(*slopes, strict=True):
        assert gradient[index] == pytest.approx(slope, abs=1e-6)


def test_the_bias_learns_what_autograd_would_teach_it():
    adapted, reference = parameters(), parameters()
    config = AdaptationConfig(learning_rate=1.0)
    show(BiasAdaptation(adapted, config), STREAM)
    show(TensorAdaptation(reference, config, [OUTPUT_BIAS]), STREAM)
    assert vector(adapted) == pytest.approx(vector(reference), abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_repeated_post_edits_become_the_translation(method):
    """Overfits a single pair, and restores the base model's translation when the offsets are removed."""
    adapted = parameters()
    learner = METHODS[method](adapted, AdaptationConfig(learning_rate=0.3))
    first = learner.propose(Sentence("rot hemd"))
    show(learner, 10 * STREAM[:1])
    loss = -log_probability(adapted.translator, *_encoded(adapted.translator)).item()
    adapted.apply(None)
    assert learner._updates >= 10
    assert loss < -log_probability(adapted.translator, *_encoded(adapted.translator)).item()
    assert adapted.translator.greedy("rot hemd").text == first


def _encoded(translator):
    return translator.encode_source("rot hemd"), translator.encode_target("red shirt")


@pytest.mark.parametrize("method", METHODS)
def test_a_snapshot_resumes_exactly(method, tmp_path):
    whole = METHODS[method](parameters(), RATE)
    show(whole, STREAM)
    interrupted = METHODS[method](parameters(), RATE)
    show(interrupted, STREAM[:2])
    interrupted.save().write(tmp_path / "snapshot")
    resumed = METHODS[method](parameters(), RATE)
    resumed.load(Snapshot.read(tmp_path / "snapshot"))
    show(resumed, STREAM[2:])
    assert vector(resumed._user.activate()) == vector(whole._user.activate())
    assert resumed.save().values == whole.save().values


def test_a_snapshot_of_another_method_or_setting_is_refused():
    snapshot = full_adaptation(parameters(), RATE).save()
    with pytest.raises(SnapshotError, match="is of TensorAdaptation 1, not of BiasAdaptation 1"):
        BiasAdaptation(parameters(), RATE).load(snapshot)
    with pytest.raises(SnapshotError, match="is of the configuration"):
        full_adaptation(parameters(), replace(RATE, max_updates=2)).load(snapshot)


def test_a_phase_without_post_edits_is_refused():
    with pytest.raises(LearnerError, match="learns from post-edits, but the phase shows none"):
        full_adaptation(parameters(), RATE).update(Sentence("rot"), "x", Feedback(0.1))


def test_an_empty_post_edit_teaches_nothing():
    learner = full_adaptation(parameters(), RATE)
    learner.update(Sentence("rot"), "x", Feedback(0.1, " "))
    assert learner.offsets.parameters == 0


def test_a_gru_has_no_topmost_layers():
    with pytest.raises(LearnerError, match="only a Transformer has topmost layers"):
        top_adaptation(parameters(TINY), RATE)


def test_a_gru_adapts_all_its_tensors():
    learner = full_adaptation(parameters(TINY), RATE)
    show(learner, STREAM)
    assert learner.offsets.parameters > 0


def test_a_beam_translates_as_the_translator_does():
    learner = full_adaptation(parameters(), replace(RATE, beam=3))
    assert learner.propose(Sentence("rot hemd")) == base(CONFIG).beam("rot hemd", 3).text
