"""What belongs to which phase, and what a newspaper knows."""

import pytest

from corpora.synth import lexicon
from corpora.synth.wares import Stock, belongs, exposed


@pytest.fixture(scope="module")
def stocks():
    return {phase: Stock(lexicon.load(), phase) for phase in ("mock", "dev", "training", "news")}


def compounds(stock):
    return {word.lemma for ware in stock.wares.items for word in ware.compounds}


def heads(stock):
    return {(ware.category.identifier, ware.head.lemma) for ware in stock.wares.items}


def test_some_words_and_compounds_occur_in_one_phase_only(stocks):
    for words in (heads, compounds):
        dev, training = words(stocks["dev"]), words(stocks["training"])
        assert 0.02 < len(dev - training) / len(dev | training) < 0.15
        assert 0.05 < len(training - dev) / len(dev | training) < 0.3


def test_mock_is_like_dev(stocks):
    assert heads(stocks["mock"]) == heads(stocks["dev"])


def test_the_newspaper_knows_some_compounds_and_most_words(stocks):
    shop = compounds(stocks["dev"]) | compounds(stocks["training"])
    assert 0.2 < len(compounds(stocks["news"]) & shop) / len(shop) < 0.8
    assert len(heads(stocks["news"])) / len(heads(stocks["training"])) > 0.75


def test_the_newspaper_never_uses_a_shifted_word_in_the_shops_sense(stocks):
    shifted = {shift.german for shift in lexicon.load().shifts}
    for ware in stocks["news"].wares.items:
        nouns = [ware.head, *ware.materials, *ware.accessories, *(part.noun for part in ware.parts)]
        assert not shifted & {noun.lemma for noun in nouns}
        assert not shifted & {adjective.lemma for adjective in ware.features}


def test_membership_is_a_property_of_the_word():
    assert belongs("dev", "bedding", "kissen") == belongs("dev", "bedding", "kissen")
    assert exposed("baumwollkissen", True) == exposed("baumwollkissen", True)


def test_scopes_are_respected(stocks):
    for ware in stocks["training"].wares.items:
        for feature in ware.category.features:
            if not feature.scope.admits(ware.head.lemma):
                assert all(feature.adjective is not other for other in ware.features)
