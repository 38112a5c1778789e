"""Statistical learners on a translator with random candidates, and a game to play with them."""

import zlib

from learners.bandit.control_variates import ControlVariate, RunningMean
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.bandit.value import SourceValue
from learners.smt.limsi import LimsiConfig, LimsiLearner, LimsiVariant
from learners.smt.linear_reranker import LinearConfig
from learners.smt.log_linear_learners import (
    LogLinearExpectedLossConfig,
    LogLinearExpectedLossLearner,
    LogLinearZerothOrderConfig,
    LogLinearZerothOrderLearner,
)
from learners.smt.reranking_learners import ImputationConfig, ImputingLearner, LinearLearner, LinearLearnerConfig
from learners.smt.target_ngrams import TargetNgramConfig, TargetNgramLearner
from learners.snapshot import Snapshot
from tests.learners.rounds import propose, update
from tests.learners.smt.list_translator import ListTranslator, random_lists

SOURCES = [f"s{number % 9}" for number in range(14)]
SGD = OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None)
ADAM, ADADELTA = OptimiserConfig(Method.ADAM, learning_rate=0.01), OptimiserConfig(Method.ADADELTA, learning_rate=1.0)


class ConstantBaseline(ControlVariate):
    """Subtracts the same number from every reward."""

    def __init__(self, number):
        self._number = number

    def advantage(self, source, reward):
        return reward - self._number

    def save(self):
        return Snapshot()

    def load(self, snapshot):
        pass


def random_translator():
    return ListTranslator(random_lists(SOURCES))


def expected_loss(variate=RunningMean, seed=1, **options):
    config = LogLinearExpectedLossConfig(**{"optimiser": SGD, **options})
    return LogLinearExpectedLossLearner(random_translator(), config, variate(), seed=seed)


def zeroth_order(seed=1, **options):
    config = LogLinearZerothOrderConfig(**{"optimiser": SGD, **options})
    return LogLinearZerothOrderLearner(random_translator(), config, RunningMean(), seed=seed)


def target_ngrams(seed=1):
    return TargetNgramLearner(random_translator(), TargetNgramConfig(buckets=256), SourceValue(), seed=seed)


def linear(seed=1):
    config = LinearLearnerConfig(linear=LinearConfig(buckets=256))
    return LinearLearner(random_translator(), config, seed=seed)


def imputing(seed=1, translator=None):
    config = ImputationConfig(buckets=256, linear=LinearConfig(buckets=256))
    return ImputingLearner(translator or random_translator(), config, seed=seed)


def limsi(variant):
    return lambda seed=1: LimsiLearner(random_translator(), LimsiConfig(variant=variant), seed=seed)


LEARNERS = {
    "EL-CV-Adam": lambda **options: expected_loss(optimiser=ADAM, **options),
    "EL-CV-Adadelta": lambda **options: expected_loss(optimiser=ADADELTA, **options),
    "EL in minibatches": lambda **options: expected_loss(batch=5, **options),
    "EL-VALUE": lambda **options: expected_loss(SourceValue, weight_scale=4.0, **options),
    "annealed": lambda **options: expected_loss(schedule=AnnealingSchedule(start=3, temperature_decay=0.1), **options),
    "target n-grams": target_ngrams,
    "linear": linear,
    "imputing": imputing,
    "SZO-CV-Adam": lambda **options: zeroth_order(optimiser=ADAM, **options),
    **{f"LIMSI-{variant}": limsi(variant) for variant in LimsiVariant},
}


def play(learner, sources=SOURCES):
    """Play rounds with pseudo-random rewards; return the proposals."""
    proposed = []
    for source in sources:
        proposed.append(propose(learner, source))
        update(learner, source, proposed[-1], zlib.crc32(f"{source} {proposed[-1]}".encode()) / 2**32)
    return proposed


def state(learner):
    """Return everything in a learner's snapshot in a form that can be compared."""
    snapshot = learner.save()
    return snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}
