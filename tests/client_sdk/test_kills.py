"""Either side dies of SIGKILL in the middle of a run, and every round is there once, with its score seen."""

import json
import os
import random
import runpy
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.client_sdk.live import LiveService

EXAMPLE = Path(__file__).parents[2] / "client_sdk" / "examples" / "learner.py"
PAIRS = [(f"satz {n} mit rot , blau und k-{n % 7}", f"sentence {n} : rot , blau , k-{n % 7}") for n in range(500)]
KILLS = 50


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    live = LiveService(tmp_path_factory.mktemp("live"), PAIRS)
    yield live
    live.kill()


# the service dies


def test_a_killed_and_restarted_service_loses_nothing(service, sdk, make_client):
    run = make_client(service.api_key, service.url, retries=20).open_run(phase="dev", system=f"restarted-{sdk}")
    restart = threading.Thread(target=service.restart)
    seen = []
    for sentence in run:
        if sentence.index == len(PAIRS) // 2:
            restart.start()  # and the submission below races against the killer
        seen.append((sentence.index, sentence.source, run.submit(sentence.source)))
    restart.join()
    assert [(index, source) for index, source, _ in seen] == [
        (index, source) for index, (source, _) in enumerate(PAIRS)
    ]
    assert [(played.index, played.translation, played.shown) for played in service.rounds(run.id)] == seen
    assert run.progress.cumulative_reward == pytest.approx(sum(score for _, _, score in seen))


# the learner dies

# A process that has loaded the SDK and forks a learner for every line it reads: fifty interpreters would take a minute.
NURSERY = """
import os, runpy, sys
import banditmt_client
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        sys.argv = line.rstrip("\\n").split("\\t")
        runpy.run_path(sys.argv[0], run_name="__main__")
        sys.stdout.flush()
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    """Gives birth to learners."""

    def __init__(self, process, checkpoint):
        self._process = process
        self._command = "\t".join([str(EXAMPLE), "dev", "mortal", str(checkpoint)]) + "\n"

    def birth(self):
        """Start a learner; returns its process id."""
        self._process.stdin.write(self._command)
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def death(self):
        """Wait for the end of the learner; returns what it said and its exit code, negative for a signal."""
        said = ""
        while not (line := self._process.stdout.readline()).strip().lstrip("-").isdigit():
            said += line
        return said, int(line)


@contextmanager
def nursery(service, checkpoint):
    environment = {**os.environ, "BANDITMT_URL": service.url, "BANDITMT_API_KEY": service.api_key}
    command = [sys.executable, "-c", NURSERY]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield Nursery(process, checkpoint)
        process.communicate()


def learned(checkpoint):
    """How many rounds the learner on the disk has learned from."""
    return json.loads(checkpoint.read_text())["rounds"] if checkpoint.exists() else 0


def live_and_die(nursery, checkpoint, rng):
    """A learner is killed some rounds after its birth, at any moment of a round."""
    goal = learned(checkpoint) + rng.randint(0, 4)
    child = nursery.birth()
    deadline = time.monotonic() + 30
    while learned(checkpoint) < goal and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    assert nursery.death() == ("", -signal.SIGKILL)


def test_a_learner_killed_fifty_times_has_seen_every_score(service, tmp_path):
    rng = random.Random(50)
    checkpoint = tmp_path / "learner.json"
    rescued = 0
    with nursery(service, checkpoint) as home:
        for _ in range(KILLS):
            live_and_die(home, checkpoint, rng)
            if checkpoint.exists():
                state = json.loads(checkpoint.read_text())
                rescued += len(service.rounds(state["run"])) > state["rounds"]  # committed, and not yet learned from
        home.birth()
        said, code = home.death()
    assert (said.startswith("mortal: mean reward 0."), code) == (True, 0)
    assert rescued > 0
    state = json.loads(checkpoint.read_text())
    ledger = service.rounds(state["run"])
    assert [played.index for played in ledger] == list(range(len(PAIRS)))
    undisturbed = runpy.run_path(str(EXAMPLE))["Learner"]()  # learns from the ledger, in one life
    undisturbed.state["run"] = state["run"]
    for played in ledger:
        undisturbed.update(played.translation, played.shown)
    assert state == undisturbed.state
