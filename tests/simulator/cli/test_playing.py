"""``banditmt play`` and ``compete``: one run, or many side by side."""

import json
import os
import re
import signal
from multiprocessing.context import SpawnProcess

import pytest

from lambdas.store import open_store
from learners.journal import Journal
from simulator import cli, competition
from simulator.competition import PlayState, RunStatus
from tests.simulator.cli.serve_process import call, serving
from tests.simulator.small_task import write_task


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return str(write_task(tmp_path_factory.mktemp("learning") / "task"))


@pytest.fixture(autouse=True)
def no_environment(monkeypatch):
    for name in ("BANDITMT_STORE", "BANDITMT_URL", "BANDITMT_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folders(tmp_path):
    return ["--store", f"sqlite:{tmp_path / 'store'}", "--models", str(tmp_path / "models"), "--runs", str(tmp_path)]


def printed(capsys, arguments, code=0):
    assert cli.run(arguments) == code
    return capsys.readouterr()


def test_pretrain_play_compete(capsys, task, folders, tmp_path):
    models = str(tmp_path / "models")
    making = ["pretrain", "BNMT-static", "--task", task, "--models", models]
    tiny = [*making, "word-for-word", "--size", "tiny"]
    assert printed(capsys, [*making, "--size", "tiny", "--steps", "5"]).out == f"{models}: trained bnmt\n"
    assert printed(capsys, tiny).out.splitlines() == [
        f"{models}: trained dictionary",
        f"{models}: kept bnmt, which existed already (--steps and --seed ignored)",
    ]
    complaint = f"banditmt: the seed model bnmt in {models} has size tiny, not small: "
    assert printed(capsys, making, code=1).err.startswith(complaint)
    assert (
        printed(capsys, ["pretrain", "copy-source", *making[2:]]).out == f"{models}: these systems need no seed model\n"
    )
    played = printed(capsys, ["play", "BNMT-static", "--phase", "mock", "--task", task, *folders]).out
    assert played.startswith("BNMT-static: finished, 5 rounds, mean reward 0.")
    other = str(write_task(tmp_path / "other", seed=1))
    refused = printed(capsys, ["play", "BNMT-static", "--phase", "mock", "--task", other, *folders], code=1).err
    assert refused == f"banditmt: the models in {models} are of another task than {other}: choose another folder\n"
    competing = ["compete", "copy-source", "WNMT-EL", "--phase", "mock", *folders]
    ends = json.loads(printed(capsys, [*competing, "--processes", "1", "--json"], code=1).out)
    assert [(end["name"], end["state"], end["rounds"]) for end in ends] == [
        ("copy-source", "finished", 5),
        ("WNMT-EL", "failed", 0),
    ]
    assert "train it with banditmt pretrain" in ends[1]["message"]


def test_more_seeds_do_not_play_the_first_one_again_under_another_name(capsys, task, folders, tmp_path):
    making = ["pretrain", "BNMT-EL", "--task", task, "--models", str(tmp_path / "models")]
    printed(capsys, [*making, "--size", "tiny", "--steps", "5"])
    on_mock = ["--phase", "mock", "--task", task, *folders, "--json"]
    (alone,) = json.loads(printed(capsys, ["compete", "BNMT-EL", *on_mock]).out)
    (second,) = json.loads(printed(capsys, ["play", "BNMT-EL", "--seed", "2", *on_mock]).out)
    both = json.loads(printed(capsys, ["compete", "BNMT-EL", "--seeds", "2", *on_mock]).out)
    assert [(end["name"], end["seed"], end["rounds"]) for end in both] == [("BNMT-EL", 1, 5), ("BNMT-EL.s2", 2, 5)]
    assert [end["reward"] for end in both] == pytest.approx([alone["reward"], second["reward"]])
    assert sorted(folder.name for folder in (tmp_path / "mock").iterdir()) == ["BNMT-EL", "BNMT-EL.s2"]


def test_a_finished_run_is_not_played_again_and_its_result_says_so(capsys, task, folders):
    playing = ["--phase", "mock", "--task", task, *folders]
    first = printed(capsys, ["play", "copy-source", *playing]).out
    again = printed(capsys, ["play", "copy-source", *playing]).out
    assert again == first.replace("\n", "; it was played before; another --name plays it again\n")
    assert printed(capsys, ["compete", "copy-source", *playing]).out == first.replace("\n", "; it was played before\n")
    named = printed(capsys, ["play", "copy-source", "--name", "second-try", *playing]).out
    assert named == first.replace("copy-source", "second-try")


def test_play_with_settings_of_a_file_and_of_the_command_line(capsys, task, folders, tmp_path):
    printed(capsys, ["pretrain", "BNMT-EL", "--task", task, *folders[2:4], "--size", "tiny", "--steps", "5"])
    (tmp_path / "mine.toml").write_text("batch = 2\ndropout = 0.1\n\n[optimiser]\nclip_norm = 'none'\n")
    playing = ["play", "BNMT-EL", "--phase", "mock", "--task", task, *folders, "--json"]
    changing = ["--config", str(tmp_path / "mine.toml"), "--set", "batch=3", "--set", "dropout=0.5"]
    (end,) = json.loads(printed(capsys, [*playing, *changing]).out)
    assert end["settings"] == {"batch": "3", "optimiser.clip_norm": "none"}
    assert end["name"] == "BNMT-EL+batch-3+optimiser.clip_norm-none"
    assert (end["state"], end["rounds"]) == ("finished", 5)


@pytest.mark.parametrize("terminal", [False, True])
def test_compete_prints_a_failure_while_other_runs_play(terminal, capsys, task, folders, monkeypatch):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    outputs = []

    def one_failure(_competition, specs, *, processes, watch, start):
        failed = RunStatus(specs[0], PlayState.FAILED, message="its process died [-9],\nwith a second line")
        watch(failed)
        outputs.append(capsys.readouterr())
        return [failed]

    monkeypatch.setattr(competition, "compete", one_failure)
    printed(capsys, ["compete", "copy-source", "--phase", "mock", "--task", task, *folders], code=1)
    assert outputs[0].out == ""
    said = "banditmt: copy-source failed: its process died [-9], with a second line\n"
    assert said in outputs[0].err


@pytest.fixture
def ctrl_c_in_third_round(monkeypatch):
    write = Journal.write

    def write_and_interrupt(journal, entry):
        write(journal, entry)
        if entry.index == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Journal, "write", write_and_interrupt)


