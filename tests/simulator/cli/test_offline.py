"""``banditmt offline``: from a log to a seed model that plays, and what it refuses."""

import json

import pytest

from learners.errors import LearnerError, SettingError
from learners.seed_models.catalogue import BNMT, SMT
from learners.seed_models.store import ModelStore
from learners.systems.registry import find_system
from simulator import cli
from tests.learners import tiny
from tests.learners.rounds import propose
from tests.simulator.small_task import write_task


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return tiny.model_store(tmp_path_factory.mktemp("models"), BNMT, SMT).folder


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A log of right translations, and of ones that lack their last word."""
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    with path.open("w") as file:
        for number, (source, target) in enumerate(tiny.sentences(60, seed=4)):
            translation, reward = (target, 1.0) if number % 2 else (target.rpartition(" ")[0], 0.2)
            row = {"source": source, "translation": translation, "observed_reward": reward, "system": "BNMT-EL"}
            file.write(json.dumps({**row, "log_probability": None if number < 30 else -2.0}) + "\n")
    return path


def run(capsys, *arguments, code=0):
    assert cli.run(["offline", *map(str, arguments)]) == code
    return capsys.readouterr()


def test_a_network_is_trained_on_a_log_and_played(models, log, capsys):
    with pytest.raises(LearnerError, match="make it from a log with banditmt offline dpm-r --log FILE"):
        find_system("OFFLINE-DPM-R").new_learner(ModelStore(models), 1)
    shown = run(capsys, "dpm-r", "--log", log, "--models", models, "--set", "epochs=1").out
    assert f"{models}/offline-dpm-r.model: trained on" in shown
    assert "dpm-r estimates a reward of" in shown
    assert propose(find_system("OFFLINE-DPM-R").new_learner(ModelStore(models), 1), "rot seil")
    assert not (models / "offline-dpm-r.training").exists()
    again = run(capsys, "dpm-r", "--log", log, "--models", models, code=1).err
    assert again.strip().endswith("offline-dpm-r.model exists already: choose another --out, or remove it")


def test_the_weights_of_a_statistical_model_are_trained_on_a_log_and_played(models, log, capsys):
    options = ("--log", log, "--models", models, "--start", "smt", "--set", "epochs=2", "--json")
    result = json.loads(run(capsys, "dr", *options).out)
    assert result["model"] == f"{models}/offline-smt-dr.model"
    assert result["method"] == "dr"
    assert result["without_probability"] == 30
    assert result["explained"] is not None
    assert propose(find_system("OFFLINE-SMT-DR").new_learner(ModelStore(models), 1), "rot seil")


def test_rounds_without_probability_are_mentioned(models, log, capsys):
    options = ("--log", log, "--models", models, "--out", "mine", "--set", "epochs=1", "--logged-by", "BNMT-EL")
    assert "left out: 30 rounds without log_probability" in run(capsys, "snips", *options).out
    assert (models / "mine.model").exists()
    system = find_system("OFFLINE-SNIPS").with_settings({"model": "mine"})
    assert propose(system.new_learner(ModelStore(models), 1), "rot seil")
    assert system.identity(ModelStore(models), 1)["setting model"] == "mine"
    with pytest.raises(SettingError, match="OFFLINE-SNIPS: model must have 1 to 64 characters"):
        find_system("OFFLINE-SNIPS").with_settings({"model": "../bnmt"})


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["mle"], 2, "Invalid value: METHOD is one of ips, snips, dpm, dpm-r, osl, dc, c-dc, dr, not 'mle'"),
        (["dpm", "--start", "wnmt"], 2, "Invalid value: --start is one of bnmt, smt, not 'wnmt'"),
        (["dpm", "--out", "../x"], 1, "'../x' is no name of a seed model: a name has 1 to 64 characters"),
        (["dpm", "--out", "bnmt"], 1, "bnmt is the seed model of another system: choose another --out"),
        (["dpm", "--logged-by", "X"], 1, "has no rounds of X; its systems are BNMT-EL"),
        (["dpm", "--set", "epochs=0"], 2, "epochs must be 1 or more, not 0"),
        (["dpm", "--set", "depth=3"], 2, "there is no setting 'depth'; there are batch, epochs"),
    ],
)
def test_wrong_usage_is_one_line(arguments, code, complaint, models, log, capsys):
    error = run(capsys, *arguments, "--log", log, "--models", models, code=code).err
    assert complaint in error
    assert error.count("\n") == 1


def test_a_missing_seed_model_and_a_missing_log_are_named(log, tmp_path, capsys):
    error = run(capsys, "dpm", "--log", log, "--models", tmp_path, code=1).err
    assert error == f"banditmt: there is no seed model bnmt in {tmp_path}: train it with banditmt pretrain\n"
    error = run(capsys, "dpm", "--log", "nowhere.jsonl", "--models", tmp_path, code=1).err
    assert error == "banditmt: nowhere.jsonl: no such file or directory\n"


def test_pretraining_says_that_a_log_is_needed(models, tmp_path, capsys):
    task = write_task(tmp_path / "task")
    code = cli.run(["pretrain", "OFFLINE-SMT-IPS", "--task", str(task), "--models", str(models), "--size", "tiny"])
    assert code == 1
    expected = "offline-smt-ips is not trained on the text of a task: make it from a log with banditmt offline ips"
    assert expected in capsys.readouterr().err
