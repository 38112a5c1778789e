"""A small competition to be archived, with at least one of everything that an archive can hold."""

import json

from lambdas.phase_record import PhaseState
from lambdas.profile_store import ProfileStore
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.task_record import TaskRecord, write_task_record
from lambdas.withdrawals import Withdrawals
from leaderboard.families import RoleKind
from task.description import AboutTask, FileSummary
from task.feedback import FeedbackSpec
from task.languages import LOWERCASED_MOSES, LanguagePair
from tests.lambdas import tasks

TASK = TaskRecord(
    LanguagePair("de", "en"),
    AboutTask("Ein Titel", "mt@example.org", "https://example.org"),
    "CC0-1.0",
    LOWERCASED_MOSES,
    {"de": FileSummary(3, 40, "a" * 64)},
)
NOON = 1_800_000_000.0  # when the leaderboard is read


def play(store, *, perturbation="high-variance:1"):
    """Play finished, repeated, unfinished and empty runs; set roles and phase states; rotate the token key."""
    service, acme = tasks.start_service(store, feedback=FeedbackSpec(perturbation, seed=3), runs=7)
    oracle = tasks.participant(store, service, "oracle")
    idle = tasks.participant(store, service, "idle")
    for player, system in ((acme, "BNMT-EL"), (acme, "BNMT-EL"), (acme, "BNMT-static"), (oracle, "BNMT-oracle")):
        run = service.open_run(player, "dev", system).run
        tasks.play(service, player, run, translate=lambda sentence, system=system: f"{system} {sentence.source} ✓")
    tasks.play(service, acme, service.open_run(acme, "training", "BNMT-EL").run, rounds=3)
    service.open_run(idle, "mock", "late")
    registry = Registry(store)
    registry.set_role("oracle", "BNMT-oracle", RoleKind.ORACLE)
    registry.set_role("acme", "BNMT-static", RoleKind.BASELINE, "BNMT")
    registry.set_phase_state("dev", PhaseState.FROZEN)
    registry.set_disabled("idle", True)
    registry.rotate_key_ring(keep=True)
    _describe(store)
    return service


def _describe(store):
    write_task_record(store, TASK)
    profiles, withdrawals = ProfileStore(store), Withdrawals(store)
    profiles.describe_team("acme", {"display_name": "Ácme of acme", "url": "https://acme.example"})
    profiles.describe_system("acme", "BNMT-EL", {"description": "acme's learner", "consistency": {"deixis": [81.5]}})
    [training] = Registry(store).runs("training")
    withdrawals.withdraw(training.id, "acme asked for it")
    [mock] = Registry(store).runs("mock")
    withdrawals.withdraw(mock.id, "by mistake")
    withdrawals.restore(mock.id, "it was a mistake")


def boards(store):
    """Return the leaderboards of all phases as JSON."""
    scoreboard = Scoreboard(store, clock=lambda: NOON)
    shown = {}
    for record in Registry(store).phases():
        scoreboard.catch_up(record)
        shown[record.phase.name] = json.dumps(scoreboard.board(record).as_dict())
    return shown


def ledger(store):
    """Return all runs with their progress and rounds."""
    registry = Registry(store)
    runs = [run for record in registry.phases() for run in registry.runs(record.phase.name)]
    return [(run, store.progress(run.id), list(store.rounds(run.id))) for run in runs]
