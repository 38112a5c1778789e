"""The registry: every system under its name on the leaderboard, as a recipe that can be read.

Names in capitals are those of the task paper (sections 4 and 5, Table 3) unless their source says that they are ours.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from learners.bandit.control_variates import ControlVariate, NoControlVariate, RunningMean
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.safeguards import SafeguardConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.bandit.zeroth_order import ZerothOrderConfig, ZerothOrderLearner
from learners.contract import CopySource, Learner
from learners.dictionary import WordForWord
from learners.errors import UnknownSystemError
from learners.nmt.static import StaticTranslator
from learners.seed_models import SeedModel, Shelf
from learners.smt.limsi import LimsiConfig, LimsiLearner, LimsiVariant
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.static_log_linear import StaticLogLinear
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner

PAPER = "WMT 2017 task"
OURS = "banditmt"

# As published: samples at temperature 1, annealing from round 700,000, gradient norm 1, dropout 0.5 while learning.
PUBLISHED = AnnealingSchedule(temperature=1.0, start=700_000)
PUBLISHED_DROPOUT = 0.5
PUBLISHED_ADAM = OptimiserConfig(Method.ADAM, learning_rate=1e-5)
WNMT_EL = ExpectedLossConfig(
    optimiser=OptimiserConfig(Method.SGD, learning_rate=1e-5), schedule=PUBLISHED, dropout=PUBLISHED_DROPOUT
)
BNMT_EL = ExpectedLossConfig(optimiser=PUBLISHED_ADAM, schedule=PUBLISHED, dropout=PUBLISHED_DROPOUT)
BNMT_SZO = ZerothOrderConfig(optimiser=replace(PUBLISHED_ADAM, clip_norm=None))
# Every step learns from three times as many old experiences as new ones: what went well is rare, and worth repeating.
OFTEN = OptimiserConfig(Method.ADAM, learning_rate=3e-4)
FRESH, REPLAYED = 8, 24
EL_VALUE = ExpectedLossConfig(
    optimiser=OFTEN,
    schedule=AnnealingSchedule(
        temperature=0.3, start=None
    ),  # samples cost little reward, and still differ enough to learn
    safeguards=SafeguardConfig(
        max_length_ratio=1.1, min_entropy=0.05, entropy_bonus=0.01, negative_advantage_weight=0.3
    ),
    batch=FRESH,
    replay_batch=REPLAYED,
    dropout=0.1,
)
REPLAY = SelfImitationConfig(optimiser=OFTEN, batch=FRESH, replay_batch=REPLAYED)

SMT_SCALE = (
    30.0  # of weights whose absolute values sum to 1: at 10, samples lose much reward; at 100, they hardly differ
)
SMT_EL_ADADELTA = LogLinearExpectedLossConfig(
    optimiser=OptimiserConfig(Method.ADADELTA, learning_rate=1.0, clip_norm=None), scale=SMT_SCALE
)
SMT_EL_ADAM = LogLinearExpectedLossConfig(
    optimiser=OptimiserConfig(Method.ADAM, learning_rate=0.01, clip_norm=None), scale=SMT_SCALE
)
SMT_SZO = LogLinearZerothOrderConfig(
    optimiser=OptimiserConfig(Method.ADAM, learning_rate=0.003, clip_norm=None), scale=SMT_SCALE
)


@dataclass(frozen=True)
class System:
    """A system that can be played."""

    name: str
    summary: str  # one line
    source: str  # where it is from
    needs: tuple[SeedModel, ...]
    build: Callable[[Shelf, int], Learner]  # from seed models and a random seed
    random: bool = True  # does the seed matter? Systems that never draw are played once

    def learner(self, shelf: Shelf, seed: int) -> Learner:
        """A new one, before its first round."""
        return self.build(shelf, seed)

    def about(self, shelf: Shelf, seed: int) -> dict[str, str | int]:
        """Who such a learner is, whatever it is called on the leaderboard: only it can go on with its run."""
        models = {f"model {model}": shelf.digest(model) for model in self.needs}
        return {"system": self.name, "seed": seed if self.random else 1, **models}  # without chance, all seeds are one


def _translating(model: SeedModel, beam: int) -> Callable[[Shelf, int], Learner]:
    return lambda shelf, _seed: StaticTranslator(shelf.translator(model), beam=beam)


def _as_published(
    model: SeedModel, recipe: ExpectedLossConfig, variate: Callable[[], ControlVariate]
) -> Callable[[Shelf, int], Learner]:
    """Expected loss as in the paper; with its dropout if the model was trained with some, as the paper's were.

    A model that was not is another one under dropout than the one that samples: small ones forgot how to translate.
    """

    def build(shelf: Shelf, seed: int) -> Learner:
        translator = shelf.translator(model)
        dropout = recipe.dropout if translator.config.dropout else 0.0
        return ExpectedLossLearner(translator, replace(recipe, dropout=dropout), variate(), seed=seed)

    return build


def _log_linear(model: SeedModel) -> Callable[[Shelf, int], Learner]:
    return lambda shelf, _seed: StaticLogLinear(shelf.log_linear(model))


def _expected_loss(
    recipe: LogLinearExpectedLossConfig, variate: Callable[[], ControlVariate]
) -> Callable[[Shelf, int], Learner]:
    return lambda shelf, seed: LogLinearExpectedLossLearner(
        shelf.log_linear(SeedModel.SMT), recipe, variate(), seed=seed
    )


def _limsi(variant: LimsiVariant) -> Callable[[Shelf, int], Learner]:
    recipe = LimsiConfig(variant=variant)
    return lambda shelf, seed: LimsiLearner(shelf.log_linear(SeedModel.SMT), recipe, seed=seed)


ALL = (
    System(
        "copy-source", "proposes the source: the floor", PAPER, (), lambda _shelf, _seed: CopySource(), random=False
    ),
    System(
        "word-for-word",
        "translates word by word with a dictionary, copying unknown words",
        PAPER,
        (SeedModel.DICTIONARY,),
        lambda shelf, _seed: WordForWord(shelf.dictionary()),
        random=False,
    ),
    System(
        "BNMT-static",
        "the subword model as pre-trained, greedy: where the BNMT learners start",
        PAPER,
        (SeedModel.BNMT,),
        _translating(SeedModel.BNMT, beam=1),
        random=False,
    ),
    System(
        "BNMT-beam",
        "BNMT-static with a beam of 12: what search alone is worth",
        OURS,
        (SeedModel.BNMT,),
        _translating(SeedModel.BNMT, beam=12),
        random=False,
    ),
    System(
        "BNMT-control",
        "BNMT-static trained on with its own text: what practice without feedback is worth",
        OURS,
        (SeedModel.CONTROL,),
        _translating(SeedModel.CONTROL, beam=1),
        random=False,
    ),
    System(
        "WMT16-static",
        "a third party's news model: other text, larger vocabulary, four checkpoints, beam 12",
        PAPER,
        (SeedModel.WMT16,),
        _translating(SeedModel.WMT16, beam=12),
        random=False,
    ),
    System(
        "BNMT-oracle",
        "the subword model trained on with the references: full information, not a contestant",
        PAPER,
        (SeedModel.ORACLE,),
        _translating(SeedModel.ORACLE, beam=1),
        random=False,
    ),
    System(
        "WNMT-EL",
        "expected loss on a word model, SGD, unknown words replaced by a dictionary",
        PAPER,
        (SeedModel.WNMT,),
        _as_published(SeedModel.WNMT, WNMT_EL, NoControlVariate),
    ),
    System(
        "BNMT-EL",
        "expected loss on the subword model, Adam, no control variate",
        PAPER,
        (SeedModel.BNMT,),
        _as_published(SeedModel.BNMT, BNMT_EL, NoControlVariate),
    ),
    System(
        "BNMT-EL-CV",
        "BNMT-EL with the running mean of rewards as control variate",
        PAPER,
        (SeedModel.BNMT,),
        _as_published(SeedModel.BNMT, BNMT_EL, RunningMean),
    ),
    System(
        "BNMT-SZO-CV",
        "one-point zeroth order on all parameters: plays perturbed models, no gradients",
        f"{PAPER} (there for SMT only)",
        (SeedModel.BNMT,),
        lambda shelf, seed: ZerothOrderLearner(shelf.translator(SeedModel.BNMT), BNMT_SZO, RunningMean(), seed=seed),
    ),
    System(
        "BNMT-EL-VALUE",
        "expected loss at a low temperature, with a learned value of each source as baseline, replay and safeguards",
        OURS,
        (SeedModel.BNMT,),
        lambda shelf, seed: ExpectedLossLearner(shelf.translator(SeedModel.BNMT), EL_VALUE, SourceValue(), seed=seed),
    ),
    System(
        "BNMT-REPLAY",
        "plays greedily and imitates what went better than expected, again and again from memory",
        OURS,
        (SeedModel.BNMT,),
        lambda shelf, seed: SelfImitationLearner(shelf.translator(SeedModel.BNMT), REPLAY, SourceValue(), seed=seed),
    ),
    System(
        "SMT-static",
        "a hierarchical phrase-based model, its weights tuned on out-of-domain text",
        PAPER,
        (SeedModel.SMT,),
        _log_linear(SeedModel.SMT),
        random=False,
    ),
    System(
        "SMT-oracle",
        "the same model of both texts: full information, not a contestant",
        PAPER,
        (SeedModel.SMT_ORACLE,),
        _log_linear(SeedModel.SMT_ORACLE),
        random=False,
    ),
    System(
        "SMT-EL-CV-ADADELTA",
        "expected loss on the weights, Adadelta, running mean of rewards as control variate",
        PAPER,
        (SeedModel.SMT,),
        _expected_loss(SMT_EL_ADADELTA, RunningMean),
    ),
    System("SMT-EL-CV-ADAM", "the same with Adam", PAPER, (SeedModel.SMT,), _expected_loss(SMT_EL_ADAM, RunningMean)),
    System(
        "SMT-SZO-CV-ADAM",
        "one-point zeroth order on the weights: plays the best translation of perturbed ones",
        PAPER,
        (SeedModel.SMT,),
        lambda shelf, seed: LogLinearZerothOrderLearner(
            shelf.log_linear(SeedModel.SMT), SMT_SZO, RunningMean(), seed=seed
        ),
    ),
    System(
        "LIMSI-UCB1",
        "a regression of the reward rescores the seed's forest; UCB1 chooses between both",
        f"{PAPER} (a reconstruction)",
        (SeedModel.SMT,),
        _limsi(LimsiVariant.UCB1),
        random=False,
    ),
    System(
        "LIMSI-UCB1-SAMPLING",
        "the same, drawing which of both plays",
        f"{PAPER} (a reconstruction)",
        (SeedModel.SMT,),
        _limsi(LimsiVariant.SAMPLING),
    ),
    System(
        "LIMSI-UCB1-SELECT",
        "the same, choosing by rounds that the regression did not learn from",
        f"{PAPER} (a reconstruction)",
        (SeedModel.SMT,),
        _limsi(LimsiVariant.SELECT),
        random=False,
    ),
    System(
        "SMT-EL-WORDS",
        "expected loss over k-best lists: learns which words pay and leaves the tuned weights alone",
        OURS,
        (SeedModel.SMT,),
        lambda shelf, seed: TargetNgramLearner(
            shelf.log_linear(SeedModel.SMT), TargetNgramConfig(), SourceValue(), seed=seed
        ),
    ),
)
SYSTEMS = {system.name: system for system in ALL}


def find_system(name: str) -> System:
    """A system by its name; an unknown one is refused with those that there are."""
    if name not in SYSTEMS:
        raise UnknownSystemError(f"there is no system {name!r}; there are {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
