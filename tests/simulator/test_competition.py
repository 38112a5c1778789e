"""Runs side by side: each ends as if it had been alone, whatever happens to the others."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from multiprocessing.context import SpawnProcess

import pytest

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import open_store
from learners.bandit.optimiser import Method, OptimiserConfig
from learners.errors import DivergedError, LearnerError, ResumeError, SnapshotError, UnknownSystemError
from learners.journal import Journal
from learners.run_folder import RunFolder
from learners.seed_models.catalogue import BNMT
from learners.snapshot import Snapshot
from learners.systems.registry import SYSTEMS
from learners.systems.system import BanditSystem
from simulator.competition import (
    PLAYED_BEFORE,
    Competition,
    PlayState,
    RunProcess,
    RunSpec,
    RunStatus,
    blocked_interrupts,
    compete,
    play_run,
    run_specs,
    seeded_run,
)
from tests.simulator.small_task import make_competition

ROUNDS = 30


@pytest.fixture(scope="module")
def competition(tmp_path_factory):
    return make_competition(tmp_path_factory.mktemp("competition"), [BNMT])


def new_ledger(competition, folder):
    """The same task and models, with a ledger and run folders of their own."""
    fresh = make_competition(folder)
    return Competition(fresh.store, "dev", competition.models, fresh.folder)


def journal(competition, spec):
    with Journal(competition.run_folder(spec) / "journal.jsonl") as journal:
        return [(entry.index, entry.translation, entry.reward) for entry in journal.entries()]


def ledger_and_curve(competition):
    with closing(open_store(competition.store)) as store:
        record, scoreboard = Registry(store).phase("dev"), Scoreboard(store)
        assert record is not None
        scoreboard.catch_up(record)
        (row,) = scoreboard.board(record).rows
        ledger = [(one.index, one.translation, one.observed_reward, one.true_reward) for one in store.rounds(row.run)]
        return ledger, row.curve, row.passes


def final_state(competition, spec):
    snapshot = Snapshot.read(competition.run_folder(spec) / "snapshot")
    del snapshot.values["run"]  # another ledger, another id
    return snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}


def test_each_system_plays_with_each_seed_and_static_ones_once():
    listed = run_specs(["copy-source", "BNMT-EL", "copy-source"], seeds=3)
    assert listed == [
        RunSpec("copy-source"),
        RunSpec("BNMT-EL"),
        RunSpec("BNMT-EL", 2, "BNMT-EL.s2"),
        RunSpec("BNMT-EL", 3, "BNMT-EL.s3"),
    ]


def test_more_seeds_add_runs_and_leave_the_others_as_they_are():
    assert run_specs(["BNMT-EL", "SMT-EL-WORDS"], seeds=1) == [RunSpec("BNMT-EL"), RunSpec("SMT-EL-WORDS")]
    assert set(run_specs(["BNMT-EL"], seeds=1)) < set(run_specs(["BNMT-EL"], seeds=2))


def test_a_seed_has_the_same_name_alone_and_among_others():
    assert [seeded_run("BNMT-EL", seed) for seed in (1, 2)] == run_specs(["BNMT-EL"], seeds=2)
    assert seeded_run("BNMT-EL", 0).label == "BNMT-EL.s0"
    assert seeded_run("copy-source", 2).label == "copy-source"  # all its seeds are the same


@pytest.mark.parametrize(
    ("seed", "former_name"),
    [(1, "BNMT-EL.s1"), (2, "BNMT-EL")],  # the first of several seeds; any seed of ``play``
)
def test_a_run_that_has_a_name_of_earlier_versions_is_resumed_under_it(competition, tmp_path, seed, former_name):
    here, former = new_ledger(competition, tmp_path), RunSpec("BNMT-EL", seed, former_name)
    play_run(here, former)
    played = journal(here, former)
    assert here.under_begun_names(run_specs(["BNMT-EL"], seeds=2))[seed - 1] == former
    assert compete(here, here.under_begun_names([seeded_run("BNMT-EL", seed)]))[0].state is PlayState.FINISHED
    assert journal(here, former) == played
    assert [folder.name for folder in (here.folder / "dev").iterdir()] == [former_name]


def test_a_run_of_another_seed_is_not_resumed(competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    play_run(here, RunSpec("BNMT-EL", 7))
    specs = run_specs(["BNMT-EL"], seeds=2)
    assert here.under_begun_names(specs) == specs
    (here.run_folder(RunSpec("BNMT-EL")) / "run").write_bytes(b"damaged")
    assert here.under_begun_names(specs) == specs  # the damage is reported when the run is resumed


def test_unknown_systems_are_refused_before_the_first_round():
    with pytest.raises(UnknownSystemError):
        run_specs(["copy-source", "nope"])


def test_runs_side_by_side_equal_runs_alone_and_a_failed_one_disturbs_none(competition, tmp_path):
    here, alone = new_ledger(competition, tmp_path / "here"), new_ledger(competition, tmp_path / "alone")
    good, bad = RunSpec("BNMT-EL-VALUE", 3), RunSpec("WNMT-EL")  # it has no seed model
    seen: list[RunStatus] = []
    ends = compete(here, [bad, good, RunSpec("copy-source")], processes=2, watch=seen.append)
    assert [end.state for end in ends] == [PlayState.FAILED, PlayState.FINISHED, PlayState.FINISHED]
    assert "there is no seed model wnmt" in ends[0].message
    assert [(end.rounds, end.total) for end in ends[1:]] == [(ROUNDS, ROUNDS)] * 2
    assert [status for status in seen if status.state is not PlayState.PLAYING] != []
    single = play_run(alone, good)
    assert single.reward == pytest.approx(ends[1].reward)
    assert journal(here, good) == journal(alone, good)
    assert final_state(here, good) == final_state(alone, good)


def test_a_model_that_diverges_stops_its_run_and_its_rounds_are_kept(competition, tmp_path, monkeypatch):
    here, spec = new_ledger(competition, tmp_path), RunSpec("BNMT-EL-CV")
    system = SYSTEMS["BNMT-EL-CV"]
    assert isinstance(system, BanditSystem)
    wild = replace(system.config, optimiser=OptimiserConfig(Method.ADAM, learning_rate=0.5))
    with monkeypatch.context() as patch:
        patch.setitem(SYSTEMS, "BNMT-EL-CV", replace(system, config=wild))
        for _ in range(2):  # it ends in the same way when it is resumed
            with pytest.raises(DivergedError, match=r"has grown to .*: try a smaller learning rate"):
                play_run(here, spec)
    played = journal(here, spec)
    assert 0 < len(played) < ROUNDS
    with closing(open_store(here.store)) as store:
        run = Registry(store).runs("dev")[0].id
        assert [(one.translation, one.true_reward) for one in store.rounds(run)] == [one[1:] for one in played]
    with pytest.raises(SnapshotError, match="the snapshot is of the configuration"):
        play_run(here, spec)


def board(competition):
    """Return the names and descriptions of the systems on the leaderboard."""
    with closing(open_store(competition.store)) as store:
        record, scoreboard = Registry(store).phase("dev"), Scoreboard(store)
        assert record is not None
        scoreboard.catch_up(record)
        return [(row.system, row.system_description) for row in scoreboard.board(record).rows]


def test_settings_name_the_run_and_only_the_same_ones_resume_it(competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    spec = seeded_run("BNMT-EL-CV", 2, {"optimiser.learning_rate": "1e-3", "batch": "1"})  # a batch of 1 is the default
    assert (spec.label, spec.settings) == (
        "BNMT-EL-CV+optimiser.learning_rate-0.001.s2",
        (("optimiser.learning_rate", "0.001"),),
    )
    (end,) = compete(here, [spec], processes=1)
    assert (end.state, end.rounds) == (PlayState.FINISHED, ROUNDS)
    assert board(here) == [(spec.label, "BNMT-EL-CV with optimiser.learning_rate=0.001")]
    details = RunFolder(here.run_folder(spec)).details()
    assert details is not None
    assert details.settings["setting optimiser.learning_rate"] == "0.001"
    plain = play_run(here, seeded_run("BNMT-EL-CV", 2))
    assert plain.reward != end.reward
    for settings in ({}, {"batch": "2"}):
        other = replace(seeded_run("BNMT-EL-CV", 2, settings), name=spec.label)
        with pytest.raises(SnapshotError, match=r"was begun with setting optimiser.learning_rate '0\.001', not None"):
            play_run(here, other)


def test_a_killed_run_with_settings_resumes_exactly(competition, tmp_path):
    here, whole = (new_ledger(competition, tmp_path / folder) for folder in ("here", "whole"))
    spec = seeded_run("BNMT-EL-VALUE", 1, {"batch": "3", "replay_batch": "2"})
    play_run(whole, spec)

    def interrupt(status):
        if status.rounds >= 7:
            raise KeyboardInterrupt

    assert play_run(here, spec, watch=interrupt).state is PlayState.INTERRUPTED
    assert play_run(here, spec).state is PlayState.FINISHED
    assert journal(here, spec) == journal(whole, spec)
    assert final_state(here, spec) == final_state(whole, spec)


PLUGIN = """
from dataclasses import dataclass
from learners.contract import Learner

