"""Contrastive evaluation: whether a model prefers the translation that agrees with its context.

A group has a source of several sentences and some candidates for the translation of the last one. Each candidate is a
good translation by itself, but only one agrees with the context (Voita et al. 2019, section 3). A model scores all
candidates, and is right if it gives the true one a strictly lower loss than every other.

The rule is stricter than that of the published script, which takes the first of the lowest losses: there, the true
candidate is the first one of most groups, so that a model without any preference would be always right.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SENTENCE_SEPARATOR = "_eos"  # between the sentences of a group, a token of its own
SIGNATURE = "contrastive|prefer:strict|duplicates:dropped|loss:sum|v:1"


class ContrastiveError(ValueError):
    """A group that cannot be evaluated, or scores that do not belong to the groups."""


@dataclass(frozen=True, slots=True)
class ContrastiveGroup:
    """Candidates for the translation of one sentence in its context."""

    sources: tuple[str, ...]  # the context, oldest first, and the sentence itself
    context: tuple[str, ...]  # the translations of the context
    candidates: tuple[str, ...]  # for the last sentence
    true_index: int
    distance: int | None = None  # of the latest sentence that decides; 1 is the one before. None if not known

    def __post_init__(self) -> None:
        if len(self.sources) != len(self.context) + 1:
            raise ContrastiveError(
                f"the source has {len(self.sources)} sentences, but the targets have {len(self.context) + 1}"
            )
        if not 0 <= self.true_index < len(self.candidates):
            raise ContrastiveError(
                f"true_ind is {self.true_index}, but the targets are numbered 0 to {len(self.candidates) - 1}"
            )
        if len(set(self.candidates)) < 2:
            raise ContrastiveError("all targets are equal: there is nothing to prefer")

    @property
    def chance(self) -> float:
        """The probability that a random preference among the distinct candidates is right."""
        return 1 / len(set(self.candidates))

    def is_right(self, losses: Sequence[float]) -> bool:
        """Return whether the true candidate has a lower loss than every candidate with another text."""
        true = self.candidates[self.true_index]
        others = [loss for loss, text in zip(losses, self.candidates, strict=True) if text != true]
        return losses[self.true_index] < min(others)

    def lines(self) -> list[tuple[str, str]]:
        """Return the source and the target of each candidate, as lines whose sentences are joined by the separator."""
        source = join_sentences(self.sources)
        return [(source, join_sentences((*self.context, candidate))) for candidate in self.candidates]

    def as_dict(self) -> dict[str, Any]:
        """Return the group in the published format."""
        return {
            "src": join_sentences(self.sources),
            "dst": [target for _, target in self.lines()],
            "true_ind": self.true_index,
            "ctx_dist": self.distance,
        }


def join_sentences(sentences: Sequence[str]) -> str:
    """Join sentences to one line."""
    return f" {SENTENCE_SEPARATOR} ".join(sentences)


def split_sentences(line: str) -> tuple[str, ...]:
    """Split a line into its sentences, each without white space around it."""
    sentences, current = [], list[str]()
    for token in line.split():
        if token == SENTENCE_SEPARATOR:
            sentences.append(" ".join(current))
            current = []
        else:
            current.append(token)
    return (*sentences, " ".join(current))


def parse_group(values: Mapping[str, Any]) -> ContrastiveGroup:
    """Read a group in the published format: ``src``, ``dst``, ``true_ind`` and perhaps ``ctx_dist``.

    Raises:
        ContrastiveError: A field is missing or has another type, or the targets do not fit the source or each other.
    """
    match values:
        case {"src": str(source), "dst": [*targets], "true_ind": int(true_index)} if not isinstance(true_index, bool):
            pass
        case _:
            raise ContrastiveError('a group is an object with "src" (text), "dst" (a list of texts) and "true_ind"')
    distance = values.get("ctx_dist")
    if distance is not None and (not isinstance(distance, int) or isinstance(distance, bool) or distance < 1):
        raise ContrastiveError(f"ctx_dist is the number of a sentence before the last, but got {distance!r}")
    if not targets or not all(isinstance(target, str) for target in targets):
        raise ContrastiveError("dst has no targets, or one that is not a text")
    split = [split_sentences(target) for target in targets]
    contexts = {sentences[:-1] for sentences in split}
    if len(contexts) > 1:
        raise ContrastiveError("the targets differ before their last sentence: only the last one is compared")
    candidates = tuple(sentences[-1] for sentences in split)
    if not all(candidates):
        raise ContrastiveError(f"a target has nothing after its last {SENTENCE_SEPARATOR}")
    return ContrastiveGroup(split_sentences(source), contexts.pop(), candidates, true_index, distance)


def judge_groups(groups: Sequence[ContrastiveGroup], losses: Sequence[float]) -> list[bool]:
    """Return which groups a model gets right.

    Args:
        groups: The groups of a test set.
        losses: The model's loss for each candidate, group after group. It is a sum over tokens, not a mean: a mean
            would also depend on how many tokens a candidate has.

    Raises:
        ContrastiveError: There is not one finite loss for each candidate.
    """
    expected = sum(len(group.candidates) for group in groups)
    if len(losses) != expected:
        raise ContrastiveError(f"there are {len(losses):,} scores, but the groups have {expected:,} candidates")
    for number, loss in enumerate(losses, start=1):
        if not math.isfinite(loss):
            raise ContrastiveError(f"score {number:,} is {loss}: every candidate needs a finite score")
    right, start = [], 0
    for group in groups:
        end = start + len(group.candidates)
        right.append(group.is_right(losses[start:end]))
        start = end
    return right


def chance_accuracy(groups: Sequence[ContrastiveGroup]) -> float:
    """Return the expected accuracy of random preferences, in percent."""
    return 100 * math.fsum(group.chance for group in groups) / len(groups)
