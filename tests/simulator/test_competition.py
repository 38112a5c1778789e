"""Runs side by side: each as if it were alone, whatever happens to the others."""

import os
import random
import signal
import subprocess
import sys

import pytest

from learners.errors import LearnerError, ResumeError, UnknownSystemError
from learners.journal import Journal
from learners.seed_models import SeedModel
from learners.snapshot import Snapshot
from simulator.competition import Arena, Contestant, State, Status, compete, contestants, play_here
from simulator.pretraining import make_seed_models, needed_models
from tests.simulator.games import make_arena, write_task

ROUNDS = 30


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    return make_arena(tmp_path_factory.mktemp("arena"), [SeedModel.BNMT])


def elsewhere(arena, folder):
    """The same task and models, with a ledger and run folders of their own."""
    fresh = make_arena(folder)
    return Arena(fresh.store, "dev", arena.models, fresh.folder)


def journal(arena, contestant):
    with Journal(arena.run_folder(contestant) / "journal.jsonl") as journal:
        return [(entry.index, entry.translation, entry.reward) for entry in journal.entries()]


def final_state(arena, contestant):
    snapshot = Snapshot.read(arena.run_folder(contestant) / "snapshot")
    del snapshot.values["run"]  # another ledger, another id
    return snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}


def test_each_system_with_each_seed_but_static_ones_once():
    listed = contestants(["copy-source", "BNMT-EL", "copy-source"], seeds=2)
    assert listed == [
        Contestant("copy-source"),
        Contestant("BNMT-EL", 1, "BNMT-EL.s1"),
        Contestant("BNMT-EL", 2, "BNMT-EL.s2"),
    ]
    assert [one.label for one in contestants(["BNMT-EL"])] == ["BNMT-EL"]


def test_unknown_systems_are_refused_before_anything_is_played():
    with pytest.raises(UnknownSystemError):
        contestants(["copy-source", "nope"])


def test_runs_side_by_side_are_as_if_alone_and_a_bad_one_disturbs_nobody(arena, tmp_path):
    here, alone = elsewhere(arena, tmp_path / "here"), elsewhere(arena, tmp_path / "alone")
    good, bad = Contestant("BNMT-EL-VALUE", 3), Contestant("WNMT-EL")  # which has no seed model
    seen: list[Status] = []
    ends = compete(here, [bad, good, Contestant("copy-source")], processes=2, watch=seen.append)
    assert [end.state for end in ends] == [State.FAILED, State.FINISHED, State.FINISHED]
    assert "there is no seed model wnmt" in ends[0].message
    assert [(end.rounds, end.total) for end in ends[1:]] == [(ROUNDS, ROUNDS)] * 2
    assert [status for status in seen if status.state is not State.PLAYING] != []
    single = play_here(alone, good)
    assert single.reward == pytest.approx(ends[1].reward)
    assert journal(here, good) == journal(alone, good)
    assert final_state(here, good) == final_state(alone, good)


def test_a_finished_run_is_not_played_again(arena, tmp_path):
    here, player = elsewhere(arena, tmp_path), Contestant("copy-source")
    first, before = play_here(here, player), journal(here, player)
    again = play_here(here, player)
    assert (again.state, again.rounds, again.reward) == (State.FINISHED, ROUNDS, pytest.approx(first.reward))
    assert journal(here, player) == before


def test_run_folders_of_another_ledger_are_refused(arena, tmp_path):
    here = elsewhere(arena, tmp_path / "here")
    play_here(here, Contestant("copy-source"))
    other = make_arena(tmp_path / "other")
    with pytest.raises(ResumeError, match="which this service does not know"):
        play_here(Arena(other.store, "dev", arena.models, here.folder), Contestant("copy-source"))


PLAYER = """
import os
import signal
import sys
from pathlib import Path
from learners.journal import Journal
from simulator.competition import Arena, Contestant, play_here

store, models, folder, fuse = sys.argv[1:]
write, left = Journal.write, int(fuse)

def write_and_burn(journal, entry):
    global left
    write(journal, entry)
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

Journal.write = write_and_burn
play_here(Arena(store, "dev", Path(models), Path(folder)), Contestant("BNMT-EL-VALUE", 3))
"""


def test_killed_at_random_rounds_it_ends_as_if_it_had_not_been(arena, tmp_path):
    player, here, whole = Contestant("BNMT-EL-VALUE", 3), *(elsewhere(arena, tmp_path / name) for name in "ab")
    rng, played = random.Random(5), 0
    for _ in range(2):
        fuse = rng.randint(1, 12)
        command = [sys.executable, "-c", PLAYER, here.store, str(here.models), str(here.folder), str(fuse)]
        assert subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode == -signal.SIGKILL
        played += fuse
    assert len(journal(here, player)) == played
    play_here(here, player)
    play_here(whole, player)
    assert journal(here, player) == journal(whole, player)
    assert final_state(here, player) == final_state(whole, player)


def test_models_are_of_one_task(tmp_path):
    make_seed_models(write_task(tmp_path / "one"), tmp_path / "models", [])
    with pytest.raises(LearnerError, match="are of another task"):
        make_seed_models(write_task(tmp_path / "two", seed=1), tmp_path / "models", [])


def test_only_what_systems_need_is_made():
    assert needed_models(["copy-source"]) == []
    assert needed_models(["BNMT-oracle", "BNMT-EL", "BNMT-static"]) == [SeedModel.BNMT, SeedModel.ORACLE]
    assert needed_models(["LIMSI-UCB1", "SMT-static", "SMT-oracle"]) == [SeedModel.SMT, SeedModel.SMT_ORACLE]