@dataclass(frozen=True)
class Config:
    words: int = 2  # of the source that are proposed

class FirstWords(Learner):
    def __init__(self, config: Config):
        self.words, self.rounds = config.words, 0

    def propose(self, sentence):
        return " ".join(sentence.source.split()[: self.words])

    def update(self, sentence, translation, feedback):
        self.rounds += 1

class Broken(FirstWords):
    def update(self, sentence, translation, feedback):
        raise KeyError(feedback.post_edit)
"""


def test_a_learner_from_outside_plays_in_its_own_process_and_resumes(competition, tmp_path, monkeypatch):
    (tmp_path / "opening_words.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    here = new_ledger(competition, tmp_path / "here")
    specs = run_specs(["opening_words:FirstWords", "copy-source", "opening_words:Broken"], seeds=3)
    assert [spec.label for spec in specs] == ["FirstWords", "copy-source", "Broken"]
    *played, broken = compete(here, specs, processes=2)
    assert [end.state for end in played] == [PlayState.FINISHED] * 2
    assert (broken.state, broken.rounds) == (PlayState.FAILED, 1)
    assert broken.message == f"KeyError: None ({tmp_path / 'opening_words.py'}, line 21)"
    assert {len(translation.split()) for _, translation, _ in journal(here, specs[0])} == {2}
    again = play_run(here, specs[0])
    assert (again.state, again.rounds, again.message) == (PlayState.FINISHED, ROUNDS, PLAYED_BEFORE)
    with pytest.raises(SnapshotError, match="was begun with setting words None, not '1'"):
        play_run(here, replace(seeded_run("opening_words:FirstWords", 1, {"words": "1"}), name="FirstWords"))


def test_a_finished_run_is_not_played_again(competition, tmp_path):
    here, spec = new_ledger(competition, tmp_path), RunSpec("copy-source")
    first, before = play_run(here, spec), journal(here, spec)
    again = play_run(here, spec)
    assert (again.state, again.rounds, again.reward) == (PlayState.FINISHED, ROUNDS, pytest.approx(first.reward))
    assert journal(here, spec) == before


def test_two_systems_of_one_name_are_refused_before_they_write_to_one_folder(tmp_path, monkeypatch):
    for module in ("first_try", "second_try"):
        (tmp_path / f"{module}.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    complaint = "^first_try:FirstWords and second_try:FirstWords have one name, FirstWords: rename one, or play it with"
    with pytest.raises(UnknownSystemError, match=complaint):
        run_specs(["first_try:FirstWords", "second_try:FirstWords"])
    assert len(run_specs(["first_try:FirstWords", "first_try:FirstWords"])) == 1


def test_the_budget_of_participants_does_not_limit_a_competition_of_the_organiser(tmp_path):
    """Training has held-out passes and exact scores, so a participant may play one system there."""
    training = make_competition(tmp_path, phase="training")
    with closing(open_store(training.store)) as store:
        assert Registry(store).require_phase("training").runs == 1
    specs = [RunSpec("copy-source", 1, f"copy-{number}") for number in range(5)]
    assert {play_run(training, spec).state for spec in specs} == {PlayState.FINISHED}


def test_run_folders_of_another_ledger_are_refused(competition, tmp_path):
    here = new_ledger(competition, tmp_path / "here")
    play_run(here, RunSpec("copy-source"))
    other = make_competition(tmp_path / "other")
    with pytest.raises(
        ResumeError, match=r"which this service does not know: choose another folder \(--runs\), or return"
    ):
        play_run(Competition(other.store, "dev", competition.models, here.folder), RunSpec("copy-source"))


@pytest.mark.parametrize(
    ("begun", "resumed", "difference"),
    [
        (RunSpec("BNMT-EL-CV", 1, "x"), RunSpec("BNMT-EL", 1, "x"), "system 'BNMT-EL-CV', not 'BNMT-EL'"),
        (RunSpec("BNMT-EL", 1, "x"), RunSpec("BNMT-EL-CV", 1, "x"), "system 'BNMT-EL', not 'BNMT-EL-CV'"),
        (RunSpec("BNMT-SZO-CV", 1), RunSpec("BNMT-SZO-CV", 2), "seed 1, not 2"),
    ],
)
def test_a_run_is_resumed_only_as_the_system_that_began_it(begun, resumed, difference, competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    play_one_round(here, begun)
    with pytest.raises(SnapshotError, match=f"was begun with {difference}: "):
        play_run(here, resumed)
    assert play_run(here, begun).state is PlayState.FINISHED


def test_a_run_is_resumed_only_with_its_seed_model(competition, tmp_path):
    here, spec = new_ledger(competition, tmp_path / "here"), RunSpec("BNMT-EL-CV")
    play_one_round(here, spec)
    other = make_competition(tmp_path / "other", [BNMT], seed=1)
    with pytest.raises(SnapshotError, match=r"was begun with model bnmt '[0-9a-f]{64}', not '[0-9a-f]{64}': "):
        play_run(Competition(here.store, "dev", other.models, here.folder), spec)


def play_one_round(competition, spec):
    """Play one round, and interrupt the run."""

    def stop(status):
        if status.rounds == 1:
            signal.raise_signal(signal.SIGINT)

    end = play_run(competition, spec, watch=stop)
    assert (end.state, end.rounds, end.message) == (PlayState.INTERRUPTED, 1, "the same command resumes it")


def test_without_its_seed_model_a_system_opens_no_run(competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    with pytest.raises(LearnerError, match="there is no seed model wnmt"):
        play_run(here, RunSpec("WNMT-EL"))
    store = open_store(here.store)
    assert Registry(store).runs("dev") == []
    store.close()


CHILD = """
import os
import signal
import sys
from functools import partial
from pathlib import Path
from learners.journal import Journal
from learners.loop import play
from simulator import competition
from simulator.competition import Competition, RunSpec, play_run

