"""Which words and products occur in which phase, and in the news."""

import pytest

from corpora.synth import lexicon
from corpora.synth.products import Assortment, appears_in_news, occurs_in


@pytest.fixture(scope="module")
def assortments():
    return {phase: Assortment(lexicon.load(), phase) for phase in ("mock", "dev", "training", "news")}


def compounds(assortment):
    return {word.lemma for product_type in assortment.product_types.items for word in product_type.compounds}


def heads(assortment):
    return {
        (product_type.category.identifier, product_type.head.lemma) for product_type in assortment.product_types.items
    }


def test_some_words_and_compounds_occur_in_one_phase_only(assortments):
    for words in (heads, compounds):
        dev, training = words(assortments["dev"]), words(assortments["training"])
        assert 0.02 < len(dev - training) / len(dev | training) < 0.15
        assert 0.05 < len(training - dev) / len(dev | training) < 0.3


def test_mock_is_like_dev(assortments):
    assert heads(assortments["mock"]) == heads(assortments["dev"])


def test_the_news_has_some_compounds_and_most_words_of_the_shop(assortments):
    shop = compounds(assortments["dev"]) | compounds(assortments["training"])
    assert 0.2 < len(compounds(assortments["news"]) & shop) / len(shop) < 0.8
    assert len(heads(assortments["news"])) / len(heads(assortments["training"])) > 0.75


def test_the_news_never_uses_a_shifted_word_in_the_sense_of_the_shop(assortments):
    shifted = {shift.german for shift in lexicon.load().shifts}
    for product_type in assortments["news"].product_types.items:
        nouns = [
            product_type.head,
            *product_type.materials,
            *product_type.accessories,
            *(part.noun for part in product_type.parts),
        ]
        assert not shifted & {noun.lemma for noun in nouns}
        assert not shifted & {adjective.lemma for adjective in product_type.features}


def test_whether_a_word_occurs_depends_on_the_word_alone():
    assert occurs_in("dev", "bedding", "kissen") == occurs_in("dev", "bedding", "kissen")
    assert appears_in_news("baumwollkissen", True) == appears_in_news("baumwollkissen", True)


def test_scopes_are_respected(assortments):
    for product_type in assortments["training"].product_types.items:
        for feature in product_type.category.features:
            if not feature.scope.admits(product_type.head.lemma):
                assert all(feature.adjective is not other for other in product_type.features)
