"""Expected loss on networks as the task paper has it: the configs, and how dropout is chosen."""

from dataclasses import replace

from learners.bandit.control_variates import ControlVariate
from learners.bandit.expected_loss import ExpectedLossConfig, ExpectedLossLearner
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.bandit.schedule import AnnealingSchedule
from learners.nmt.translator import Translator

# Sokolov et al. 2017, section 5.2: samples at temperature 1, annealing from round 700,000, gradient norm 1 (the
# optimiser's default), dropout 0.5 while learning; SGD for the word model, Adam for the subword model.
PUBLISHED_DROPOUT = 0.5
ANNEALING = AnnealingSchedule(temperature=1.0, start=700_000)
PUBLISHED_SGD = ExpectedLossConfig(
    optimiser=OptimiserConfig(Method.SGD, learning_rate=1e-5), schedule=ANNEALING, dropout=PUBLISHED_DROPOUT
)
PUBLISHED_ADAM = replace(PUBLISHED_SGD, optimiser=OptimiserConfig(Method.ADAM, learning_rate=1e-5))


def published_expected_loss(
    translator: Translator, config: ExpectedLossConfig, variate: ControlVariate, *, seed: int
) -> ExpectedLossLearner:
    """Return a learner as published; without that dropout if its model was pre-trained without, unlike the paper's.

    Under dropout such a model is another one than the model that samples: small ones forgot how to translate. Any other
    dropout is the user's choice.
    """
    is_unlike_paper = config.dropout == PUBLISHED_DROPOUT and not translator.config.dropout
    dropout = 0.0 if is_unlike_paper else config.dropout
    return ExpectedLossLearner(translator, replace(config, dropout=dropout), variate, seed=seed)
