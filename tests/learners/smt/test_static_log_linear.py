"""The static systems and the text that all statistical systems propose."""

import numpy as np

from learners.contract import PLACEHOLDER
from learners.smt.forest import Derivation
from learners.smt.static_log_linear import StaticLogLinear
from tests.learners.rounds import propose
from tests.learners.smt.learner_fixtures import SOURCES, play, random_translator
from tests.learners.smt.list_translator import CANDIDATE_WEIGHTS, ListTranslator


def test_a_static_system_plays_the_best_translation_and_never_changes():
    translator = random_translator()
    static = StaticLogLinear(translator)
    expected = [translator.forest(source, CANDIDATE_WEIGHTS).best(CANDIDATE_WEIGHTS).translation for source in SOURCES]
    assert play(static) == play(static) == expected
    assert translator.weights.tolist() == CANDIDATE_WEIGHTS.tolist()


def test_an_empty_translation_becomes_the_placeholder():
    empty = ListTranslator(default=[Derivation("", np.ones(3))])
    assert propose(StaticLogLinear(empty), "") == PLACEHOLDER


def test_a_translation_that_is_too_long_is_truncated():
    long = ListTranslator(default=[Derivation("rope " * 1_000, np.ones(3))])
    assert propose(StaticLogLinear(long), "seil") == " ".join(["rope"] * 800)
