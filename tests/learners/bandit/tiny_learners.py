"""Tiny learners with a network, and rounds to play with them."""

import zlib

from learners.bandit.control_variates import NoControlVariate, RunningMean
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.self_imitation import SelfImitationConfig, SelfImitationLearner
from learners.bandit.value import SourceValue
from learners.bandit.zeroth_order import ZerothOrderConfig, ZerothOrderLearner
from tests.learners import tiny
from tests.learners.rounds import propose, update

SGD = OptimiserConfig(Method.SGD, learning_rate=0.1, clip_norm=None)
SOURCES = [source for source, _ in tiny.sentences(12, seed=5)]


def expected_loss(control_variate=NoControlVariate, seed=1, **options):
    config = ExpectedLossConfig(**{"optimiser": SGD, **options})
    return ExpectedLossLearner(tiny.translator(), config, control_variate(), seed=seed)


def zeroth_order(seed=1, **options):
    return ZerothOrderLearner(tiny.translator(), ZerothOrderConfig(**options), RunningMean(), seed=seed)


def self_imitation(seed=1, **options):
    config = SelfImitationConfig(**{"batch": 4, "replay_batch": 3, "replay_capacity": 5, **options})
    return SelfImitationLearner(tiny.translator(), config, SourceValue(), seed=seed)


def reward_of(source, translation):
    """Return a reward that depends on both texts."""
    return zlib.crc32(f"{source} {translation}".encode()) / 2**32


def play(learner, sources=SOURCES):
    proposed = []
    for source in sources:
        proposed.append(propose(learner, source))
        update(learner, source, proposed[-1], reward_of(source, proposed[-1]))
    return proposed


def vector(learner):
    return learner.save().arrays["vector"]


def in_round(learner, k):
    """Return the learner as if it had completed all rounds before."""
    saved = learner.save()
    saved.values["rounds"] = k - 1
    learner.load(saved)
    return learner


class FixedBaseline(NoControlVariate):
    """Compares every reward with 0.4."""

    def advantage(self, source, reward):
        return reward - 0.4


def with_baseline(control_variate, reward):
    """Return the control variate after its first reward, which is its baseline."""
    control_variate.advantage("", reward)
    return control_variate
