"""Contrastive sets of dialogues: balanced by construction, of held-out words, in the published format."""

import hashlib
from collections import Counter, defaultdict

import pytest

from corpora.dialogue import lexicon
from corpora.dialogue.generator import DialogueGenerator
from leaderboard.metrics.contrastive import chance_accuracy, judge_groups, parse_group


@pytest.fixture(scope="module")
def sets():
    return {
        name: [parse_group(group) for group in groups]
        for name, groups in DialogueGenerator(1).contrastive_sets().items()
    }


def without_context(groups):
    """The losses of a scorer that sees only the last source sentence and the candidate."""
    return [
        int.from_bytes(hashlib.sha256(f"{group.sources[-1]}|{text}".encode()).digest()[:6])
        for group in groups
        for text in group.candidates
    ]


def test_the_sets_have_the_published_names_and_sizes(sets):
    sizes = {"deixis_dev": 500, "deixis_test": 2_500, "lex_cohesion_dev": 500, "lex_cohesion_test": 1_500}
    for name, size in {**sizes, "ellipsis_infl": 500, "ellipsis_vp": 500}.items():
        assert size <= len(sets[name]) < size + 5


@pytest.mark.parametrize("name", ["deixis_dev", "deixis_test"])
def test_without_context_deixis_is_exactly_50_at_every_distance(sets, name):
    for distance in (1, 2, 3):
        groups = [group for group in sets[name] if group.distance == distance]
        assert 100 * sum(judge_groups(groups, without_context(groups))) / len(groups) == 50.0


def test_without_context_every_set_is_exactly_at_its_chance(sets):
    for name, groups in sets.items():
        right = 100 * sum(judge_groups(groups, without_context(groups))) / len(groups)
        assert right == pytest.approx(chance_accuracy(groups)), name


def test_candidates_differ_only_in_what_the_context_decides(sets):
    assert {len(group.candidates) for group in sets["deixis_test"]} == {2}
    assert {len(group.candidates) for group in sets["ellipsis_vp"]} == {5}
    for group in sets["ellipsis_vp"]:
        words = [text.split() for text in group.candidates]
        assert len({len(each) for each in words}) == 1
        assert sum(len(set(column)) > 1 for column in zip(*words, strict=True)) == 1


def test_the_true_candidate_repeats_the_context(sets):
    for group in sets["lex_cohesion_test"]:
        context = set(" ".join(group.context).split())
        shared = [len(context & set(text.split())) for text in group.candidates]
        assert shared[group.true_index] >= max(shared) - 1  # "paul" and "paulus" share no word; articles may


def test_a_name_is_not_mentioned_twice_in_the_same_line(sets):
    assert all(group.sources[-1] not in group.sources[:-1] for group in sets["lex_cohesion_test"])


def test_the_true_candidate_is_at_any_place(sets):
    for groups in sets.values():
        places = Counter(group.true_index for group in groups)
        assert min(places[0], places[1]) > 0.15 * len(groups)


def test_distances_take_turns(sets):
    counts = Counter(group.distance for group in sets["deixis_test"])
    assert max(counts.values()) - min(counts.values()) <= 2


def test_the_tested_words_are_held_out(sets):
    held_out = lexicon.load().part(held_out=True)
    names = {each.english for each in (*held_out.people, *held_out.places)}
    for group in sets["lex_cohesion_test"]:
        assert any(name in group.sources[-1] for name in names)
    people = {each.english.singular for each in held_out.nouns["person"]}
    for group in sets["ellipsis_infl"]:
        assert people & set(group.sources[-1].split())


def test_no_source_is_in_two_sets_or_in_two_families(sets):
    seen = defaultdict(set)
    for name, groups in sets.items():
        for group in groups:
            seen[group.sources].add(name)
    assert all(len(names) == 1 for names in seen.values())
