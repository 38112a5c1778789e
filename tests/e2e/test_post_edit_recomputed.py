"""Every measure of a post-edit board equals what an independent script computes from the exported ledger."""

import ast
import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lambdas.archive import export
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from leaderboard.families import RoleKind
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

SCRIPT = Path(__file__).with_name("recompute_post_edit.py")
TOTAL = 240  # 30 coarse blocks of 8 rounds
PHASE = Phase("post", Layout.plain(TOTAL), repeatable=True, feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT))
SYSTEMS = {
    "static": (0.5, 0.5, TOTAL),
    "learner": (0.4, 0.9, TOTAL),
    "forgets": (0.8, 0.3, TOTAL),
    "begun": (0.6, 0.6, 90),
}
MEASURES = ["bleu", "sbleu", "ter", "r0", "r1", "r0_1", "slope", "slope_cumulative"]


def texts():
    rng = random.Random(7)
    for number in range(TOTAL):
        words = rng.choices(range(30 + 2 * number), k=rng.choice([1, 2, 3, 5, 8, 13]))
        yield " ".join(f"wort{word}" for word in words), " ".join([*(f"word{word}" for word in words), "."])


def translator(first, last, seed):
    """Return a system that gets some words right, drops some, and moves the last word to the front now and then."""
    rng = random.Random(seed)

    def translate(sentence):
        right = first + (last - first) * sentence.index / sentence.total
        words = [word.replace("wort", "word") if rng.random() < right else "?" for word in sentence.source.split()]
        words = [word for word in words if rng.random() < 0.95] or ["?"]
        return " ".join([*words[-1:], *words[:-1]] if rng.random() < 0.2 else [*words, "."])

    return translate


@pytest.fixture(scope="module")
def board_and_recomputed(tmp_path_factory):
    """The board from the service, and the numbers from the script."""
    folder = tmp_path_factory.mktemp("post-edit")
    store = open_store(f"sqlite:{folder / 'store'}?synchronous=normal")
    load_phase(store, PHASE, texts(), language="tlh")  # a language without stop words: every word counts
    service = Service(store)
    player = tasks.participant(store, service, "acme")
    for seed, (system, (first, last, rounds)) in enumerate(SYSTEMS.items()):
        run = service.open_run(player, PHASE.name, system).run
        tasks.play(service, player, run, rounds=rounds, translate=translator(first, last, seed))
    Registry(store).set_role("acme", "static", RoleKind.BASELINE)
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


def test_every_run_is_there(board_and_recomputed):
    board, recomputed = board_and_recomputed
    assert {row["system"]: row["rounds"] for row in board["rows"]} == {
        system: rounds for system, (*_, rounds) in SYSTEMS.items()
    }
    assert {row["run"] for row in board["rows"]} == set(recomputed)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_of_every_run(board_and_recomputed, name):
    board, recomputed = board_and_recomputed
    for row in board["rows"]:
        found = row["measures"][name]["value"]
        tolerance = 1e-4 if name == "sbleu" else 1e-8  # sentence BLEU is summed in millionths
        assert found == pytest.approx(recomputed[row["run"]][name], abs=tolerance), row["system"]


def test_the_curves_of_ter(board_and_recomputed):
    board, recomputed = board_and_recomputed
    for row in board["rows"]:
        for model, expected in recomputed[row["run"]]["ter_curves"].items():
            assert row["adaptation"]["ter"][model]["errors"] == pytest.approx(expected, abs=0.0051)


def test_the_curves_that_differences_are_drawn_from(board_and_recomputed):
    board, recomputed = board_and_recomputed
    for row in board["rows"]:
        for name in ("bleu", "r1"):
            expected = recomputed[row["run"]][f"{name}_curve"]
            assert row["adaptation"]["curves"][name] == pytest.approx(expected, abs=0.0051)


def test_systems_learn_stand_still_and_forget(board_and_recomputed):
    board, _ = board_and_recomputed
    intervals = {row["system"]: row["measures"]["slope"]["interval"] for row in board["rows"]}
    assert intervals["learner"][1] < 100 < intervals["forgets"][0]
    assert intervals["static"][0] < 100 < intervals["static"][1]
