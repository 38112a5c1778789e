"""Statistical seed models: what is trained on, and what is tuned on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.catalogue import SMT, SMT_ORACLE, SMT_SPLIT, SMT_SPLIT_ORACLE
from learners.seed_models.statistical import MAX_TUNING_PAIRS, split_for_tuning
from learners.seed_models.store import ModelStore
from learners.seed_models.trainer import train_missing
from tests.learners import tiny

NUMBERED = [(f"satz {number}", f"sentence {number}") for number in range(4_000)]

numbered_pairs = st.integers(0, 40).map(lambda number: (f"satz {number}", f"sentence {number}"))


@pytest.fixture
def given_texts(monkeypatch):
    """Return what the last model was trained and tuned on."""
    texts = {}

    class FakeTranslator:
        @staticmethod
        def train(pairs, report, splitter):
            texts["training"] = pairs
            texts["splits"] = splitter is not None
            return FakeTranslator()

        def save(self, path):
            path.touch()

    def mert(_translator, pairs, *_, **__):
        texts["tuning"] = pairs

    monkeypatch.setattr("learners.seed_models.statistical.SmtTranslator", FakeTranslator)
    monkeypatch.setattr("learners.seed_models.statistical.mert", mert)
    return texts


@pytest.mark.parametrize(
    ("model", "more", "splits"),
    [
        (SMT, [], False),
        (SMT_ORACLE, tiny.TEXTS.in_domain, False),
        (SMT_SPLIT, [], True),
        (SMT_SPLIT_ORACLE, tiny.TEXTS.in_domain, True),
    ],
)
def test_weights_are_tuned_on_a_sample_that_is_not_trained_on(model, more, splits, given_texts, tmp_path):
    pretraining = PretrainingConfig(seed=5)
    train_missing(ModelStore(tmp_path), [model], tiny.TEXTS, settings=tiny.SETTINGS, pretraining=pretraining)
    training, tuning = split_for_tuning(tiny.TEXTS.out_of_domain, seed=5)
    assert given_texts == {"training": [*training, *more], "tuning": tuning, "splits": splits}
    assert set(tuning) < set(tiny.TEXTS.out_of_domain)


def test_the_sample_is_spread_over_the_whole_text():
    _, tuning = split_for_tuning(NUMBERED, seed=0)
    assert len(tuning) == MAX_TUNING_PAIRS == 300
    quarters = [
        sum(pair in set(NUMBERED[start : start + 1_000]) for pair in tuning) for start in range(0, 4_000, 1_000)
    ]
    assert sum(quarters) == 300
    assert all(45 < count < 105 for count in quarters)  # 75 expected; four standard deviations are 30


def test_the_seed_determines_the_sample():
    assert split_for_tuning(NUMBERED, seed=1) == split_for_tuning(NUMBERED, seed=1)
    assert set(split_for_tuning(NUMBERED, seed=1)[1]) != set(split_for_tuning(NUMBERED, seed=2)[1])


@given(st.lists(numbered_pairs, min_size=2, max_size=120), st.randoms(use_true_random=False))
def test_no_copy_of_a_tuning_pair_is_trained_on_whatever_the_order(pairs, rng):
    training, tuning = split_for_tuning(pairs, seed=0)
    distinct = set(pairs)
    assert len(tuning) == len(set(tuning)) == max(1, len(distinct) // 10)
    assert sorted(training) == sorted(pair for pair in pairs if pair not in tuning)
    shuffled = list(pairs)
    rng.shuffle(shuffled)
    assert split_for_tuning(shuffled, seed=0) == (training, tuning)
