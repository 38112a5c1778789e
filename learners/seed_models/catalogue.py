"""All seed models, each stated once: the text it is trained on, its config for each size, and how it is trained."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from learners.nmt.batches import Pair
from learners.nmt.pretraining import PretrainingConfig
from learners.seed_models.dictionary import DictionarySeedModel
from learners.seed_models.networks import SUBWORD_NETWORKS, THIRD_PARTY_NETWORKS, WORD_NETWORKS
from learners.seed_models.neural import NeuralSeedModel, in_domain
from learners.seed_models.references import ReferencesSeedModel
from learners.seed_models.seed_model import SeedModel, TrainingTexts
from learners.seed_models.statistical import StatisticalSeedModel

ENSEMBLE_SIZE = 4  # last checkpoints of WMT16-static (Sokolov et al. 2017, section 4.2)
MIN_NEWS_TOKENS = 12  # the third party's text has sentences of at least this many words, as newspapers do


def _news(texts: TrainingTexts) -> Sequence[Pair]:
    """Return only the long sentences, so that the text differs from that of the other models."""
    return [pair for pair in texts.out_of_domain if len(pair[0].split()) >= MIN_NEWS_TOKENS] or texts.out_of_domain


def _third_party_training(config: PretrainingConfig) -> PretrainingConfig:
    return replace(config, keep_checkpoints=ENSEMBLE_SIZE, seed=config.seed + 1)


def _oracle_training(config: PretrainingConfig) -> PretrainingConfig:
    """Train at half the rate, because the model has converged before; it has to converge again."""
    return replace(config, learning_rate_factor=0.5)


def _control_training(config: PretrainingConfig) -> PretrainingConfig:
    """Train at the rate and dropout of our own bandit learners, for as many steps as pre-training took."""
    return replace(config, learning_rate=3e-4, dropout=0.1, continued_training=True)


DICTIONARY = DictionarySeedModel(name="dictionary")
# Subwords: where the BNMT systems start.
BNMT = NeuralSeedModel(name="bnmt", configs=SUBWORD_NETWORKS)
# Words: where WNMT-EL starts.
WNMT = NeuralSeedModel(name="wnmt", configs=WORD_NETWORKS, lexicon=DICTIONARY)
# The third party's model: another text, a larger vocabulary, an ensemble.
WMT16 = NeuralSeedModel(
    name="wmt16",
    configs=THIRD_PARTY_NETWORKS,
    text=_news,
    adapt_config=_third_party_training,
    ensemble=True,
)
# BNMT trained further on the references that learners never see (Sokolov et al. 2017, section 4.3). It needs no
# fragments: BNMT's attention has learned where to look.
BNMT_ORACLE = NeuralSeedModel(
    name="oracle",
    starts_from=BNMT,
    needs_references=True,
    text=in_domain,
    adapt_config=_oracle_training,
    fragments=False,
)
# BNMT trained further on its own text: what continued training is worth without feedback.
BNMT_CONTROL = NeuralSeedModel(name="control", starts_from=BNMT, adapt_config=_control_training)
# Rules and a language model: where the SMT and LIMSI systems start.
SMT = StatisticalSeedModel(name="smt")
# The same, trained on both texts (Sokolov et al. 2017, section 4.3).
SMT_ORACLE = StatisticalSeedModel(name="smt-oracle", needs_references=True)
# Not a model: the references by round, for oracles that choose among the candidates of a model or learn online.
REFERENCES = ReferencesSeedModel(name="references")

# A seed model comes after those that it requires.
SEED_MODELS: tuple[SeedModel[Any], ...] = (
    DICTIONARY,
    BNMT,
    WNMT,
    WMT16,
    BNMT_ORACLE,
    BNMT_CONTROL,
    SMT,
    SMT_ORACLE,
    REFERENCES,
)


def with_requirements(wanted: Iterable[SeedModel[Any]]) -> list[SeedModel[Any]]:
    """Return the wanted seed models and those that they require, in an order in which they can be trained."""
    needed: set[SeedModel[Any]] = set()
    unvisited = list(wanted)
    while unvisited:
        model = unvisited.pop()
        needed.add(model)
        unvisited += model.requires
    return [model for model in SEED_MODELS if model in needed]
