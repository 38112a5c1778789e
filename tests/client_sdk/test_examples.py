"""The examples that learn from post-edits, played against the service: they score higher the longer they play."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from banditmt_client import Client, ConflictError
from tests.client_sdk.live_service import LiveService

EXAMPLES = Path(__file__).parents[2] / "client_sdk" / "examples"
WORDS = [(f"wort{number}", f"word{number}") for number in range(30)]
ROUNDS = 120


def pairs():
    """Return sentences of five words, some with a translation of another length, from which nothing is learned."""
    rng = random.Random(7)
    for number in range(ROUNDS):
        words = [rng.choice(WORDS) for _ in range(5)]
        target = " ".join(translation for _, translation in words)
        yield " ".join(word for word, _ in words), target if number % 10 else f'{target} "\\ more"'


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    live = LiveService(tmp_path_factory.mktemp("examples"), list(pairs()))
    yield live
    live.kill()


def run_example(service, *command):
    """Run a participant to its end; return its standard output."""
    variables = {"BANDITMT_URL": service.url, "BANDITMT_API_KEY": service.api_key}
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rounds_of(service, system):
    """Return the rounds of the run that a system has finished."""
    with Client(service.api_key, service.url) as client, pytest.raises(ConflictError) as finished:
        client.open_run(phase="post-edits", system=system, again=False)
    rounds = service.rounds(finished.value.run)
    assert len(rounds) == ROUNDS
    return rounds


def mean_reward(rounds):
    return sum(played.observed_reward for played in rounds) / len(rounds)


@pytest.fixture(scope="module")
def python_output(service):
    """What the Python example prints."""
    return run_example(service, sys.executable, str(EXAMPLES / "post_edits.py"))


@pytest.fixture(scope="module")
def shell_memory(service, tmp_path_factory):
    """The file in which the shell example remembers words."""
    memory = tmp_path_factory.mktemp("shell") / "memory"
    run_example(
        *(service, sys.executable, "-c", "from banditmt_client.play import main; raise SystemExit(main())"),
        *("--feedback", "--phase", "post-edits", "--system", "shell-memory"),
        *("--", str(EXAMPLES / "word_memory.sh"), str(memory)),
    )
    return memory


def test_the_python_example_learns_from_post_edits(service, python_output):
    rounds = rounds_of(service, "word-memory")
    assert mean_reward(rounds[:30]) < 0.7
    assert mean_reward(rounds[-30:]) > 0.9
    assert python_output.splitlines() == [
        f"{played.index}\t{played.observed_reward:.4f}\t{played.translation}" for played in rounds
    ]


def test_the_shell_example_learns_from_post_edits(service, shell_memory):
    rounds = rounds_of(service, "shell-memory")
    assert mean_reward(rounds[:30]) < 0.7
    assert mean_reward(rounds[-30:]) > 0.9
    assert {tuple(line.split()) for line in shell_memory.read_text().splitlines()} == set(WORDS)


@pytest.mark.usefixtures("python_output", "shell_memory")
def test_both_examples_make_the_same_translations(service):
    python, shell = (rounds_of(service, system) for system in ("word-memory", "shell-memory"))
    assert [played.translation for played in python] == [played.translation for played in shell]


def test_the_examples_are_short():
    lines = (EXAMPLES / "post_edits.py").read_text().splitlines()
    assert len([line for line in lines[1:] if line]) == 10
    lines = (EXAMPLES / "word_memory.sh").read_text().splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 8
