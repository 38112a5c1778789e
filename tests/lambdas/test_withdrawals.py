"""Withdrawn runs are off the board, and everything else stays as it is."""

import pytest

from lambdas.audit import Auditor
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.withdrawals import Withdrawals
from leaderboard.families import RoleKind
from task.public_texts import PublicTextError
from tests.lambdas import tasks
from tests.lambdas.archive import competitions


def shown(store, phase="dev", viewer=None):
    """The systems and attempts on the board of a phase: as the organiser sees it, and as a viewer does."""
    scoreboard, record = Scoreboard(store), Registry(store).require_phase(phase)
    scoreboard.catch_up(record)
    boards = scoreboard.board(record), scoreboard.visible_board(record, viewer)
    return [{(row.system, row.attempt) for row in board.rows} for board in boards]


def run_of(store, system, attempt=1, phase="dev"):
    [found] = [run.id for run in Registry(store).runs(phase) if (run.system, run.attempt) == (system, attempt)]
    return found


@pytest.fixture
def played(store):
    competitions.play(store, perturbation="none")
    return store


def test_off_the_board_and_back(played):
    everything = {("BNMT-EL", 2), ("BNMT-static", 1), ("BNMT-oracle", 1)}
    assert shown(played) == [everything] * 2
    withdrawals = Withdrawals(played)
    withdrawals.withdraw(run_of(played, "BNMT-static"), "wrong model")
    assert shown(played) == [{("BNMT-EL", 2), ("BNMT-oracle", 1)}] * 2
    withdrawals.restore(run_of(played, "BNMT-static"), "right model")
    assert shown(played) == [everything] * 2
    [decision] = withdrawals.of_phase("dev")
    assert (decision.withdrawn, decision.why) == (False, "right model")


def test_an_earlier_run_of_the_system_takes_its_place(played):
    Withdrawals(played).withdraw(run_of(played, "BNMT-EL", 2), "?")
    assert ("BNMT-EL", 1) in shown(played)[0]


def test_regret_is_not_measured_against_a_withdrawn_oracle(played):
    assert Registry(played).roles()[1].kind is RoleKind.ORACLE
    Withdrawals(played).withdraw(run_of(played, "BNMT-oracle"), "?")
    scoreboard, record = Scoreboard(played), Registry(played).require_phase("dev")
    scoreboard.catch_up(record)
    assert [row.regret for row in scoreboard.board(record).rows] == [None, None]


def test_the_ledger_and_its_summaries_stay(played):
    before = competitions.ledger(played)
    run = run_of(played, "BNMT-EL", 2)
    Withdrawals(played).withdraw(run, "?")
    assert competitions.ledger(played) == before
    registry, auditor, scoreboard = Registry(played), Auditor(played), Scoreboard(played)
    record = registry.require_phase("dev")
    scoreboard.catch_up(record)
    for each in registry.runs("dev"):
        assert auditor.audit(record, each) == []
        assert scoreboard.rebuild(record, each).rounds == 14
    assert auditor.unclaimed(record) == []
    scoreboard.delete_unclaimed(record)
    assert ("BNMT-EL", 1) in shown(played)[0]


def test_its_participant_can_play_on_but_does_not_see_it(sqlite):
    service, acme = tasks.start_service(sqlite)
    run = service.open_run(acme, "training", "el").run
    tasks.play(service, acme, run, rounds=2)
    Withdrawals(sqlite).withdraw(run, "?")
    assert tasks.play(service, acme, run)[-1].next is None
    assert shown(sqlite, "training", acme) == [set(), set()]


def test_a_closed_phase_does_not_show_it_either(played):
    Registry(played).set_phase_state("dev", PhaseState.CLOSED)
    Withdrawals(played).withdraw(run_of(played, "BNMT-static"), "wrong model")
    board = Service(played).leaderboard(None, "dev").as_dict()
    assert "wrong model" not in str(board)
    assert {row["system"] for row in board["rows"]} == {"BNMT-EL", "BNMT-oracle"}


def test_decisions_are_about_runs_that_exist_and_change_something(played):
    withdrawals, run = Withdrawals(played), run_of(played, "BNMT-static")
    with pytest.raises(RegistryError, match="there is no run x"):
        withdrawals.withdraw("x", "?")
    with pytest.raises(RegistryError, match="is not withdrawn"):
        withdrawals.restore(run, "?")
    with pytest.raises(PublicTextError, match="the reason"):
        withdrawals.withdraw(run, "")
    withdrawals.withdraw(run, "?")
    with pytest.raises(RegistryError, match="is withdrawn already"):
        withdrawals.withdraw(run, "?")
