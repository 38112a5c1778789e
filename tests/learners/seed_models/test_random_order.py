"""An order of sentence pairs that depends on their text and the seed, and not on their order."""

from hypothesis import given
from hypothesis import strategies as st

from learners.seed_models.random_order import in_random_order
from tests.learners.tiny import sentences

PAIRS = sentences(60)

texts = st.text("abc ", max_size=4)


@given(st.lists(st.tuples(texts, texts), max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_text_does_not_matter(pairs, rng):
    shuffled = list(pairs)
    rng.shuffle(shuffled)
    assert in_random_order(shuffled, seed=3) == in_random_order(pairs, seed=3)
    assert sorted(in_random_order(pairs, seed=3)) == sorted(pairs)


def test_each_seed_gives_another_order():
    assert in_random_order(PAIRS, seed=1) != in_random_order(PAIRS, seed=2)
    assert in_random_order(PAIRS, seed=1) != sorted(PAIRS)


def test_the_border_between_source_and_target_matters():
    first, second = ("a b", "c"), ("a", "b c")
    orders = {tuple(in_random_order([first, second], seed=seed)) for seed in range(20)}
    assert orders == {(first, second), (second, first)}


def test_copies_of_a_pair_are_spread():
    order = in_random_order([*[("der hund", "the dog")] * 60, *PAIRS], seed=0)
    assert 20 < order[:60].count(("der hund", "the dog")) < 40
