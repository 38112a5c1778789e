"""Every number of the leaderboard equals what an independent script computes from the exported ledger."""

import ast
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lambdas.archive import export
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from leaderboard.families import RoleKind
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

SCRIPT = Path(__file__).with_name("recompute.py")
PHASE = Phase("training", Layout(blocks=3, block=30, gap=255), repeatable=False)  # 600 rounds, 200 blocks of 3
WORDS = [f"wort{number}" for number in range(60)]
# share of the words that each system gets right, at its first and its last round, and how far it plays
SYSTEMS = {
    ("organiser", "A-oracle"): (0.95, 0.95, 600),
    ("organiser", "B-oracle"): (0.85, 0.85, 600),
    ("organiser", "A-static"): (0.5, 0.5, 600),
    ("organiser", "B-static"): (0.55, 0.55, 600),
    ("acme", "A-learner"): (0.5, 0.9, 600),
    ("acme", "B-learner"): (0.55, 0.6, 600),
    ("rival", "A-twin"): (0.5, 0.89, 600),
    ("rival", "hopeless"): (0.0, 0.0, 600),
    ("rival", "B-unfinished"): (0.5, 0.7, 391),
}


def texts(count):
    rng = random.Random(7)
    for _ in range(count):
        words = rng.choices(WORDS, k=rng.choice([1, 2, 3, 5, 8, 13]))
        yield " ".join(words), " ".join(word.replace("wort", "word") for word in words)


def translator(first, last, seed):
    rng = random.Random(seed)

    def translate(sentence):
        right = first + (last - first) * sentence.index / sentence.total
        words = [word.replace("wort", "word") if rng.random() < right else "?" for word in sentence.source.split()]
        return " ".join(words[:-1] if rng.random() < 0.1 and len(words) > 1 else words)

    return translate


@pytest.fixture(scope="module")
def competition(tmp_path_factory):
    """The leaderboard from the service, and the numbers from the script."""
    folder = tmp_path_factory.mktemp("competition")
    store = open_store(f"sqlite:{folder / 'store'}?synchronous=normal")
    load_phase(store, PHASE, texts(PHASE.layout.distinct), runs=100)
    service, registry = Service(store), Registry(store)
    players = {name: tasks.participant(store, service, name) for name in ("organiser", "acme", "rival")}
    for seed, ((owner, system), (first, last, rounds)) in enumerate(SYSTEMS.items()):
        run = service.open_run(players[owner], PHASE.name, system).run
        translate = translator(first, last, seed)
        tasks.play(service, players[owner], run, rounds=rounds, translate=translate)
    for family in "AB":
        registry.set_role("organiser", f"{family}-oracle", RoleKind.ORACLE)
        registry.set_role("organiser", f"{family}-static", RoleKind.BASELINE)
    registry.set_phase_state(PHASE.name, PhaseState.CLOSED)
    board = Service(store).leaderboard(None, PHASE.name).as_dict()
    archive, asked = folder / "task.jsonl.gz", folder / "board.json"
    export(store, archive, texts=True)
    asked.write_text(json.dumps(board), encoding="utf-8")
    store.close()
    recomputed = subprocess.run([sys.executable, SCRIPT, archive, asked], check=True, capture_output=True, text=True)
    return json.loads(asked.read_text()), json.loads(recomputed.stdout)


def test_the_script_is_independent():
    nodes = list(ast.walk(ast.parse(SCRIPT.read_text())))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {(node.module or "").partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    assert plain | parts == {"gzip", "json", "sys", "numpy", "sacrebleu"}


def test_every_run_is_there(competition):
    board, recomputed = competition
    assert len(board["rows"]) == len(SYSTEMS) == len(recomputed["runs"])
    assert {row["system"]: row["status"] for row in board["rows"]}["B-unfinished"] == "abandoned"


@pytest.mark.parametrize("number", ["rounds", "reward", "mean_reward", "gap_closed", "length_ratio"])
def test_one_number_per_run(competition, number):
    board, recomputed = competition
    for row in board["rows"]:
        assert row[number] == pytest.approx(recomputed["runs"][row["run"]][number], abs=1e-8), row["system"]


def test_regret(competition):
    board, recomputed = competition
    for row in board["rows"]:
        expected = recomputed["runs"][row["run"]]
        assert row["regrets"] == pytest.approx(expected["regrets"], abs=1e-9)
        assert row["regret"]["value"] == pytest.approx(expected["regret"], abs=1e-9)
        assert row["regret"]["rounds"] == (600 if row["status"] == "finished" else 390)  # the last block that ended


def test_translation_quality_of_all_rounds_and_of_the_last_quarter(competition):
    board, recomputed = competition
    for row in board["rows"]:
        expected = recomputed["runs"][row["run"]]
        assert row["measures"]["bleu"]["value"] == pytest.approx(expected["all"]["corpus_bleu"], abs=1e-8)
        assert row["single_words"] == pytest.approx(expected["all"]["single_words"])
        late = row["last_quarter"] and {name: row["last_quarter"][name] for name in expected["all"]}
        assert late == pytest.approx(expected["last_quarter"], abs=1e-8), row["system"]
    assert sum(row["last_quarter"] is None for row in board["rows"]) == 1


def test_gain_over_the_baseline(competition):
    board, recomputed = competition
    for row in board["rows"]:
        if row["role"] == "baseline":
            assert row["reward_gain"] is None
        else:
            gain = recomputed["runs"][row["run"]]["reward_gain"]
            assert row["reward_gain"]["value"] == pytest.approx(gain, abs=1e-9)


def test_held_out_passes(competition):
    board, recomputed = competition
    for row in board["rows"]:
        expected = recomputed["runs"][row["run"]]["passes"]
        assert len(row["passes"]) == len(expected) == (2 if row["status"] == "abandoned" else 3)
        for found, wanted in zip(row["passes"], expected, strict=True):
            assert found == pytest.approx(wanted, abs=1e-8)


def test_curves(competition):
    board, recomputed = competition
    for row in board["rows"]:
        assert row["curve"] == pytest.approx(recomputed["runs"][row["run"]]["curve"], abs=5.1e-5)


def test_intervals_up_to_sampling_error(competition):
    board, recomputed = competition
    for row in board["rows"]:
        expected = recomputed["runs"][row["run"]]
        width = expected["interval"][1] - expected["interval"][0]
        assert row["interval"] == pytest.approx(expected["interval"], abs=0.12 * width)
        low, high = expected["regret_interval"]
        assert row["regret"]["interval"] == pytest.approx([low, high], abs=0.12 * (high - low) + 1e-12)


def test_ranks_and_groups(competition):
    board, recomputed = competition
    ranked = sorted((row for row in board["rows"] if row["rank"]), key=lambda row: row["rank"])
    assert [row["run"] for row in ranked] == recomputed["order"]
    groups = {row["system"]: row["group"] for row in ranked}
    assert groups["A-learner"] == groups["A-twin"] == 1
    assert groups["B-learner"] == 2
    assert groups["hopeless"] == 3
