"""Contrastive evaluation: which groups count as right, the published format, and exact constants of balanced sets."""

import hashlib
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.metrics.contrastive import (
    ContrastiveError,
    ContrastiveGroup,
    chance_accuracy,
    join_sentences,
    judge_groups,
    parse_group,
    split_sentences,
)


def group(candidates, true_index, distance=1, sources=("a", "b")):
    context = tuple(f"ctx {number}" for number in range(len(sources) - 1))
    return ContrastiveGroup(tuple(sources), context, tuple(candidates), true_index, distance)


def balanced_groups(count, distance):
    """Two groups for each source: each of the two candidates agrees with the context of one of them."""
    groups = []
    for number in range(count):
        sources = (f"context {number} {distance}", f"current {number} {distance}")
        for true_index in (0, 1):
            context = ("polite" if true_index else "familiar",)
            groups.append(ContrastiveGroup(sources, context, (f"du {number}", f"Sie {number}"), true_index, distance))
    return groups


def hashed_losses(groups, *, with_context=False):
    """Losses that depend on the candidate alone, or also on its context, and look random."""
    return [
        int.from_bytes(hashlib.sha256(repr((g.sources[-1], text, g.context * with_context)).encode()).digest()[:6])
        for g in groups
        for text in g.candidates
    ]


def test_a_tie_is_not_a_preference():
    groups = [group("ab", 0, 1), group("ab", 0, 2), group("abc", 1, 3), group("ab", 0, 1)]
    losses = [10, 12, 11, 11, 9.5, 9.0, 9.9, 7, 6]
    assert judge_groups(groups, losses) == [True, False, True, False]  # 0.50; the first of the lowest would give 0.75


def test_a_constant_scorer_is_never_right():
    groups = [group("ab", 0), group("abc", 0)]
    assert judge_groups(groups, [1.0] * 5) == [False, False]


def test_duplicates_of_the_true_candidate_do_not_count_against_it():
    repeated = group(["ja", "ja", "nein"], 0)
    assert repeated.is_right([1.0, 1.0, 2.0])
    assert not repeated.is_right([2.0, 2.0, 1.0])
    assert repeated.chance == 0.5


def test_a_constant_for_the_context_changes_nothing():
    groups = [group("abc", 1), group("ab", 0)]
    losses = [3.0, 2.0, 4.0, 1.0, 5.0]
    shifted = [3.0 + 7, 2.0 + 7, 4.0 + 7, 1.0 + 90, 5.0 + 90]
    assert judge_groups(groups, losses) == judge_groups(groups, shifted) == [True, True]


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_a_random_scorer_without_context_gets_exactly_half_of_a_balanced_set(distance):
    groups = balanced_groups(400, distance)
    assert 100 * sum(judge_groups(groups, hashed_losses(groups))) / len(groups) == 50.0


def test_a_random_scorer_with_context_does_not():
    groups = balanced_groups(400, 1)
    right = judge_groups(groups, hashed_losses(groups, with_context=True))
    assert sum(right) != 400
    pairs = {right[place] + right[place + 1] for place in range(0, len(right), 2)}
    assert pairs == {0, 1, 2}  # without context, always exactly 1


@given(st.integers(2, 5), st.randoms(use_true_random=False))
def test_with_every_candidate_true_once_any_scorer_without_context_gets_its_chance(count, rng: random.Random):
    candidates = [f"name {number}" for number in range(count)]
    groups = [group(candidates, true_index) for true_index in range(count)]
    losses = rng.sample(range(100), count) * count
    assert sum(judge_groups(groups, losses)) == 1
    assert 100 / count == pytest.approx(chance_accuracy(groups))


def test_the_published_format():
    values: dict[str, Any] = {
        "src": "Who is it ? _eos It is me . _eos You know me .",
        "dst": ["Wer ist da ? _eos Ich . _eos Du kennst mich .", "Wer ist da ? _eos Ich . _eos Sie kennen mich ."],
        "true_ind": 0,
        "ctx_dist": 2,
    }
    read = parse_group(values)
    assert read == ContrastiveGroup(
        ("Who is it ?", "It is me .", "You know me ."),
        ("Wer ist da ?", "Ich ."),
        ("Du kennst mich .", "Sie kennen mich ."),
        0,
        2,
    )
    assert read.as_dict() == values
    assert read.lines()[1] == (values["src"], values["dst"][1])


def test_sentences_are_split_at_the_separator_alone():
    assert split_sentences("a b _eos c d _eos e") == ("a b", "c d", "e")
    assert split_sentences("my_eos _eos") == ("my_eos", "")
    assert join_sentences(["a b", "c"]) == "a b _eos c"


VALID = {"src": "a _eos b", "dst": ["x _eos y", "x _eos z"], "true_ind": 0, "ctx_dist": 1}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"src": None}, 'a group is an object with "src"'),
        ({"dst": "x _eos y"}, 'a group is an object with "src"'),
        ({"true_ind": True}, 'a group is an object with "src"'),
        ({"dst": []}, "dst has no targets"),
        ({"dst": ["x _eos y", 3]}, "dst has no targets, or one that is not a text"),
        ({"true_ind": 2}, "true_ind is 2, but the targets are numbered 0 to 1"),
        ({"true_ind": -1}, "true_ind is -1"),
        ({"ctx_dist": 0}, "ctx_dist is the number of a sentence before the last, but got 0"),
        ({"src": "b"}, "the source has 1 sentences, but the targets have 2"),
        ({"dst": ["x _eos y", "w _eos z"]}, "the targets differ before their last sentence"),
        ({"dst": ["x _eos y", "x _eos"]}, "a target has nothing after its last _eos"),
        ({"dst": ["x _eos y", "x _eos  y "]}, "all targets are equal"),
    ],
)
def test_wrong_groups_are_refused(change, message):
    with pytest.raises(ContrastiveError, match="^" + message.replace("(", r"\(")):
        parse_group({**VALID, **change})


def test_a_group_without_a_distance():
    assert parse_group({**VALID, "ctx_dist": None}).distance is None


def test_losses_that_do_not_fit_are_refused():
    groups = [parse_group(VALID)]
    with pytest.raises(ContrastiveError, match="there are 1 scores, but the groups have 2 candidates"):
        judge_groups(groups, [1.0])
    with pytest.raises(ContrastiveError, match="score 2 is nan"):
        judge_groups(groups, [1.0, float("nan")])