competition.play = partial(play, snapshot_every=4)
store, models, folder, fuse = sys.argv[1:]
write, left = Journal.write, int(fuse)

def write_and_burn(journal, entry):
    global left
    write(journal, entry)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

Journal.write = write_and_burn
play_run(Competition(store, "dev", Path(models), Path(folder)), RunSpec("BNMT-EL-VALUE", 3))
"""


def test_a_run_killed_at_random_rounds_ends_as_an_undisturbed_one(competition, tmp_path):
    spec, here, whole = RunSpec("BNMT-EL-VALUE", 3), *(new_ledger(competition, tmp_path / name) for name in "ab")
    rng, played = random.Random(5), 0
    for _ in range(2):
        fuse = rng.randint(5, 12)  # after a snapshot of a network that has learned
        command = [sys.executable, "-c", CHILD, here.store, str(here.models), str(here.folder), str(fuse)]
        assert subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode == -signal.SIGKILL
        played += fuse
    assert len(journal(here, spec)) == played
    assert 4 <= RunFolder(here.run_folder(spec)).snapshot_rounds() <= played
    play_run(here, spec)
    play_run(whole, spec)
    assert journal(here, spec) == journal(whole, spec)
    assert final_state(here, spec) == final_state(whole, spec)
    assert ledger_and_curve(here) == ledger_and_curve(whole)


def after_start(monkeypatch, strike):
    """Call ``strike`` with each process as soon as it exists: long before it has imported anything."""
    start = SpawnProcess.start

    def start_and_strike(process):
        start(process)
        strike(process)

    monkeypatch.setattr(SpawnProcess, "start", start_and_strike)


def interrupt_here(_process):
    signal.raise_signal(signal.SIGINT)


def terminate_here(_process):
    handler = signal.getsignal(signal.SIGINT)
    assert callable(handler)
    handler(signal.SIGINT, None)  # as the command does when it is terminated


def kill(process):
    process.kill()


def interrupt_here_and_kill(process):
    interrupt_here(process)
    kill(process)


@pytest.mark.parametrize(
    ("strike", "state", "message"),
    [
        (interrupt_here, PlayState.INTERRUPTED, "the same command resumes it"),
        (terminate_here, PlayState.INTERRUPTED, "the same command resumes it"),
        (interrupt_here_and_kill, PlayState.INTERRUPTED, "the same command resumes it"),
        (kill, PlayState.FAILED, "its process died (-9)"),
    ],
)
def test_a_process_is_stopped_before_its_first_round(competition, tmp_path, monkeypatch, strike, state, message):
    here, spec = new_ledger(competition, tmp_path), RunSpec("copy-source")
    after_start(monkeypatch, strike)
    assert compete(here, [spec]) == [RunStatus(spec, state, message=message)]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def earned(competition, spec):
    return pytest.approx(sum(reward for *_, reward in journal(competition, spec)))


def test_the_last_report_of_a_run_counts_every_round(competition, tmp_path, monkeypatch):
    """Rounds are much faster than reports."""
    here, spec, reported = new_ledger(competition, tmp_path), RunSpec("copy-source"), list[RunStatus]()
    write = Journal.write

    def write_until_the_eighth(journal, entry):
        write(journal, entry)
        if entry.index == 7:
            raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write", write_until_the_eighth)
        with pytest.raises(OSError, match="the disk is full"):
            play_run(here, spec, watch=reported.append)
    assert reported[0] == RunStatus(spec, PlayState.PLAYING, 0, ROUNDS, 0.0)
    assert reported[-1] == RunStatus(spec, PlayState.PLAYING, 8, ROUNDS, earned(here, spec))
    play_run(here, spec, watch=reported.append)
    assert reported[-1] == RunStatus(spec, PlayState.PLAYING, ROUNDS, ROUNDS, earned(here, spec))


def test_a_resumed_run_reports_its_earlier_rounds_first(competition, tmp_path):
    here, spec, reported = new_ledger(competition, tmp_path), RunSpec("BNMT-EL-CV"), list[RunStatus]()
    play_one_round(here, spec)
    before = earned(here, spec)
    play_run(here, spec, watch=reported.append)
    assert reported[0] == RunStatus(spec, PlayState.PLAYING, 1, ROUNDS, before)


@pytest.mark.parametrize(
    ("strike", "first", "message"),
    [
        (interrupt_here, PlayState.INTERRUPTED, "the same command resumes it"),
        (kill, PlayState.FAILED, "its process died (-9)"),
    ],
)
def test_earlier_rounds_are_reported_for_runs_that_were_stopped_before_they_played(
    strike, first, message, competition, tmp_path, monkeypatch
):
    here, struck, waiting = (
        new_ledger(competition, tmp_path),
        RunSpec("copy-source"),
        RunSpec("copy-source", 1, "other"),
    )
    play_one_round(here, struck)
    play_one_round(here, waiting)
    after_start(monkeypatch, strike)
    ends = compete(here, [struck, waiting], processes=1)
    assert ends[0] == RunStatus(struck, first, 1, reward=None, message=message)
    assert (ends[1].rounds, ends[1].reward) == (1, None)  # a snapshot does not have the rewards


def test_a_process_that_dies_ends_with_its_last_report(competition, tmp_path, monkeypatch):
    here, spec = new_ledger(competition, tmp_path), RunSpec("BNMT-EL-VALUE")
    reported, processes = list[RunStatus](), list[SpawnProcess]()
    play_one_round(here, spec)
    before = earned(here, spec)
    after_start(monkeypatch, processes.append)

    def watch(status):
        reported.append(status)
        kill(processes[0])

    ends = compete(here, [spec], watch=watch)
    assert reported[0] == RunStatus(spec, PlayState.PLAYING, 1, ROUNDS, before)
    assert ends == reported[-1:] == [replace(reported[-2], state=PlayState.FAILED, message="its process died (-9)")]


TERMINAL = """
import os
import signal
from multiprocessing.context import SpawnProcess
from simulator.cli import main

