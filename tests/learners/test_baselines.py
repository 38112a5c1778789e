"""Baselines without a model: they copy or look up, and never learn."""

import pytest

from lambdas.service import check_translation
from learners.baselines import CopySource, WordForWord
from learners.contract import PLACEHOLDER
from learners.snapshot import Snapshot

SYSTEMS = [CopySource(), WordForWord({"rot": "red"})]


def test_copy_source_copies_and_never_learns():
    system = CopySource()
    assert system.propose(", 147 cm") == ", 147 cm"
    system.update(", 147 cm", ", 147 cm", 0.14938)
    assert system.save() == Snapshot()
    system.load(system.save())
    assert system.propose(", 147 cm") == ", 147 cm"


def test_word_for_word_copies_unknown_words():
    system = WordForWord({"nylon": "nylon", "seil": "rope"})
    assert system.propose("nylon seil xk-77") == "nylon rope xk-77"


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("source", ["", "  "])
def test_an_empty_source_gets_a_placeholder(system, source):
    assert system.propose(source) == PLACEHOLDER


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_translation_of_a_very_long_source_is_within_the_limit_of_the_service(system):
    check_translation(system.propose("rot " * 2_000))
