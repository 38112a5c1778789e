"""Systems that learn from post-edits: networks (ADAPT) and the adapting SMT, and what they are compared with."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from learners.adaptation.fixed import FixedChoice, fixed_adaptation
from learners.adaptation.lasso import LassoAdaptation, LassoConfig
from learners.adaptation.neural import AdaptationConfig, BiasAdaptation, full_adaptation, top_adaptation
from learners.adaptation.parameters import AdaptedParameters
from learners.adaptation.post_edits import ReferencesAsPostEdits
from learners.adaptation.statistical.learners import AdaptingConfig, AdaptingSmt, BackgroundSmt, UnfairSmt
from learners.adaptation.statistical.model import Background
from learners.adaptation.statistical.translator import Models
from learners.adaptation.translation_memory import MemoryConfig, TranslationMemory
from learners.contract import Learner
from learners.nmt.static import StaticTranslator
from learners.nmt.translator import Translator
from learners.references import PhaseReferences
from learners.seed_models.catalogue import ADAPT, ADAPT_FIXED, ADAPTING_SMT, BNMT, REFERENCES
from learners.seed_models.store import ModelStore
from learners.systems import bnmt, smt
from learners.systems.system import OURS, Family, NonLearningSystem, ReferencesSystem, System

SMT_PAPER = "Bertoldi et al. 2012"  # Evaluating the Learning Curve of Domain Adaptive Statistical Machine Translation
PAPER = "Simianer et al. 2019"  # Measuring Immediate Adaptation Performance for Neural Machine Translation

FAMILY = Family(name="ADAPT", static="ADAPT-none")

PUBLISHED = AdaptationConfig()
PUBLISHED_BIAS = AdaptationConfig(learning_rate=1.0)
ADAPTING = AdaptingConfig()
FOREGROUND = AdaptingConfig(models=Models.FOREGROUND)


@dataclass(frozen=True, kw_only=True)
class PostEditSystem(System):
    """A system that learns from post-edits; it is deterministic."""

    learner: Callable[..., Learner]  # takes the seed models and the config
    stochastic: bool = False

    @property
    def needs_post_edits(self) -> bool:
        return True

    def new_learner(self, store: ModelStore, seed: int, phase: str | None = None) -> Learner:  # noqa: ARG002
        return self.learner(*self._load_seed_models(store), self.config)


def _full(translator: Translator, config: AdaptationConfig) -> Learner:
    return full_adaptation(AdaptedParameters(translator), config)


def _bias(translator: Translator, config: AdaptationConfig) -> Learner:
    return BiasAdaptation(AdaptedParameters(translator), config)


def _top(translator: Translator, config: AdaptationConfig) -> Learner:
    return top_adaptation(AdaptedParameters(translator), config)


def _fixed(translator: Translator, choice: FixedChoice, config: AdaptationConfig) -> Learner:
    return fixed_adaptation(AdaptedParameters(translator), choice, config)


def _lasso(translator: Translator, config: LassoConfig) -> Learner:
    return LassoAdaptation(AdaptedParameters(translator), config)


def _full_from_references(
    translator: Translator,
    references: PhaseReferences,
    config: AdaptationConfig,
    *,
    seed: int,  # noqa: ARG001 (nothing is random)
) -> Learner:
    return ReferencesAsPostEdits(_full(translator, config), references)


def _adapting_from_references(
    background: Background,
    references: PhaseReferences,
    config: AdaptingConfig,
    *,
    seed: int,  # noqa: ARG001 (nothing is random)
) -> Learner:
    return ReferencesAsPostEdits(AdaptingSmt(background, config), references)


def _unfair(
    background: Background,
    references: PhaseReferences,
    config: AdaptingConfig,
    *,
    seed: int,  # noqa: ARG001 (nothing is random)
) -> Learner:
    return UnfairSmt(background, references, config)


SYSTEMS = (
    NonLearningSystem(
        name="ADAPT-none",
        description="the Transformer as pre-trained, greedy: where the ADAPT learners start",
        origin=f"{PAPER}, Table 1 (baseline)",
        family=FAMILY,
        seed_models=(ADAPT,),
        learner=partial(StaticTranslator, beam=1),
    ),
    PostEditSystem(
        name="ADAPT-memory",
        description="ADAPT-none with a fuzzy translation memory: proposes the post-edit of a similar earlier source",
        origin=OURS,
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT,),
        learner=TranslationMemory,
        config=MemoryConfig(),
    ),
    PostEditSystem(
        name="ADAPT-full",
        description="adapts all parameters to each post-edit",
        origin=f"{PAPER}, section 4 (full)",
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT,),
        learner=_full,
        config=PUBLISHED,
    ),
    PostEditSystem(
        name="ADAPT-bias",
        description="adapts a second bias of the output layer to each post-edit",
        origin=f"{PAPER}, section 4 (bias)",
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT,),
        learner=_bias,
        config=PUBLISHED_BIAS,
    ),
    PostEditSystem(
        name="ADAPT-top",
        description="adapts the topmost layers of encoder and decoder to each post-edit",
        origin=f"{PAPER}, section 4 (top)",
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT,),
        learner=_top,
        config=PUBLISHED,
    ),
    PostEditSystem(
        name="ADAPT-fixed",
        description="adapts tensors that were chosen on a development stream, and the source embeddings",
        origin=f"{PAPER}, section 4 (fixed)",
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT, ADAPT_FIXED),
        learner=_fixed,
        config=PUBLISHED,
    ),
    PostEditSystem(
        name="ADAPT-lasso",
        description="adapts the tensors and embeddings that its own post-edits choose, by a group lasso and a budget",
        origin=f"{PAPER}, section 4 (lasso)",
        family=FAMILY,
        control="ADAPT-none",
        seed_models=(ADAPT,),
        learner=_lasso,
        config=LassoConfig(),
    ),
    ReferencesSystem(
        name="BNMT-ADAPT-full-information",
        description="BNMT-static that adapts all parameters to each reference, which it sees after its round",
        origin=OURS,
        family=bnmt.FAMILY,
        control="BNMT-static",
        seed_models=(BNMT, REFERENCES),
        learner=_full_from_references,
        config=PUBLISHED,
        stochastic=False,
    ),
    NonLearningSystem(
        name="SMT-BG",
        description="phrase-based, with lexicalised reordering: background models only",
        origin=f"{SMT_PAPER}, Table 2 (baseline)",
        family=smt.FAMILY,
        seed_models=(ADAPTING_SMT,),
        learner=BackgroundSmt,
    ),
    PostEditSystem(
        name="SMT-ADAPTING",
        description="SMT-BG with foreground models of all post-edits, estimated again after each block",
        origin=f"{SMT_PAPER}, Table 2 (adapting)",
        family=smt.FAMILY,
        control="SMT-BG",
        seed_models=(ADAPTING_SMT,),
        learner=AdaptingSmt,
        config=ADAPTING,
    ),
    PostEditSystem(
        name="SMT-FG-FAIR",
        description="foreground models only, of the blocks before; copies the source in the first block",
        origin=f"{SMT_PAPER}, Table 2 (FG-only fair)",
        family=smt.FAMILY,
        control="SMT-BG",
        seed_models=(ADAPTING_SMT,),
        learner=AdaptingSmt,
        config=FOREGROUND,
    ),
    ReferencesSystem(
        name="SMT-FG-UNFAIR",
        description="foreground models only, of the blocks before and of the block that it translates: an oracle",
        origin=f"{SMT_PAPER}, Table 2 (FG-only unfair)",
        family=smt.FAMILY,
        seed_models=(ADAPTING_SMT, REFERENCES),
        learner=_unfair,
        config=FOREGROUND,
        stochastic=False,
    ),
    ReferencesSystem(
        name="SMT-ADAPT-full-information",
        description="SMT-ADAPTING in a phase without post-edits: it sees each reference after its round",
        origin=OURS,
        family=smt.FAMILY,
        control="SMT-BG",
        seed_models=(ADAPTING_SMT, REFERENCES),
        learner=_adapting_from_references,
        config=ADAPTING,
        stochastic=False,
    ),
)
