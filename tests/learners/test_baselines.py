"""Baselines without a model: they copy or look up, and never learn."""

import pytest

from lambdas.service import check_translation
from learners.baselines import CopySource, WordForWord
from learners.contract import PLACEHOLDER
from learners.snapshot import Snapshot
from tests.learners.rounds import propose, update

SYSTEMS = [CopySource(), WordForWord({"rot": "red"})]


def test_copy_source_copies_and_never_learns():
    system = CopySource()
    assert propose(system, ", 147 cm") == ", 147 cm"
    update(system, ", 147 cm", ", 147 cm", 0.14938)
    assert system.save() == Snapshot()
    system.load(system.save())
    assert propose(system, ", 147 cm") == ", 147 cm"


def test_word_for_word_copies_unknown_words():
    system = WordForWord({"nylon": "nylon", "seil": "rope"})
    assert propose(system, "nylon seil xk-77") == "nylon rope xk-77"


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source_gets_a_placeholder(system, source):
    assert propose(system, source) == PLACEHOLDER


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_translation_of_a_very_long_source_is_within_the_limit_of_the_service(system):
    check_translation(propose(system, "rot " * 2_000))
