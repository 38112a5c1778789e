"""What a round costs the functions: with bandit feedback and with post-edits, now and at another commit.

``python -m benchmarks.service --against TREE`` compares both with a bandit round at another commit, which is checked
out at TREE (``git worktree add --detach TREE COMMIT``). Without it, only a post-edit round with a bandit round.

Every row is a process of its own, on a SQLite store of its own, which plays the same sentences by copying the source.
The processes play short slices in turn. What counts is CPU time, and the median of the ratios of slices that were
played one after the other: other programs that share the machine disturb both alike. The client's part (writing and
reading JSON) is included, in all rows.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.harness.bounds import Bounds
from benchmarks.harness.http_servers import TreeError
from benchmarks.harness.play_slices import API_KEY_VARIABLE
from benchmarks.harness.playing import sentence_pairs

THIS_TREE = Path(__file__).resolve().parents[1]
PLAYER = THIS_TREE / "benchmarks" / "harness" / "play_slices.py"
PAIRS, DEV_ROUNDS, TRAINING_ROUNDS = 2_000, 250, 1_000
SLICES, WARM_UP_SLICES = 100, 5
MAX_BANDIT_RATIO = 1.00  # to a bandit round at the other commit
MAX_POST_EDIT_RATIO = 1.10  # likewise

BANDIT, POST_EDIT, BEFORE = "bandit round", "post-edit round", "bandit round at the other commit"


class RoundPlayer:
    """A process that plays rounds with the packages of a working tree."""

    def __init__(self, tree: Path, folder: Path, text: Path, *options: str) -> None:
        self._tree, store = tree, f"sqlite:{folder / 'store.sqlite'}"
        self._environment = {
            **os.environ,
            "PYTHONPATH": f"{tree}{os.pathsep}{tree / 'client_sdk'}",
            "BANDITMT_STORE": store,
        }
        languages, sizes = ("--source", "de", "--target", "en"), ("--dev", DEV_ROUNDS, "--training", TRAINING_ROUNDS)
        task = folder / "task"
        self._banditmt("corpus", "import", "--out", task, "--in-domain", text, *languages, *sizes, *options)
        self._banditmt("admin", "load", task)
        key = json.loads(self._banditmt("admin", "participant", "add", "bench", "--json"))["api_key"]
        self._environment |= {"BANDITMT_STORE": f"{store}?synchronous=normal", API_KEY_VARIABLE: key}
        self.costs: list[float] = []  # of a round, in microseconds, by slice

    def __enter__(self) -> "RoundPlayer":
        self._process = subprocess.Popen(
            [sys.executable, str(PLAYER)],
            env=self._environment,
            cwd=self._tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def play_slice(self) -> float:
        """Play a slice, and return what a round of it cost."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def _banditmt(self, *arguments: object) -> str:
        command = [str(Path(sys.executable).with_name("banditmt")), *map(str, arguments)]
        done = subprocess.run(command, env=self._environment, cwd=self._tree, capture_output=True, text=True)
        if done.returncode:
            raise TreeError(f"{' '.join(command)} failed in {self._tree}: {done.stderr.strip()}")
        return done.stdout


def compare(other_tree: Path | None = None, slices: int = SLICES) -> bool:
    """Measure and print what a round costs. Return whether every bound is met."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        text = folder / "pairs.tsv"
        text.write_text("".join(f"{source}\t{reference}\n" for source, reference in sentence_pairs(PAIRS)))
        rows = {BANDIT: (THIS_TREE, ()), POST_EDIT: (THIS_TREE, ("--feedback", "post-edit"))}
        if other_tree is not None:
            rows = {BEFORE: (other_tree, ()), **rows}
        players = {}
        for number, (label, (tree, options)) in enumerate(rows.items()):
            (place := folder / str(number)).mkdir()
            players[label] = stack.enter_context(RoundPlayer(tree, place, text, *options))
        for slice_number in range(WARM_UP_SLICES + slices):
            for player in players.values():
                cost = player.play_slice()
                if slice_number >= WARM_UP_SLICES:
                    player.costs.append(cost)
    costs = {label: player.costs for label, player in players.items()}
    return _report(costs)


def _report(costs: dict[str, list[float]]) -> bool:
    bounds = Bounds()
    print(f"{'CPU time of a':36}{'median':>10}{'fastest slice':>16}")
    for label, row in costs.items():
        print(f"{label:36}{median(row):7.1f} us{min(row):13.1f} us")
    print(f"{POST_EDIT} to {BANDIT}: {_ratio(costs[POST_EDIT], costs[BANDIT]):.3f}", flush=True)
    if BEFORE in costs:
        for label, bound in ((BANDIT, MAX_BANDIT_RATIO), (POST_EDIT, MAX_POST_EDIT_RATIO)):
            ratio = _ratio(costs[label], costs[BEFORE])
            print(f"{label} to {BEFORE}: {ratio:.3f}; bound {bound:.2f}: {bounds.check(ratio <= bound)}", flush=True)
    return bounds.all_met


def _ratio(costs: Sequence[float], rivals: Sequence[float]) -> float:
    return median(cost / rival for cost, rival in zip(costs, rivals, strict=True))
