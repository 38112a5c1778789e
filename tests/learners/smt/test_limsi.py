"""The LIMSI systems: which arm plays, and what a reward teaches."""

import numpy as np
import pytest

from learners.contract import Proposal, Sentence
from learners.errors import SnapshotError
from learners.smt.limsi import LimsiConfig, LimsiLearner, LimsiVariant
from learners.smt.static_log_linear import StaticLogLinear
from tests.learners.rounds import propose, sample_with_probability, update
from tests.learners.smt.learner_fixtures import SOURCES, limsi, play, random_translator, state
from tests.learners.smt.list_translator import CANDIDATE_WEIGHTS, ListTranslator, random_lists


def test_the_first_two_rounds_of_ucb1_play_one_arm_each():
    learner = limsi(LimsiVariant.UCB1)()
    forest = random_translator().forest("s0", CANDIDATE_WEIGHTS)
    assert propose(learner, "s0") == forest.best(CANDIDATE_WEIGHTS).translation
    update(learner, "s0", "", 0.5)
    predicting = learner._regression.weights[:-1]
    assert propose(learner, "s0") == forest.best(predicting).translation


def test_the_adapted_system_equals_the_seed_while_there_is_nothing_to_predict_from():
    learner = limsi(LimsiVariant.UCB1)()
    propose(learner, "s0")
    update(learner, "s0", "", 0.0)
    best = random_translator().forest("s1", CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS)
    assert propose(learner, "s1") == best.translation


def test_select_uses_a_round_for_the_regression_or_for_the_bandit():
    learner = limsi(LimsiVariant.SELECT)()
    before = state(learner)[1]
    changed = []
    for source in SOURCES[:4]:
        play(learner, [source])
        after = state(learner)[1]
        changed.append({name.partition("/")[0] for name in after if after[name] != before[name]})
        before = after
    assert changed == [{"regression"}, {"choice"}, {"regression"}, {"choice"}]


def test_sampling_ucb1_knows_the_probability_of_its_translation():
    learner = limsi(LimsiVariant.SAMPLING)()
    play(learner, SOURCES[:5])
    probabilities = learner._bandit.probabilities()
    seen = set()
    for source in SOURCES[:9]:
        forest = random_translator().forest(source, CANDIDATE_WEIGHTS)
        seed, adapted = (
            forest.best(weights).translation for weights in (CANDIDATE_WEIGHTS, learner._regression.weights[:-1])
        )
        expected = {seed: 1.0} if seed == adapted else dict(zip((seed, adapted), probabilities, strict=True))
        for _ in range(20):
            text, probability = sample_with_probability(learner, source)
            assert probability == pytest.approx(expected[text])
            seen.add(probability)
    assert len(seen) == 3  # both arms, and the two together


def test_a_round_in_which_the_arm_is_not_sampled_has_no_probability():
    for variant in LimsiVariant:
        learner = limsi(variant)()
        kinds = []
        for source in SOURCES[:5]:
            kinds.append(type(learner.propose(Sentence(source))))
            update(learner, source, "", 0.5)
        sampled = [Proposal] * 3 if variant is LimsiVariant.SAMPLING else [str] * 3
        assert kinds == [str, str, *sampled]  # first, each arm is played once


def test_limsi_beats_a_seed_system_with_wrong_weights():
    translator = ListTranslator(random_lists([f"s{number}" for number in range(40)]))
    rewarded = np.array([-1.0, 0.5, 0.0])  # nearly the opposite of the seed's weights
    features = {one.translation: one.features for each in translator.lists.values() for one in each}
    rewards: dict[str, list[float]] = {"seed": [], "learner": []}
    systems = {"seed": StaticLogLinear(translator), "learner": LimsiLearner(translator, LimsiConfig(), seed=1)}
    for number in range(400):
        source = f"s{number % 40}"
        for name, system in systems.items():
            translation = propose(system, source)
            rewards[name].append(float(np.clip(0.5 + 0.2 * rewarded @ features[translation], 0, 1)))
            update(system, source, translation, rewards[name][-1])
    assert np.mean(rewards["seed"]) < 0.5
    assert np.mean(rewards["learner"]) > 0.6


def test_a_snapshot_of_another_variant_is_an_error():
    with pytest.raises(SnapshotError, match=r"of LIMSI 1 UCB1, not of LIMSI 1 UCB1-select"):
        limsi(LimsiVariant.SELECT)().load(limsi(LimsiVariant.UCB1)().save())
