"""Tokens get their own advantage from decoded rewards."""

from dataclasses import replace

import numpy as np
import pytest

from leaderboard.metrics.bleu import sentence_bleu
from learners.bandit.control_variates import NoControlVariate
from learners.bandit.token_credit import (
    NO_WORD,
    SourceWordValues,
    TokenCreditConfig,
    TokenCreditLearner,
    aligned_source_words,
    neighbour_means,
    number_words,
)
from learners.credit.word_critic import WordCritic, WordEvidence
from learners.errors import SettingError
from learners.nmt.vocabulary import EOS
from learners.snapshot import Snapshot
from learners.systems.bnmt import IMPUTE
from tests.learners import tiny
from tests.learners.rounds import propose, update

CONFIG = replace(IMPUTE, batch=2, replay_batch=2)


def learner(config=CONFIG, seed=1):
    return TokenCreditLearner(tiny.translator(), config, NoControlVariate(), seed=seed)


def play(one, pairs, see=lambda reward: reward):
    proposed = []
    for source, reference in pairs:
        proposed.append(propose(one, source))
        update(one, source, proposed[-1], see(sentence_bleu(proposed[-1], reference)))
    return proposed


def evidence(*words):
    return [WordEvidence(word, f"s{word}", -0.5, is_copied=False, is_repeated=False) for word in words]


def test_tokens_belong_to_the_words_of_the_text():
    translator = tiny.translator()
    for source, _ in tiny.sentences(20, seed=4):
        sample = translator.sample(source, 0.3, np.random.default_rng(1))
        numbers = number_words(translator, sample.ids)
        if not sample.is_fallback:
            assert numbers.max() + 1 == len(sample.text.split())
        assert all((number == NO_WORD) == (token == EOS) for number, token in zip(numbers, sample.ids, strict=True))


def test_words_are_aligned_to_the_source_word_with_most_attention():
    translator = tiny.translator()
    sample = translator.sample("rot seil", 0.3, np.random.default_rng(1))
    numbers = number_words(translator, sample.ids)
    words = int(numbers.max()) + 1
    for place, source in enumerate(["rot", "seil"]):
        ids = translator.encode_source(source)[:-1]
        first = 0 if place == 0 else len(translator.encode_source("rot")) - 1
        attention = np.zeros((len(sample.ids), len(sample.source_ids)))
        attention[:, first] = 1.0
        found = aligned_source_words(translator, replace(sample, attention=attention), numbers)
        assert found == [" " + " ".join(map(str, ids))] * words


def test_the_credit_of_a_word_is_the_mean_of_its_bigrams():
    assert neighbour_means(np.array([0.2, 0.6]), 3) == pytest.approx([0.2, 0.4, 0.6])
    assert neighbour_means(np.empty(0), 1).tolist() == [0.0]


def test_the_critic_learns_which_words_are_right():
    critic = WordCritic()
    words = evidence("rope", "cord")
    for _ in range(30):
        critic.learn(words, np.array([1.0, 0.0]))
    assert critic.predict(words)[0] > 0.9
    assert critic.predict(words)[1] < 0.1
    assert critic.predict(evidence("lamp"))[0] == pytest.approx(critic.predict(evidence("tent"))[0], abs=0.02)


def test_values_of_source_words_start_at_the_mean_of_all():
    values = SourceWordValues(IMPUTE)
    assert values.predict(["rot"])[0] == pytest.approx(0.6)
    for _ in range(200):
        values.learn(["rot"], np.array([1.0]))
    assert values.predict(["rot"])[0] > 0.95
    assert values.predict(["neu"])[0] == pytest.approx(values._all[0] / values._all[1])


def test_a_right_word_is_not_blamed_for_a_wrong_one():
    one = learner(replace(CONFIG, token_share=1.0))
    words = evidence("red", "cord")
    for _ in range(40):
        one._critic.learn(words, np.array([1.0, 0.0]))
    one._reward = sentence_bleu("red cord", "red rope")
    matches = one._decode("rot seil", words)
    assert matches is not None
    assert matches.words == pytest.approx([1.0, 0.0], abs=0.05)
    assert not matches.is_too_short
    one._reward = sentence_bleu("red cord", "a long red rope")
    matches = one._decode("rot seil", words)
    assert matches is not None
    assert matches.is_too_short


def test_an_early_end_is_blamed_and_a_timely_one_is_not():
    one = learner()
    one._too_short = [0.4, CONFIG.length_rounds]
    assert one._end_advantage(False) == pytest.approx(0.36)
    assert one._end_advantage(True) == pytest.approx(-0.64 / 0.3)


def test_it_learns_and_is_resumed_exactly(tmp_path):
    pairs = tiny.sentences(24, seed=7)
    uninterrupted, first, second = learner(), learner(), learner()
    before = uninterrupted.save().arrays["vector"]
    expected = play(uninterrupted, pairs)
    assert (uninterrupted.save().arrays["vector"] != before).any()
    play(first, pairs[:11])
    first.save().write(tmp_path / "snapshot")
    second.load(Snapshot.read(tmp_path / "snapshot"))
    assert play(second, pairs[11:]) == expected[11:]
    assert second.save().arrays["vector"].tolist() == uninterrupted.save().arrays["vector"].tolist()


def test_rewards_that_cannot_be_decoded_teach_as_one_number():
    one = learner()
    pairs = tiny.sentences(8, seed=7)
    play(one, pairs, see=lambda reward: round(reward, 1) * 0.9)
    assert not one._values._sums
    assert (one.save().arrays["vector"] != learner().save().arrays["vector"]).any()


def test_a_share_above_one_is_refused():
    with pytest.raises(SettingError, match="token_share"):
        TokenCreditConfig(token_share=1.5)
