"""ADAPT-fixed: the choice of tensors on a development stream."""

from dataclasses import replace

import pytest

from learners.adaptation.fixed import BUDGET_SHARE, SOURCE_EMBEDDING, FixedChoice, choose_tensors, fixed_adaptation
from learners.adaptation.neural import OUTPUT_BIAS, AdaptationConfig
from learners.errors import LearnerError, SnapshotError
from learners.snapshot import Snapshot
from tests.learners.adaptation.tiny_base import STREAM, base, parameters, show

RATE = AdaptationConfig(learning_rate=0.1)


def test_the_choice_is_a_function_of_the_stream_and_leaves_the_base_model_as_it_was():
    translator = base()
    before = translator.vector.detach().tolist()
    choice = choose_tensors(translator, STREAM, RATE)
    assert choice == choose_tensors(base(), STREAM, RATE)
    assert translator.vector.detach().tolist() == before


def test_the_choice_stays_within_its_budget_and_has_no_embeddings():
    adapted = parameters()
    choice = choose_tensors(base(), STREAM, RATE)
    outside = [name for name in adapted.tensors if name not in adapted.tables]
    assert choice.budget == int(BUDGET_SHARE * sum(adapted.tensors[name].numel() for name in outside))
    assert 0 < sum(adapted.tensors[name].numel() for name in choice.tensors) <= choice.budget
    assert set(choice.tensors) < set(outside)
    assert choice.pairs == 3


def test_only_the_chosen_tensors_and_source_embeddings_move():
    adapted = parameters()
    choice = FixedChoice(adapted.base, ("encoder_norm.weight", OUTPUT_BIAS), 100, 3)
    learner = fixed_adaptation(adapted, choice, RATE)
    show(learner, STREAM)
    assert set(learner.offsets.tensors) == {"encoder_norm.weight", OUTPUT_BIAS}
    assert set(learner.offsets.tables) == {SOURCE_EMBEDDING}


def test_a_choice_for_another_base_model_is_refused():
    choice = choose_tensors(base(), STREAM, RATE)
    with pytest.raises(LearnerError, match="chosen for another base model"):
        fixed_adaptation(parameters(), replace(choice, base="another"), RATE)


def test_the_choice_is_kept_in_a_file(tmp_path):
    choice = choose_tensors(base(), STREAM, RATE)
    choice.save(tmp_path / "choice")
    assert FixedChoice.load(tmp_path / "choice") == choice
    Snapshot().write(tmp_path / "choice")
    with pytest.raises(SnapshotError, match="does not hold a choice of tensors"):
        FixedChoice.load(tmp_path / "choice")