start = SpawnProcess.start

def start_and_interrupt(process):
    start(process)
    os.killpg(0, signal.SIGINT)

SpawnProcess.start = start_and_interrupt
main()
"""


def test_ctrl_c_in_a_terminal_reaches_processes_that_still_import(competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    places = ["--store", here.store, "--models", str(here.models), "--runs", str(here.folder)]
    command = [sys.executable, "-c", TERMINAL, "compete", "copy-source", "BNMT-EL", "--phase", "dev", *places]
    typed = subprocess.run(command, capture_output=True, text=True, start_new_session=True)
    assert typed.stdout.splitlines() == [
        "copy-source: interrupted, 0 rounds; the same command resumes it",
        "BNMT-EL: interrupted, 0 rounds",
    ]
    assert (typed.returncode, typed.stderr) == (130, "banditmt: interrupted\n")


def _import_forever(_competition, _spec, _reports):
    time.sleep(600)


def test_a_process_that_is_asked_twice_while_it_imports_ends_at_once(competition, tmp_path, monkeypatch):
    monkeypatch.setattr("simulator.competition._play_and_report", _import_forever)
    with blocked_interrupts():  # which a child process inherits, until it is ready
        process = RunProcess(new_ledger(competition, tmp_path), RunSpec("copy-source"))
    process.stop()
    assert not process.reports.poll(0.5)
    process.stop()
    assert process.next_report() == RunStatus(
        RunSpec("copy-source"), PlayState.INTERRUPTED, message="the same command resumes it"
    )
    process.close()


ABANDONED = """
import os
import signal
import sys
from multiprocessing.context import SpawnProcess
from pathlib import Path
from simulator.competition import Competition, RunSpec, compete

start = SpawnProcess.start

def start_and_die(process):
    start(process)
    os.kill(os.getpid(), signal.SIGKILL)

SpawnProcess.start = start_and_die
store, models, folder = sys.argv[1:]
compete(Competition(store, "dev", Path(models), Path(folder)), [RunSpec("copy-source")])
"""


def test_a_process_whose_parent_is_killed_ends_silently(competition, tmp_path):
    here = new_ledger(competition, tmp_path)
    command = [sys.executable, "-c", ABANDONED, here.store, str(here.models), str(here.folder)]
    abandoned = subprocess.run(command, capture_output=True, text=True)  # waits until its child has ended, too
    assert (abandoned.returncode, abandoned.stdout, abandoned.stderr) == (-signal.SIGKILL, "", "")
    with closing(open_store(here.store)) as store:
        (run,) = Registry(store).runs("dev")  # its child came as far as its first report
        assert list(store.rounds(run.id)) == []
