"""Runs of controls and oracles against the service: rewards, exact resumption, and references of another task."""

import shutil
from functools import partial

import pytest

from learners.errors import LearnerError, ReferencesError
from learners.journal import Journal
from learners.loop import play
from learners.seed_models.catalogue import BNMT, REFERENCES
from simulator import competition as competitions
from simulator.competition import Competition, RunSpec, play_run
from tests.simulator.small_task import make_competition

ROUNDS = 30


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return make_competition(tmp_path_factory.mktemp("models"), [BNMT, REFERENCES]).models


def new_ledger(models, folder, **options):
    fresh = make_competition(folder, **options)
    return Competition(fresh.store, fresh.phase, models, fresh.folder)


def rounds_of(competition, spec):
    with Journal(competition.run_folder(spec) / "journal.jsonl") as journal:
        return [(entry.index, entry.translation, entry.reward, entry.log_probability) for entry in journal.entries()]


@pytest.mark.parametrize("name", ["BNMT-sampling", "BNMT-perturbed", "BNMT-k-best-oracle", "BNMT-full-information"])
def test_a_run_that_dies_is_resumed_exactly(name, models, tmp_path, monkeypatch):
    spec, broken, whole = RunSpec(name, 3), *(new_ledger(models, tmp_path / folder) for folder in "ab")
    monkeypatch.setattr(competitions, "play", partial(play, snapshot_every=4))
    write = Journal.write

    def write_until_the_twelfth(journal, entry):
        write(journal, entry)
        if entry.index == 11:
            raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "write", write_until_the_twelfth)
        with pytest.raises(OSError, match="the disk is full"):
            play_run(broken, spec)
    play_run(broken, spec)
    play_run(whole, spec)
    assert len(rounds_of(whole, spec)) == ROUNDS
    assert rounds_of(broken, spec) == rounds_of(whole, spec)


def test_the_k_best_oracle_earns_at_least_as_much_as_the_static_system_in_every_round(models, tmp_path):
    here = new_ledger(models, tmp_path)
    static, oracle = RunSpec("BNMT-static"), RunSpec("BNMT-k-best-oracle")
    for spec in (static, oracle):
        play_run(here, spec)
    earned = [[reward for _, _, reward, _ in rounds_of(here, spec)] for spec in (static, oracle)]
    assert all(low <= high for low, high in zip(*earned, strict=True))
    assert sum(earned[1]) > sum(earned[0]) + 0.5


@pytest.mark.parametrize("name", ["BNMT-k-best-oracle", "BNMT-full-information"])
def test_references_are_those_of_the_phase_that_is_played(name, models, tmp_path):
    here = new_ledger(models, tmp_path, phase="training")
    assert play_run(here, RunSpec(name)).rounds == 12


@pytest.mark.parametrize("name", ["BNMT-k-best-oracle", "BNMT-full-information"])
def test_references_of_another_task_are_refused_in_one_line(name, models, tmp_path, monkeypatch):
    monkeypatch.setattr("tests.simulator.small_task.sentences", lambda count, **_: [("neu", "new")] * count)
    here = new_ledger(models, tmp_path)
    with pytest.raises(
        ReferencesError, match=r"round 0 of phase dev serves 'neu', but the references have '.*' there: "
    ):
        play_run(here, RunSpec(name))


def test_an_oracle_without_stored_references_says_what_to_do(models, tmp_path):
    here = new_ledger(tmp_path / "models", tmp_path)
    shutil.copy(models / "bnmt.model", here.models)
    with pytest.raises(LearnerError, match=r"there is no seed model references in .*: train it with banditmt pretrain"):
        play_run(here, RunSpec("BNMT-k-best-oracle"))
