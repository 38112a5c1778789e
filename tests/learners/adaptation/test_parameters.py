"""Offsets of many users beside one base model, and the file that holds them."""

import numpy as np
import pytest

from learners.adaptation.neural import AdaptationConfig, BiasAdaptation, full_adaptation
from learners.adaptation.offsets import Offsets, Table
from learners.adaptation.parameters import AdaptedParameters
from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from tests.learners.adaptation.tiny_base import STREAM, base, parameters, show, vector
from tests.learners.nmt.toys import tiny_translator

RATE = AdaptationConfig(learning_rate=0.1)


def test_offsets_are_removed_bit_for_bit():
    adapted = parameters()
    before = vector(adapted)
    show(full_adaptation(adapted, RATE), STREAM)
    assert vector(adapted) != before
    adapted.apply(None)
    assert vector(adapted) == before


def test_even_negative_zeros_are_restored():
    """Adding an offset of zero would make them positive, and the hash of the base model another one."""
    translator = base()
    translator.model.output_bias.data[:] = -0.0
    adapted = AdaptedParameters(translator)
    before = translator.vector.detach().numpy().tobytes()
    show(full_adaptation(adapted, RATE), STREAM[:1])
    adapted.apply(None)
    assert translator.vector.detach().numpy().tobytes() == before


def test_a_file_of_offsets_restores_the_adapted_model_bit_for_bit(tmp_path):
    adapted, other = parameters(), parameters()
    learner = full_adaptation(adapted, RATE)
    show(learner, STREAM)
    learner.offsets.save(tmp_path / "offsets")
    other.apply(Offsets.load(tmp_path / "offsets"))
    assert vector(other) == vector(adapted)


def test_users_who_share_a_base_model_do_not_disturb_each_other():
    apart = [full_adaptation(parameters(), RATE) for _ in range(3)]
    shared = parameters()
    together = [full_adaptation(shared, RATE) for _ in range(3)]
    streams = [STREAM, STREAM[::-1], STREAM[:1] * 3]
    alone = [show(learner, stream) for learner, stream in zip(apart, streams, strict=True)]
    turns: list[list[str]] = [[], [], []]
    for pair in range(3):
        for user in range(3):
            turns[user] += show(together[user], [streams[user][pair]])
    assert turns == alone
    for one, other in zip(together, apart, strict=True):
        assert vector(one._user.activate()) == vector(other._user.activate())


def test_a_user_who_has_shown_nothing_has_no_offsets():
    shared = parameters()
    first, second = BiasAdaptation(shared, RATE), BiasAdaptation(shared, RATE)
    show(first, STREAM)
    assert second.offsets == Offsets(shared.base)
    assert (second.offsets.nbytes, second.offsets.parameters) == (0, 0)


def test_tables_are_stored_by_row_and_the_size_is_reported():
    adapted = parameters()
    learner = full_adaptation(adapted, RATE)
    show(learner, STREAM[:1])
    offsets = learner.offsets
    rows = len(set(adapted.translator.encode_source("rot hemd")))
    assert offsets.tables["source_embedding.weight"].rows.shape == (rows, 8)
    assert "source_embedding.weight" not in offsets.tensors
    bias = BiasAdaptation(parameters(), RATE)
    show(bias, STREAM[:1])
    assert bias.offsets.nbytes == 4 * adapted.translator.target_vocabulary.size
    assert bias.offsets.parameters == adapted.translator.target_vocabulary.size


def test_offsets_of_another_base_model_are_refused():
    learner = full_adaptation(parameters(), RATE)
    show(learner, STREAM[:1])
    with pytest.raises(SnapshotError, match="another base model"):
        AdaptedParameters(tiny_translator(seed=9)).apply(learner.offsets)


def test_offsets_of_other_shapes_are_refused_and_nothing_changes():
    adapted = parameters()
    before = vector(adapted)
    with pytest.raises(SnapshotError, match="do not have the shapes"):
        adapted.apply(Offsets(adapted.base, {"output_bias": np.ones(3, np.float32)}))
    assert vector(adapted) == before


def test_a_file_of_something_else_is_refused(tmp_path):
    Snapshot(values={"kind": "another"}).write(tmp_path / "file")
    with pytest.raises(SnapshotError, match="not a file of offsets"):
        Offsets.load(tmp_path / "file")
    whole = Offsets("x", tables={"a": Table(np.array([1]), np.ones((1, 2)))}).snapshot()
    del whole.arrays["table/a/rows"]
    whole.write(tmp_path / "file")
    with pytest.raises(SnapshotError, match="lacks a part of the offsets"):
        Offsets.load(tmp_path / "file")
