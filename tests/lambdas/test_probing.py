"""The conduct of participants: what probes look like, and what honest systems look like."""

import pytest

from lambdas.probing import Conduct, conduct
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from tests.lambdas import tasks


@pytest.fixture
def played(sqlite):
    """Play runs of a participant, and return how they look."""
    tasks.load(sqlite)
    service = Service(sqlite)
    record = Registry(sqlite).require_phase("dev")  # HHFFFFHHFFFFHH

    def look(*runs):
        player = tasks.participant(sqlite, service, "acme")
        for system, rounds, translate in runs:
            tasks.play(service, player, service.open_run(player, "dev", system).run, rounds=rounds, translate=translate)
        Scoreboard(sqlite).catch_up(record)
        [found] = conduct(sqlite, record)
        return found

    return look


def copy(sentence):
    return sentence.source


def numbered(sentence):
    return f"{sentence.source} {sentence.index}"


def test_an_honest_participant(played):
    found = played(("one", 14, copy), ("two", 14, numbered))
    assert found == Conduct("acme", "dev", 2, 0, 0.0, 0.0, found.first_pass_gap)
    assert found.first_pass_gap == pytest.approx(0, abs=0.05)
    assert found.signs == []


def test_no_participant_has_played(sqlite):
    tasks.load(sqlite)
    Registry(sqlite).add_participant("acme")
    assert conduct(sqlite, Registry(sqlite).require_phase("dev")) == []


def test_one_word_answers(played):
    found = played(("one", 14, lambda sentence: "rot" if sentence.index % 2 else sentence.source))
    assert (found.single_words, found.repeated, found.signs) == (0.5, None, ["one-word answers"])


def test_answers_that_several_systems_repeat(played):
    """Ten distinct sentences: the second system repeats six of the answers."""
    found = played(
        ("one", 14, copy), ("two", 14, lambda sentence: copy(sentence) + " x" * (sentence.index in (2, 3, 4, 5)))
    )
    assert (found.repeated, found.signs) == (pytest.approx(12 / 20), ["repeated answers"])


def test_many_unfinished_runs(played):
    found = played(("a", 2, numbered), ("b", 2, copy), ("c", 2, lambda sentence: f"so {sentence.source}"))
    assert (found.runs, found.unfinished, found.signs) == (3, 3, ["unfinished runs"])


def test_a_first_held_out_pass_that_is_given_away(played):
    def answers(sentence):
        number = int(sentence.source.split()[1])
        return tasks.reference("dev", number) if sentence.index >= 6 else "nothing right in here at all"

    found = played(("one", 14, answers))
    assert found.first_pass_gap > 0.9
    assert found.signs == ["a weak first held-out pass"]
