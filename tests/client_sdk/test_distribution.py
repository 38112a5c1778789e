"""``pip install ./client_sdk`` installs little, and the examples in the READMEs run as they are."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import sacremoses

from corpora.cleaning import normalise_punctuation, pretokenise, tokenise
from tests.client_sdk.fake_service import KEY, serving
from tests.client_sdk.java_sdk import java

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


def pip_install(python, requirement):
    """Install with the pip of this environment into another one: faster than installing pip there."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    return subprocess.run([*pip, "install", "--no-compile", requirement], capture_output=True, text=True, timeout=300)


def installed(environment):
    """Return the names of the distributions in a virtual environment."""
    return {path.name.partition("-")[0] for path in environment.glob("lib/*/site-packages/*.dist-info")}


def example(readme, language):
    """Return the first code block in this language."""
    block, *_ = re.findall(rf"^```{language}\n(.*?)^```", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return block


def play(command):
    """Run a participant against a small task, and check that it received every score."""
    with serving(SENTENCES) as server:
        environment = {**os.environ, "BANDITMT_URL": server.url, "BANDITMT_API_KEY": KEY}
        done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        assert [translation for _, translation, _ in server.service.ledger] == ["GRÖSSE XL", "FARBE BLAU"]
        received = [(int(index), float(score)) for index, score in map(str.split, done.stdout.splitlines())]
        assert received == [(index, score) for index, _, score in server.service.ledger]


def test_the_python_distribution_needs_only_requests_and_its_example_runs(tmp_path):
    environment = tmp_path / "venv"
    venv.create(environment)
    python = environment / "bin" / "python"
    assert installed(environment) == set()
    if pip_install(python, "requests").returncode != 0:
        pytest.skip("no package index can be reached")
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
    play([python, "-I", script])  # isolated: imports only from the virtual environment


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("The Size: XL.", "the size : xl ."),
        ("The terrier\u2019s \u201csize-XL\u201d isn't cheap!", "the terrier 's \" size-xl \" isn 't cheap !"),
    ],
)
def test_the_line_for_plain_text_in_the_readme_gives_the_convention_of_the_tasks(text, converted):
    [line] = re.findall(
        r"^    (MosesTokenizer.*)$", (CLIENT_SDK / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert eval(line, {**vars(sacremoses), "text": text}) == converted
    assert tokenise(pretokenise(normalise_punctuation(text, "en").lower(), "en"), "en") == converted


def test_the_java_example_runs(java_classes, tmp_path):
    source = tmp_path / "Readme.java"
    source.write_text(JAVA_TRANSLATOR % example(CLIENT_SDK / "java" / "README.md", "java"), encoding="utf-8")
    play(java(java_classes, "-Dfile.encoding=UTF-8", str(source)))
