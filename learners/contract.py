"""The contract of every system: it proposes a translation, receives feedback, and can be saved.

A learner is deterministic: the same snapshot and the same calls give the same proposals. That makes an exact resume
possible, wherever a process is killed. Whatever a learner draws at random comes from generators in its attributes.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from learners.errors import RewardError, SnapshotError
from learners.snapshot import Snapshot
from learners.value_encoding import Encoder
from task.limits import MAX_TRANSLATION_CHARACTERS

PLACEHOLDER = "-"  # the translation of an empty source: the service takes no empty translation


def truncate_to_limit(text: str) -> str:
    """Return a text, truncated after the last word within the service's limit.

    The service would refuse a longer translation, and a resumed learner would propose it again and again.
    """
    if len(text) <= MAX_TRANSLATION_CHARACTERS:
        return text
    return text[: MAX_TRANSLATION_CHARACTERS + 1].rpartition(" ")[0] or text[:MAX_TRANSLATION_CHARACTERS]


def check_reward(reward: float, name: str = "a reward") -> float:
    """Return a reward; raise RewardError, with the reward's ``name``, if it is not between 0 and 1."""
    if not (math.isfinite(reward) and 0 <= reward <= 1):
        raise RewardError(f"{name} is a number between 0 and 1, but got {reward}")
    return reward


@dataclass(frozen=True, slots=True)
class Sentence:
    """A source sentence to translate.

    Attributes:
        source: The tokenised text.
        document: An opaque id, the same for all sentences of a document; None where the task has no documents. The
            sentences of a document come together and in order.
        position: The number of sentences before this one in its document; None where the task has no documents.
    """

    source: str
    document: str | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A translation, and the probability with which it was sampled.

    Attributes:
        translation: The text: never empty and within the service's limit.
        log_probability: The natural logarithm of the probability with which the learner sampled this translation, under
            the distribution that it sampled from (temperature included). None if nothing was sampled, or if the
            probability is not known. It is logged with the round: offline learning needs it, and no later computation
            recovers it.
    """

    translation: str
    log_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """What a learner receives for a translation.

    Attributes:
        reward: The score of the translation, from 0 to 1.
        post_edit: The corrected translation, in phases that give post-edits; else None.
    """

    reward: float
    post_edit: str | None = None


def as_proposal(proposed: str | Proposal) -> Proposal:
    """Return what ``propose`` returned as a Proposal; its log-probability may be a number of numpy or torch."""
    if not isinstance(proposed, Proposal):
        return Proposal(proposed)
    log_probability = proposed.log_probability
    return Proposal(proposed.translation, None if log_probability is None else float(log_probability))


class Learner(ABC):
    """A translation system that may learn from feedback.

    A subclass defines ``propose`` and ``update``. ``save`` and ``load`` work for learners whose attributes are ordinary
    values: numbers, text, lists, tuples, sets, dicts, numpy arrays, torch tensors, ``random.Random`` and numpy
    generators, nested in any way. A learner with other attributes, such as a network, defines them, too.
    """

    @abstractmethod
    def propose(self, sentence: Sentence) -> str | Proposal:
        """Propose a translation.

        Args:
            sentence: The source sentence, and its place in its document where the task has documents.

        Returns:
            One translation, never empty and within the service's limit; as a Proposal if it was sampled with a known
            probability.
        """

    @abstractmethod
    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        """Learn from the feedback on the last proposal.

        Args:
            sentence: The source sentence.
            translation: What ``propose`` returned for it, as text.
            feedback: The reward, and the post-edit in phases that give post-edits.
        """

    def measurements(self) -> Mapping[str, float]:
        """Return numbers worth watching, by name, as of the last update; NaN for one that is not known yet.

        By default there are none. They are shown by trackers, and change nothing.
        """
        return {}

    def save(self) -> Snapshot:
        """Return everything that ``load`` needs to resume exactly here: model, optimiser, baselines, random state.

        By default these are all attributes. It is called between two rounds: after ``update``, before ``propose``.

        Returns:
            A snapshot that does not change when the learner does.

        Raises:
            SnapshotError: The default cannot store an attribute; the message names it and says what to do.
        """
        attributes, encoder = _attributes(self), Encoder()
        for name, value in attributes.items():
            encoder.encode(value, f"{type(self).__name__}.{name}")  # raises an error that names the attribute
        return Snapshot(values={"attributes": deepcopy(attributes)})

    def load(self, snapshot: Snapshot) -> None:
        """Return to the state in which ``save`` was called.

        Args:
            snapshot: What ``save`` of a learner of the same class returned.

        Raises:
            SnapshotError: The snapshot is of another kind of learner.
        """
        if "attributes" not in snapshot.values:
            raise SnapshotError(f"the snapshot has no attributes of a {type(self).__name__}: another learner saved it")
        for name in _attributes(self):
            object.__delattr__(self, name)
        for name, value in deepcopy(snapshot.values["attributes"]).items():
            object.__setattr__(self, name, value)


def _attributes(learner: Learner) -> dict[str, Any]:
    """Return all attributes of a learner, those in ``__slots__`` included."""
    state = object.__getstate__(learner)
    parts = state if isinstance(state, tuple) else (state,)
    return {name: value for part in parts if part for name, value in part.items()}


class StaticSystem(Learner):
    """A system that never learns, so that there is nothing to save."""

    def update(self, sentence: Sentence, translation: str, feedback: Feedback) -> None:
        """Ignore the feedback."""

    def save(self) -> Snapshot:
        """Return an empty snapshot."""
        return Snapshot()

    def load(self, snapshot: Snapshot) -> None:
        """Do nothing: there is no state to return to."""
