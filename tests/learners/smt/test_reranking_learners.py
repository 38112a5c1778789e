"""Learners that rerank k-best lists: they leave their seed behind, and know when rewards are not exact."""

import numpy as np
import pytest

from leaderboard.metrics.bleu import sentence_bleu
from learners.credit.exactness import Exactness
from learners.oracles.statistical import FullInformationImputation
from learners.smt.forest import Derivation
from learners.smt.length_drift import LengthDrift
from learners.smt.linear_reranker import LinearConfig
from learners.smt.reranking_learners import (
    ImputationConfig,
    ImputingLearner,
    LinearLearner,
    LinearLearnerConfig,
)
from learners.snapshot import Snapshot
from task.feedback import Granular
from tests.learners import tiny
from tests.learners.rounds import propose, update
from tests.learners.smt.learner_fixtures import imputing, state
from tests.learners.smt.list_translator import ListTranslator

NOUNS = ["rope", "cord", "lamp", "sofa", "tent", "coat"]
COLOURS = ["red", "blue", "green"]
# The seed model prefers the wrong word for one of the colours, and has the right one as its second choice.
PAIRS = [(f"{colour} {noun}", f"a {colour} {noun} .") for noun in NOUNS for colour in COLOURS]


def candidates(reference):
    wrong = reference.replace("red", "rouge")
    texts = list(dict.fromkeys([wrong, reference, f"{reference} .", reference.removesuffix(" .")]))
    return [Derivation(text, np.array([-0.1 * rank])) for rank, text in enumerate(texts)]


def translator():
    return ListTranslator({source: candidates(reference) for source, reference in PAIRS}, weights=np.ones(1))


def new_imputing():
    return imputing(translator=translator())


def new_linear():
    config = LinearLearnerConfig(linear=LinearConfig(buckets=1 << 10, weight_scale=0.1, exploration=0.0))
    return LinearLearner(translator(), config, seed=1)


def play(learner, pairs, see=lambda reward: reward):
    """Play rounds; return the true rewards."""
    rewards = []
    for source, reference in pairs:
        proposed = propose(learner, source)
        rewards.append(sentence_bleu(proposed, reference))
        update(learner, source, proposed, see(rewards[-1]))
    return rewards


@pytest.mark.parametrize("make", [new_imputing, new_linear])
def test_what_is_learned_on_some_sources_holds_for_others(make):
    learner = make()
    rounds = [pair for _ in range(4) for pair in PAIRS[:-3]]
    before = play(learner, PAIRS[-3:])
    play(learner, rounds)
    after = play(learner, PAIRS[-3:])
    assert before[0] < 0.5
    assert after[0] == 1.0


def test_a_source_that_comes_again_is_remembered():
    learner = new_imputing()
    first = play(learner, PAIRS[:1])
    second = play(learner, PAIRS[:1])
    assert first[0] < 0.5
    assert second[0] == 1.0
    assert PAIRS[0][0] in learner.save().values["sources"]


def test_the_oldest_source_is_forgotten_first():
    config = ImputationConfig(memory_size=2, buckets=256, linear=LinearConfig(buckets=256))
    learner = ImputingLearner(translator(), config, seed=1)
    play(learner, [PAIRS[0], PAIRS[1], PAIRS[0], PAIRS[2]])
    assert learner.save().values["sources"] == [PAIRS[0][0], PAIRS[2][0]]


def test_full_information_sees_the_rewards_of_all_candidates():
    pairs = 3 * PAIRS
    config = ImputationConfig(buckets=1 << 10, linear=LinearConfig(buckets=1 << 10))
    learner = FullInformationImputation(translator(), tiny.references(pairs), config, seed=1)
    assert np.mean(play(learner, pairs)[len(PAIRS) :]) == 1.0


def test_exact_rewards_are_resumed_exactly(tmp_path):
    uninterrupted, first, second = new_imputing(), new_imputing(), new_imputing()
    expected = play(uninterrupted, 2 * PAIRS)
    play(first, PAIRS)
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, PAIRS) == expected[len(PAIRS) :]
    assert state(second) == state(uninterrupted)


def test_rounded_rewards_are_noticed_and_the_linear_model_takes_over(capsys):
    learner = new_imputing()
    play(learner, 2 * PAIRS, see=lambda reward: Granular(7).apply(0.9 * reward, 0.5))
    printed = capsys.readouterr().err
    assert printed.count("rewards are rounded, noisy or not sentence BLEU") == 1
    assert "as in SMT-LINEAR" in printed
    scores = learner._linear.scores
    assert learner._exactness.is_lost
    assert propose(learner, "red rope")
    assert learner._list.scores.tolist() == scores(learner._list.words, learner._list.model_scores).tolist()


def test_exact_rewards_give_no_notice(capsys):
    play(new_imputing(), 3 * PAIRS)
    assert capsys.readouterr().err == ""


def test_exactness_needs_evidence_and_can_come_back():
    exactness = Exactness("nothing is learned")
    lost = []
    for decoded in [*30 * [False], *40 * [True]]:
        exactness.observe(decoded)
        lost.append(exactness.is_lost)
    assert lost[28:30] == [False, True]
    assert not lost[-1]


def test_outputs_that_grow_raise_the_alarm_until_they_do_not(capsys):
    drift = LengthDrift()
    lengths = np.array([5, 4, 6])
    alarms = []
    for _ in range(100):
        drift.observe(6, 5)
        alarms.append(drift.alarm)
    assert alarms[98:] == [0, 1]
    assert drift.allowed(lengths).tolist() == [True, True, False]
    assert "outputs are 1.20 times as long as the seed model's in round 100" in capsys.readouterr().err
    for _ in range(100):
        drift.observe(5, 5)
    assert drift.allowed(lengths).all()


def test_outputs_that_shrink_raise_the_alarm_too():
    drift = LengthDrift()
    for _ in range(100):
        drift.observe(4, 5)
    assert drift.alarm == -1
    assert drift.allowed(np.array([5, 4, 6])).tolist() == [True, False, True]


def test_while_the_alarm_is_on_nothing_longer_than_the_seed_is_proposed():
    learner = new_imputing()
    learner._drift = LengthDrift()
    for _ in range(200):
        learner._drift.observe(9, 5)
    for source, reference in PAIRS:
        assert len(propose(learner, source).split()) <= len(reference.split())
