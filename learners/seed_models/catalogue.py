"""All seed models, each stated once: the text it is trained on, its config for each size, and how it is trained."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from learners.context.two_pass import DraftConfig
from learners.errors import TrainingError
from learners.nmt.batches import Pair
from learners.nmt.pretraining import PretrainingConfig
from learners.offline.estimators import Method
from learners.seed_models.adapting_smt import AdaptingSmtSeedModel
from learners.seed_models.contextual import (
    ContextSeedModel,
    mixture,
    one_sentence_mixture,
    only_in_context,
    without_context,
)
from learners.seed_models.critic import CriticSeedModel
from learners.seed_models.dictionary import DictionarySeedModel
from learners.seed_models.fixed_choice import FixedChoiceSeedModel
from learners.seed_models.networks import ADAPTATION_NETWORKS, SUBWORD_NETWORKS, THIRD_PARTY_NETWORKS, WORD_NETWORKS
from learners.seed_models.neural import NeuralSeedModel, in_domain
from learners.seed_models.offline import OfflineSeedModel
from learners.seed_models.parallel_text import ParallelTextSeedModel
from learners.seed_models.references import ReferencesSeedModel
from learners.seed_models.seed_model import SeedModel, TrainingTexts
from learners.seed_models.settings import Size
from learners.seed_models.statistical import StatisticalSeedModel
from learners.selection.selection import SelectionConfig, select_pairs

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


def selected(texts: TrainingTexts, config: SelectionConfig = SelectionConfig()) -> Sequence[Pair]:  # noqa: B008
    """Return the pairs that resemble the sources of the phases that a participant can have played before."""
    if not texts.served_sources:
        raise TrainingError("data selection needs a task with a mock or dev phase, whose sources participants know")
    return select_pairs(texts.out_of_domain, texts.served_sources, config)


def _adaptation_training(config: PretrainingConfig) -> PretrainingConfig:
    """Train at the rate and dropout of BNMT-control, but until it has converged: the selected text is short."""
    return replace(config, learning_rate=3e-4, dropout=0.1)


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
# The Transformer that the ADAPT systems start from.
ADAPT = NeuralSeedModel(name="adapt", configs=ADAPTATION_NETWORKS)
# Not a model: the tensors that ADAPT-fixed adapts.
ADAPT_FIXED = FixedChoiceSeedModel(name="adapt-fixed", base=ADAPT)
# BNMT trained further on the part of its own text that resembles the sources served (ibid., section 5.3).
UMD_ADAPTATION = NeuralSeedModel(
    name="umd-adaptation", starts_from=BNMT, text=selected, adapt_config=_adaptation_training
)
# Not a model: the out-of-domain text, for systems that train on it while they play.
PARALLEL_TEXT = ParallelTextSeedModel(name="out-of-domain")
# What samples of BNMT are worth, token by token: for the actor-critic systems.
CRITIC = CriticSeedModel(name="critic", actor=BNMT)
# Rules and a language model: where the SMT and LIMSI systems start.
SMT = StatisticalSeedModel(name="smt")
# The same, trained on both texts (Sokolov et al. 2017, section 4.3).
SMT_ORACLE = StatisticalSeedModel(name="smt-oracle", needs_references=True)
# The same two with compounds and hyphenated words in parts.
SMT_SPLIT = StatisticalSeedModel(name="smt-split", split=True)
SMT_SPLIT_ORACLE = StatisticalSeedModel(name="smt-split-oracle", split=True, needs_references=True)
# Phrases with lexicalised reordering: the background of the SMT systems that learn from post-edits.
ADAPTING_SMT = AdaptingSmtSeedModel(name="adapting-smt")
# Not a model: the references by round, for oracles that choose among the candidates of a model or learn online.
REFERENCES = ReferencesSeedModel(name="references")

# The models of Voita et al. 2019 (sections 4 and 6.1), with their rates (Appendix B.3): CADec's is a quarter of the
# others', because it has a quarter of the text. At the small size, the rates are our choice.
CONTEXT_BASE = ContextSeedModel(
    name="context-base",
    kind="sentence",
    examples=without_context,
    learning_rate_scales={Size.TINY: 1.0, Size.SMALL: 0.7, Size.PAPER: 4.0},
)
CONCAT = ContextSeedModel(
    name="concat",
    kind="concat",
    examples=mixture,
    learning_rate_scales={Size.TINY: 1.0, Size.SMALL: 0.7, Size.PAPER: 4.0},
)
S_HIER_TO_2_TIED = ContextSeedModel(
    name="s-hier-to-2-tied",
    kind="s-hier-to-2.tied",
    examples=one_sentence_mixture,
    learning_rate_scales={Size.TINY: 1.0, Size.SMALL: 0.7, Size.PAPER: 0.3},  # recurrent: 1e-4 at its highest
)
CADEC = ContextSeedModel(
    name="cadec",
    kind="cadec",
    examples=only_in_context,
    base=CONTEXT_BASE,
    drafts=DraftConfig(),
    learning_rate_scales={Size.TINY: 1.0, Size.SMALL: 0.7, Size.PAPER: 1.0},
)

# A seed model comes after those that it requires.
SEED_MODELS: tuple[SeedModel[Any], ...] = (
    DICTIONARY,
    BNMT,
    WNMT,
    WMT16,
    BNMT_ORACLE,
    BNMT_CONTROL,
    ADAPT,
    ADAPT_FIXED,
    UMD_ADAPTATION,
    PARALLEL_TEXT,
    CRITIC,
    SMT,
    SMT_ORACLE,
    SMT_SPLIT,
    SMT_SPLIT_ORACLE,
    ADAPTING_SMT,
    REFERENCES,
    CONTEXT_BASE,
    CONCAT,
    S_HIER_TO_2_TIED,
    CADEC,
)
# Trained on a log of feedback, by ``banditmt offline``: ``banditmt pretrain`` has nothing to train them on.
OFFLINE_MODELS = tuple(
    OfflineSeedModel(name=f"offline{infix}-{method}", starts_from=start, method=method)
    for start, infix in ((BNMT, ""), (SMT, "-smt"))
    for method in Method
)


def with_requirements(wanted: Iterable[SeedModel[Any]]) -> list[SeedModel[Any]]:
    """Return the wanted seed models and those that they require, in an order in which they can be trained."""
    needed: dict[SeedModel[Any], None] = {}
    for model in wanted:
        needed |= dict.fromkeys([*with_requirements(model.requires), model])
    return in_catalogue_order(needed)


def in_catalogue_order(models: Iterable[SeedModel[Any]]) -> list[SeedModel[Any]]:
    """Return these seed models in the order of the catalogue; those of other packages come last, in their own order."""
    places = {model: place for place, model in enumerate(SEED_MODELS)}
    return sorted(models, key=lambda model: places.get(model, len(places)))
