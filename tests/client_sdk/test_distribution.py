"""What ``pip install ./client_sdk`` brings, and whether the READMEs' examples run as they stand."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.client_sdk.conformance import KEY, serving
from tests.client_sdk.java import java

CLIENT_SDK = Path(__file__).parents[2] / "client_sdk"
SENTENCES = ["größe xl", "farbe blau"]
TRANSLATOR = """
def translate(source): return source.upper()
def learn(sentence, score): print(sentence.index, score)
"""
JAVA_TRANSLATOR = """
import org.banditmt.client.*;

class Readme {
    static String translate(String source) { return source.toUpperCase(); }
    static void learn(Sentence sentence, double score) { System.out.println(sentence.index() + " " + score); }
    public static void main(String[] arguments) {
%s    }
}
"""


def pip_install(python, what):
    """The pip of these tests, working on another Python: faster than to give it a pip of its own."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    return subprocess.run([*pip, "install", "--no-compile", what], capture_output=True, text=True, timeout=300)


def installed(environment):
    """The distributions in a virtual environment."""
    return {path.name.partition("-")[0] for path in environment.glob("lib/*/site-packages/*.dist-info")}


def example(readme, language):
    """The one block of code in this language."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return block


def play(command):
    """Run a participant against a small task, and see that it was told every score."""
    with serving(SENTENCES) as server:
        environment = {**os.environ, "BANDITMT_URL": server.url, "BANDITMT_API_KEY": KEY}
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        assert [translation for _, translation, _ in server.task.ledger] == ["GRÖSSE XL", "FARBE BLAU"]
        seen = [(int(index), float(score)) for index, score in map(str.split, done.stdout.splitlines())]
        assert seen == [(index, score) for index, _, score in server.task.ledger]


def test_an_empty_venv_gets_requests_and_nothing_else_and_the_example_runs(tmp_path):
    environment = tmp_path / "venv"
    venv.create(environment)
    python = environment / "bin" / "python"
    assert installed(environment) == set()
    if pip_install(python, "requests").returncode != 0:
        pytest.skip("there is no package registry within reach")
    with_requests = installed(environment)
    sources = shutil.copytree(CLIENT_SDK, tmp_path / "client_sdk", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    installing = pip_install(python, str(sources))
    assert installing.returncode == 0, installing.stderr
    assert "requests" in with_requests
    assert installed(environment) - with_requests == {"banditmt_client"}
    assert (environment / "bin" / "banditmt-play").exists()
    assert len(list(environment.glob("lib/*/site-packages/banditmt_client/py.typed"))) == 1
    script = tmp_path / "example.py"
    script.write_text(TRANSLATOR + example(CLIENT_SDK / "README.md", "python"), encoding="utf-8")
    play([python, "-I", script])  # isolated: from the venv or not at all


def test_the_java_example_runs(java_classes, tmp_path):
    source = tmp_path / "Readme.java"
    source.write_text(JAVA_TRANSLATOR % example(CLIENT_SDK / "java" / "README.md", "java"), encoding="utf-8")
    play(java(java_classes, "-Dfile.encoding=UTF-8", str(source)))
