"""The configs of neural seed models."""

import pytest

from learners.seed_models.networks import SUBWORD_NETWORKS, THIRD_PARTY_NETWORKS, WORD_NETWORKS, pretraining_config
from learners.seed_models.settings import Architecture, BuildSettings, Size

NETWORKS = {"subwords": SUBWORD_NETWORKS, "words": WORD_NETWORKS, "third party": THIRD_PARTY_NETWORKS}


def test_there_is_a_network_for_every_size_and_architecture():
    every = {BuildSettings(size, architecture) for size in Size for architecture in Architecture}
    for networks in NETWORKS.values():
        assert set(networks) == every
        for settings, config in networks.items():
            assert config.architecture == settings.architecture


def test_the_published_networks_are_as_published():
    """Sokolov et al. 2017, sections 4.2 and 5.2."""
    published = [networks[BuildSettings(Size.PAPER)] for networks in NETWORKS.values()]
    for config in published:
        assert (config.embedding, config.encoder, config.decoder) == (500, 1_024, 1_024)
        assert (config.learning_rate, config.beta2, config.inverse_sqrt, config.dropout) == (1e-4, 0.999, False, 0.2)
        assert config.max_source == 50
    assert [config.vocabulary_size for config in published] == [30_000, 30_000, 89_500]


def test_published_networks_keep_the_published_rate_and_small_ones_reduce_theirs():
    published, small = (pretraining_config(BuildSettings(size)) for size in (Size.PAPER, Size.SMALL))
    assert published.plateau.reductions == 0
    assert small.plateau.reductions > 0


@pytest.mark.parametrize("size", Size)
def test_the_number_of_steps_is_unlimited_unless_it_is_given(size):
    assert pretraining_config(BuildSettings(size)).max_steps is None
    config = pretraining_config(BuildSettings(size), max_steps=7, seed=3)
    assert (config.max_steps, config.seed) == (7, 3)


def test_the_names_of_configs_in_model_files_stay():
    """A model of another size or architecture is known by the name of its config."""
    assert {kind: {config.name for config in networks.values()} for kind, networks in NETWORKS.items()} == {
        "subwords": {
            "gru-small-tiny",
            "gru-small",
            "gru-paper",
            "transformer-small-tiny",
            "transformer-small",
            "transformer-base",
        },
        "words": {
            "word-gru-small-tiny",
            "word-gru-small",
            "word-gru-paper",
            "word-transformer-small-tiny",
            "word-transformer-small",
            "word-transformer-base",
        },
        "third party": {
            "gru-small-tiny",
            "gru-small-wmt16",
            "gru-paper-wmt16",
            "transformer-small-tiny",
            "transformer-small-wmt16",
            "transformer-base-wmt16",
        },
    }
