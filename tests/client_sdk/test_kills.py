"""After SIGKILL of the service or the learner, every round is committed once and every score was received."""

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

from banditmt_client import Round
from tests.client_sdk.live_service import LiveService

EXAMPLE = Path(__file__).parents[2] / "client_sdk" / "examples" / "learner.py"
PAIRS = [(f"satz {n} mit rot , blau und k-{n % 7}", f"sentence {n} : rot , blau , k-{n % 7}") for n in range(500)]
KILLS = 50


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    live = LiveService(tmp_path_factory.mktemp("live"), PAIRS)
    yield live
    live.kill()


# killing the service


@pytest.mark.parametrize("phase", ["dev", "post-edits"])
def test_a_killed_and_restarted_service_loses_nothing(phase, service, sdk, make_client):
    client = make_client(service.api_key, service.url, retries=20)
    run = client.open_run(phase=phase, system=f"restarted-{sdk.name}")
    restart = threading.Thread(target=service.restart)
    received, feedback = [], []
    for sentence in run:
        if sentence.index == len(PAIRS) // 2:
            restart.start()  # the submission below races with the kill
        score = run.submit(sentence.source, log_probability=-sentence.index / 8)
        received.append((sentence.index, sentence.source, score))
        feedback.append((run.last.post_edit, sentence.position))
    restart.join()
    has_post_edits = phase == "post-edits"
    assert feedback == [
        (target, index % 10) if has_post_edits else (None, None) for index, (_, target) in enumerate(PAIRS)
    ]
    assert [played.log_probability for played in service.rounds(run.id)] == [-index / 8 for index in range(len(PAIRS))]
    assert [(index, source) for index, source, _ in received] == [
        (index, source) for index, (source, _) in enumerate(PAIRS)
    ]
    assert [(played.index, played.translation, played.observed_reward) for played in service.rounds(run.id)] == received
    assert run.progress.cumulative_reward == pytest.approx(sum(score for _, _, score in received))


# killing the learner

# A process that has imported the SDK and forks a learner for every line that it reads: starting fifty interpreters
# would take a minute.
FORK_SERVER = """
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


class LearnerProcesses:
    """Starts learners by forking, one after the other."""

    def __init__(self, process, phase, checkpoint):
        self._process = process
        self._command = "\t".join([str(EXAMPLE), phase, "mortal", str(checkpoint)]) + "\n"

    def start(self):
        """Start a learner and return its process id."""
        self._process.stdin.write(self._command)
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def wait(self):
        """Wait for the learner to exit; return its output and exit code, which is negative for a signal."""
        output = ""
        while not (line := self._process.stdout.readline()).strip().lstrip("-").isdigit():
            output += line
        return output, int(line)


@contextmanager
def learner_processes(service, phase, checkpoint):
    environment = {**os.environ, "BANDITMT_URL": service.url, "BANDITMT_API_KEY": service.api_key}
    command = [sys.executable, "-c", FORK_SERVER]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield LearnerProcesses(process, phase, checkpoint)
        process.communicate()


def rounds_learned(checkpoint):
    """Return how many rounds the learner in the checkpoint has learned from."""
    return json.loads(checkpoint.read_text())["rounds"] if checkpoint.exists() else 0


def start_and_kill(processes, checkpoint, rng):
    """Start a learner and kill it a few rounds later, at a random moment of a round."""
    goal = rounds_learned(checkpoint) + rng.randint(0, 4)
    child = processes.start()
    deadline = time.monotonic() + 30
    while rounds_learned(checkpoint) < goal and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(rng.uniform(0, 0.01))
    os.kill(child, signal.SIGKILL)
    assert processes.wait() == ("", -signal.SIGKILL)


@pytest.mark.parametrize("phase", ["dev", "post-edits"])
def test_a_learner_killed_many_times_learns_from_all_feedback(phase, service, tmp_path):
    rng = random.Random(50)
    checkpoint = tmp_path / "learner.json"
    caught_up = 0
    with learner_processes(service, phase, checkpoint) as processes:
        for _ in range(KILLS):
            start_and_kill(processes, checkpoint, rng)
            if checkpoint.exists():
                state = json.loads(checkpoint.read_text())
                caught_up += len(service.rounds(state["run"])) > state["rounds"]  # committed, and not yet learned from
        processes.start()
        output, code = processes.wait()
    assert (output.startswith("mortal: mean reward 0."), code) == (True, 0)
    assert caught_up > 0
    state = json.loads(checkpoint.read_text())
    ledger = service.rounds(state["run"])
    assert [played.index for played in ledger] == list(range(len(PAIRS)))
    undisturbed = runpy.run_path(str(EXAMPLE))["Learner"]()  # learns from the ledger without interruption
    undisturbed.state["run"] = state["run"]
    for played in ledger:
        source, target = PAIRS[played.index]
        post_edit = target if phase == "post-edits" else None
        undisturbed.update(Round("", played.index, source, played.translation, played.observed_reward, post_edit))
    assert state == undisturbed.state
