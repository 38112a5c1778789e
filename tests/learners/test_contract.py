"""The contract: default saving and loading, and texts within the service's limit."""

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.service import check_translation
from learners.contract import Learner, truncate_to_limit
from learners.errors import SnapshotError
from learners.snapshot import Snapshot
from task.limits import MAX_TRANSLATION_CHARACTERS
from tests.learners.rounds import propose, update


def test_a_text_is_truncated_after_the_last_word_within_the_limit():
    words = "seil " * 800  # 4,000 characters with the last space
    assert truncate_to_limit(words + "x") == words[:-1]
    assert truncate_to_limit(words[:-1] + "e rot") == words[:-1] + "e"
    assert truncate_to_limit(words[:-1] + "es rot") == words[:-6]
    assert truncate_to_limit("x" * 4_001) == "x" * 4_000  # a single word
    assert truncate_to_limit("x" * 4_000) == "x" * MAX_TRANSLATION_CHARACTERS


@given(st.lists(st.tuples(st.sampled_from("a𝄞"), st.integers(1, 3_000)), min_size=1, max_size=5))
def test_the_service_accepts_every_truncated_text(words):
    text = " ".join(letter * count for letter, count in words)
    check_translation(truncate_to_limit(text))
    assert text.startswith(truncate_to_limit(text))


class Guesser(Learner):
    """A learner of two methods."""

    def __init__(self, seed=1):
        self.rng = random.Random(seed)
        self.numpy_rng = np.random.default_rng(seed)
        self.weights = np.zeros(3)
        self.rounds = 0
        self.rewards: dict[tuple[str, str], list[float]] = {}

    def propose(self, sentence):
        return f"{sentence.source} {self.rng.random() + self.numpy_rng.random() + self.weights.sum()}"

    def update(self, sentence, translation, feedback):
        self.rounds += 1
        self.rewards.setdefault((sentence.source, translation), []).append(feedback.reward)
        self.weights[self.rounds % 3] += feedback.reward


def continuation(learner):
    """Return what a learner proposes in three further rounds."""
    proposals = []
    for number in range(3):
        proposals.append(propose(learner, f"satz {number}"))
        update(learner, f"satz {number}", proposals[-1], 0.25)
    return proposals


def test_by_default_all_attributes_are_saved_and_loaded():
    learner, other = Guesser(), Guesser(seed=2)
    continuation(learner)
    saved = learner.save()
    expected = continuation(learner)
    for _ in range(2):  # a snapshot does not change when the learner does
        other.load(saved)
        assert (other.rounds, len(other.rewards)) == (3, 3)
        assert continuation(other) == expected


def test_loading_removes_attributes_that_the_snapshot_does_not_have():
    learner, saved = Guesser(), Guesser().save()
    learner.late = 5  # type: ignore[attr-defined]
    learner.load(saved)
    assert not hasattr(learner, "late")


def test_attributes_in_slots_are_saved_too():
    @dataclass(slots=True)
    class Slotted(Guesser):
        counts: dict[str, int] = field(default_factory=dict)

    learner, other = Slotted({"a": 1}), Slotted()
    other.load(learner.save())
    assert other.counts == {"a": 1}


def test_an_attribute_that_cannot_be_saved_is_named_with_what_to_do():
    learner = Guesser()
    learner.service = object()  # type: ignore[attr-defined]
    with pytest.raises(SnapshotError) as refused:
        learner.save()
    assert str(refused.value) == (
        "Guesser.service is a builtins.object, which a snapshot cannot hold: keep plain values (numbers, text, lists, "
        "dicts, numpy arrays, torch tensors, random generators), or define save and load"
    )


def test_two_attributes_that_are_one_object_are_refused():
    learner = Guesser()
    learner.spare = learner.rng  # type: ignore[attr-defined]
    complaint = r"^Guesser\.spare and Guesser\.rng are one object, or share memory: copy one of them$"
    with pytest.raises(SnapshotError, match=complaint):
        learner.save()


def test_a_snapshot_of_another_learner_is_refused():
    with pytest.raises(SnapshotError, match=r"^the snapshot has no attributes of a Guesser: another learner saved it$"):
        Guesser().load(Snapshot(values={"weights": [1.0]}))
