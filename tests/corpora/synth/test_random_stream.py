"""Random numbers are the same on every machine and Python version."""

from corpora.synth.random_stream import RandomStream, Weighted, stable_fraction, stable_hash


def test_hashes_are_literal():
    assert stable_hash("phase", "bedding", "kissen") == 11319957241865500479
    assert stable_fraction("phase", "bedding", "kissen") == 11319957241865500479 / 2**64


def test_a_stream_is_identified_by_its_address():
    numbers = [RandomStream(7, "dev", 0).below(1000) for _ in range(2)]
    assert numbers == [916, 916]
    assert RandomStream(7, "dev", 1).below(1000) != 916


def test_items_are_chosen_by_their_weights():
    items = Weighted((("rare", 1), ("common", 3)))
    assert [items.at(quantile) for quantile in (0.0, 0.24, 0.25, 0.99)] == ["rare", "rare", "common", "common"]


def test_a_skewed_choice_prefers_earlier_items():
    rng = RandomStream("skewed")
    chosen = [rng.skewed_choice("ab") for _ in range(1000)]
    assert 600 < chosen.count("a") < 700
