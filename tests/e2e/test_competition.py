"""A whole competition through the real service, from an empty folder to the published leaderboard, on both stores.

Four participants play at once over HTTP: with the Python SDK, with the Java SDK, with a program that reads and writes
lines, and with a neural system that learns. The organiser uses the commands of the README.
"""

import json
import os
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from banditmt_client import Client
from lambdas.registry import Registry
from lambdas.store import open_store
from simulator import cli
from tests.client_sdk.java_sdk import java_sdk
from tests.faults.scenario import VOLATILE_COLUMNS, example
from tests.simulator.cli.serve_process import serving

TRANSLATOR = Path(__file__).parents[2] / "client_sdk" / "examples" / "translator.sh"
PLAY = [sys.executable, "-c", "import sys; from banditmt_client.play import main; sys.exit(main())"]
PHASE, ROUNDS = "dev", 310  # four passes over 70 held-out sentences, with ten fresh ones between two passes
HELD_OUT = {"passes": 4, "size": 70, "ends": [70, 150, 230, 310]}
SYSTEMS = {"ada": "learner", "bob": "java-copy", "eve": "word-swap", "ian": "BNMT-EL-CV"}


def typed(*words):
    assert cli.run([str(word) for word in words]) == 0


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    folder = tmp_path_factory.mktemp("competition")
    sizes = ["--dev", ROUNDS, "--training", 1_211, "--out-of-domain", 300]
    typed("corpus", "synth", "--out", folder / "task", *sizes)
    typed("corpus", "check", folder / "task")
    typed(
        "pretrain",
        "BNMT-EL-CV",
        "--task",
        folder / "task",
        "--models",
        folder / "models",
        "--size",
        "tiny",
        "--steps",
        20,
    )
    return folder / "task"


def python_plays(url, key, folder):
    with Client(key, url) as client:
        example.play(client, PHASE, SYSTEMS["ada"], folder / "ada.json")


def java_plays(url, key, classes):
    with java_sdk(classes) as sdk:
        run = sdk.client(key, url).open_run(phase=PHASE, system=SYSTEMS["bob"])
        for sentence in run:
            run.submit(sentence.source)


def a_program_plays(url, key):
    environment = {**os.environ, "BANDITMT_URL": url, "BANDITMT_API_KEY": key}
    options = ["--phase", PHASE, "--system", SYSTEMS["eve"], "--", str(TRANSLATOR)]
    subprocess.run([*PLAY, *options], env=environment, check=True, capture_output=True, timeout=300)


def a_model_plays(url, key, models, folder):
    places = ["--models", models, "--runs", folder / "runs"]
    typed("play", SYSTEMS["ian"], "--phase", PHASE, "--url", url, "--api-key", key, *places)


def hold_competition(task, store, folder, classes):
    """Serve the task, register participants, let all play at once, and return the public leaderboard."""
    folder.mkdir()
    with serving("--task", str(task), "--store", store) as started, ThreadPoolExecutor(4) as pool:
        url = started["url"]
        keys = {name: Registry(open_store(store)).add_participant(name) for name in SYSTEMS}
        playing = [
            pool.submit(python_plays, url, keys["ada"], folder),
            pool.submit(java_plays, url, keys["bob"], classes),
            pool.submit(a_program_plays, url, keys["eve"]),
            pool.submit(a_model_plays, url, keys["ian"], task.parent / "models", folder),
        ]
        for each in playing:
            each.result()
        with urllib.request.urlopen(f"{url}/v1/leaderboard/{PHASE}", timeout=60) as response:
            return json.load(response)


def without_times(row):
    return {name: value for name, value in row.items() if name not in VOLATILE_COLUMNS}


def publish(store, capsys):
    """Close the phase, verify and publish; return the verification, the held-out passes, the table and the ledger."""
    typed("admin", "phase", "close", PHASE, "--store", store)
    typed("admin", "oracle", "set", "ada", SYSTEMS["ada"], "--store", store)
    capsys.readouterr()
    typed("leaderboard", "--phase", PHASE, "--json", "--store", store)
    board = json.loads(capsys.readouterr().out)
    typed("admin", "verify", "--json", "--store", store)
    verified = json.loads(capsys.readouterr().out)
    with ExitStack() as stack:
        opened = open_store(store)
        stack.callback(opened.close)
        ledger = {
            run.system: [(each.index, each.translation, each.observed_reward) for each in opened.rounds(run.id)]
            for run in Registry(opened).runs(PHASE)
        }
    return verified, board["held_out"], [without_times(row) for row in board["rows"]], ledger


def test_one_competition_on_two_stores(task, tmp_path, dynalite_url, java_classes, capsys):
    stores = {"sqlite": f"sqlite:{tmp_path / 'store'}", "dynamodb": f"dynamodb:{dynalite_url}?prefix=e2e"}
    outcomes = {}
    for name, store in stores.items():
        live = hold_competition(task, store, tmp_path / name, java_classes)
        assert {row["system"]: (row["status"], row["rounds"]) for row in live["rows"]} == dict.fromkeys(
            SYSTEMS.values(), ("finished", ROUNDS)
        )
        assert live["held_out"] == {"passes": 4, "size": 0, "ends": []}  # hidden until the phase is closed
        outcomes[name] = publish(store, capsys)
    verified, held_out, table, ledger = outcomes["sqlite"]
    assert verified["trust"].startswith("proven, unless discrepancies are listed: ")
    assert {name: value for name, value in verified.items() if name != "trust"} == {
        "runs": 4,
        "rounds": 4 * ROUNDS,
        "rounds_behind": 0,
        "withdrawn": [],
        "links": {"keyed": 0, "unkeyed": 4 * ROUNDS, "absent": 0, "foreign": 0},
        "discrepancies": [],
    }
    assert held_out == HELD_OUT
    assert len({row["reward"] for row in table}) == 4
    learned = {row["system"]: [each["relative_sentence_bleu"] for each in row["passes"]] for row in table}
    assert learned["java-copy"] == learned["word-swap"] == [0, 0, 0, 0]  # every pass has the same sentences
    assert [len(set(learned[name])) > 1 for name in ("learner", "BNMT-EL-CV")] == [True, True]
    assert outcomes["dynamodb"] == outcomes["sqlite"]
    typed("leaderboard", "--phase", PHASE, "--html", tmp_path / "page", "--store", stores["sqlite"])
    assert (tmp_path / "page" / "index.html").is_file()
    assert all(len(rounds) == ROUNDS for rounds in ledger.values())