def test_play_prints_its_progress_after_ctrl_c(capsys, task, folders, ctrl_c_in_third_round):
    playing = ["play", "copy-source", "--phase", "mock", "--task", task, *folders]
    interrupted = printed(capsys, playing, code=130)
    line = r"copy-source: interrupted, 3 rounds, mean reward 0\.\d{4}; the same command resumes it\n"
    assert re.fullmatch(line, interrupted.out)
    assert interrupted.err == "banditmt: interrupted\n"
    assert printed(capsys, playing).out.startswith("copy-source: finished, 5 rounds, mean reward 0.")


def test_play_prints_its_progress_as_json_after_ctrl_c(capsys, task, folders, ctrl_c_in_third_round):
    playing = ["play", "copy-source", "--phase", "mock", "--task", task, *folders, "--json"]
    (end,) = json.loads(printed(capsys, playing, code=130).out)
    assert (end["state"], end["rounds"], end["total"]) == ("interrupted", 3, 5)
    assert end["mean_reward"] == pytest.approx(end["reward"] / 3)


def test_regret_is_shown_while_playing_once_an_oracle_has_played(capsys, task, folders, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    monkeypatch.setenv("COLUMNS", "120")
    playing = ["play", "copy-source", "--phase", "mock", *folders]
    before = printed(capsys, [*playing, "--task", task, "--name", "oracle"]).err
    assert "reward 0." in before
    assert "regret" not in before
    printed(capsys, ["admin", "oracle", "set", "banditmt", "oracle", *folders[:2]])
    assert "regret 0.0000" in printed(capsys, playing).err  # it is the same system


def test_compete_at_an_address(capsys, task, tmp_path):
    """Each run has its own client; an unknown key or phase is reported once."""
    models = ["--models", str(tmp_path / "models")]
    printed(capsys, ["pretrain", "word-for-word", "--task", task, *models])
    with serving("--task", task, "--store", f"sqlite:{tmp_path / 'served'}") as started:
        competing = ["compete", "copy-source", "word-for-word", "--phase", "mock", "--url", started["url"]]
        competing += [*models, "--runs", str(tmp_path / "runs"), "--processes", "2"]
        strange = printed(capsys, [*competing, "--api-key", "unknown-key"], code=1)
        finals = printed(capsys, [*competing, "--api-key", started["api_key"], "--phase", "finals"], code=2)
        played = printed(capsys, [*competing, "--api-key", started["api_key"]]).out
        table = call(f"{started['url']}/v1/leaderboard/mock", started["api_key"])
    refused = "banditmt: the API key is missing, unknown or no longer valid"
    assert (strange.out, strange.err.split(" [request ")[0], strange.err.count("\n")) == ("", refused, 1)
    assert (finals.out, finals.err) == ("", "banditmt: there is no phase finals (mock, training, dev)\n")
    assert [line.split(", mean ")[0] for line in played.splitlines()] == [
        "copy-source: finished, 5 rounds",
        "word-for-word: finished, 5 rounds",
    ]
    assert {(row["participant"], row["system"], row["rounds"]) for row in table["rows"]} == {
        ("local", "copy-source", 5),
        ("local", "word-for-word", 5),
    }


PLAYED = "copy-source: finished, 5 rounds, mean reward 0."
UNREACHABLE = "http://127.0.0.1:9"


@pytest.mark.parametrize("command", ["play", "compete"])
def test_the_environment_names_the_store(command, capsys, task, tmp_path, monkeypatch):
    monkeypatch.setenv("BANDITMT_STORE", f"sqlite:{tmp_path / 'exported'}")
    playing = [command, "copy-source", "--phase", "mock", "--task", task, "--runs", str(tmp_path / "runs")]
    assert printed(capsys, playing).out.startswith(PLAYED)
    assert (tmp_path / "exported").is_file()


@pytest.mark.parametrize("command", ["play", "compete"])
@pytest.mark.parametrize("exported_store", [{}, {"BANDITMT_STORE": "sqlite:nowhere"}])
def test_the_environment_names_the_address(command, exported_store, capsys, tmp_path, monkeypatch):
    """With both variables set, it plays over HTTP, as with --url."""
    monkeypatch.chdir(tmp_path)
    for name, value in exported_store.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("BANDITMT_URL", UNREACHABLE)
    assert "no API key" in printed(capsys, [command, "copy-source", "--phase", "mock"], code=2).err
    assert list(tmp_path.iterdir()) == []


def test_task_and_store_on_the_command_line_override_the_address_in_the_environment(
    capsys, task, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BANDITMT_URL", UNREACHABLE)
    playing = ["play", "copy-source", "--phase", "mock"]
    assert printed(capsys, [*playing, "--task", task]).out.startswith(PLAYED)
    assert printed(capsys, [*playing, "--store", "sqlite:.banditmt/store.sqlite"]).out.startswith(PLAYED)


@pytest.mark.parametrize("command", ["play", "compete"])
@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--task", "x", "--url", "http://localhost"], 2, "banditmt: Invalid value: --task is for playing in process"),
        (
            ["--store", "sqlite:x", "--url", "http://localhost"],
            2,
            "banditmt: Invalid value: --store is for playing in process",
        ),
        (
            ["--url", "http://localhost:9"],
            2,
            "banditmt: Invalid value: no API key: give --api-key, or set BANDITMT_API_KEY",
        ),
        (["--api-key", "x"], 2, "banditmt: Invalid value: --api-key is for playing over HTTP, but there is no --url"),
        (["--task", "nowhere", "--store", "sqlite:store"], 1, "banditmt: nowhere is not a task"),
        (["--url", "nowhere", "--api-key", "x"], 2, "banditmt: 'nowhere' is not a valid service address"),
    ],
)
def test_a_wrong_address_is_refused_before_the_first_round(
    command, options, code, complaint, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    shown = printed(capsys, [command, "copy-source", "--phase", "dev", *options], code)
    assert shown.err.startswith(complaint)
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["play", "nope", "--phase", "dev"], 2, "banditmt: there is no system 'nope'; there are copy-source"),
        (["compete", "nope", "--phase", "dev"], 2, "banditmt: there is no system 'nope'; there are copy-source"),
        (["play", "copy-source", "--phase", "dev", "--store", "mysql:x"], 2, "banditmt: a store is sqlite:PATH or"),
        (["play", "copy-source", "--phase", "dev", "--name", "../x"], 2, "banditmt: the name of a system is 1 to 64"),
        (["play", "copy-source"], 2, "banditmt: Missing option '--phase'"),
        (
            ["play", "copy-source", "--phase", "dev", "--set", "batch=2"],
            2,
            "banditmt: copy-source: there is no setting 'batch': this system has none\n",
        ),
        (
            ["compete", "BNMT-EL", "BNMT-REPLAY", "--phase", "dev", "--set", "schedule.temperature=1"],
            2,
            "banditmt: BNMT-REPLAY: there is no setting 'schedule.temperature'; there are batch, ",
        ),
        (
            ["play", "BNMT-EL", "--phase", "dev", "--set", "batch=0"],
            2,
            "banditmt: BNMT-EL: batch must be 1 or more, not 0\n",
        ),
        (
            ["play", "copy-source", "--phase", "dev", "--track", "excel"],
            2,
            "banditmt: there is no tracker 'excel'; there are tensorboard, mlflow, wandb\n",
        ),
        (
            ["compete", "copy-source", "--phase", "dev", "--track", "wandb"],
            2,
            "banditmt: wandb is not installed: pip install 'banditmt[wandb]'\n",
        ),
        (["play", "BNMT-EL", "--phase", "dev", "--set", "batch"], 2, "banditmt: a setting is given as NAME=VALUE, not"),
        (["play", "BNMT-EL", "--phase", "dev", "--config", "no.toml"], 1, "banditmt: no.toml: no such file"),
        (["play", "no_module:X", "--phase", "dev"], 2, "banditmt: there is no module 'no_module' for the system"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(arguments, code, complaint, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert printed(capsys, arguments, code).err.startswith(complaint)


@pytest.fixture
def no_processes(monkeypatch):
    def start(_process):
        raise AssertionError("a process was started")

    monkeypatch.setattr(SpawnProcess, "start", start)


@pytest.mark.parametrize("command", ["play", "compete"])
def test_a_missing_store_is_not_created(command, capsys, tmp_path, no_processes):
    typo = tmp_path / "typo.sqlite"
    shown = printed(capsys, [command, "copy-source", "--phase", "dev", "--store", f"sqlite:{typo}"], code=1)
    assert shown.err == f"banditmt: there is no store at {typo}; --task FOLDER loads a task first\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["play", "copy-source"], ["compete", "copy-source", "word-for-word"]])
def test_an_unknown_phase_is_refused_once(command, capsys, task, folders, no_processes):
    playing = [*command, "--phase", "finals", *folders]
    with_task = printed(capsys, [*playing, "--task", task], code=2)
    assert with_task.err == "banditmt: there is no phase finals (mock, training, dev)\n"
    assert printed(capsys, playing, code=2).err == (
        "banditmt: there is no phase finals (mock, training, dev); --task FOLDER loads a task first\n"
    )


def test_a_store_without_a_task_has_no_phases(capsys, folders):
    open_store(folders[1]).close()
    assert printed(capsys, ["play", "copy-source", "--phase", "dev", *folders], code=2).err == (
        "banditmt: there is no phase dev (none is loaded); --task FOLDER loads a task first\n"
    )
