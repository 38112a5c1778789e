"""The Java SDK, compiled with plain javac and held from here: its clients and runs look like the Python SDK's.

So one suite tests both: the same names, the same errors with the same words, the same rules.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import banditmt_client
from banditmt_client import Progress, Round, Sentence

JAVA = Path(__file__).parents[2] / "client_sdk" / "java"
FIRST_PAUSE = 1  # millisecond: tests have no time


def compile_sdk(into: Path) -> str:
    """Compile the SDK, its tests and its examples for the oldest JDK that it promises; returns the class path."""
    if shutil.which("javac") is None:
        if os.environ.get("CI") == "true":
            raise RuntimeError("CI must test the Java SDK, and there is no javac")
        pytest.skip("there is no javac here: the Java SDK needs a JDK, 11 or newer")
    sdk, others = into / "sdk", into / "others"
    _javac(sdk, JAVA / "src" / "main")
    _javac(others, JAVA / "src" / "test", JAVA / "examples", options=["-cp", str(sdk)])
    return os.pathsep.join((str(sdk), str(others)))


def _javac(target: Path, *folders: Path, options: Sequence[str] = ()) -> None:
    sources = [str(path) for folder in folders for path in sorted(folder.rglob("*.java"))]
    strict = ["-Xlint:all", "-Werror", "-encoding", "UTF-8", "--release", "11"]
    command = ["javac", "-J-XX:TieredStopAtLevel=1", *strict, *options, "-d", str(target), *sources]
    subprocess.run(command, check=True, timeout=300)


def java(classes: str, *arguments: str) -> list[str]:
    """A command line that starts quickly, which matters more here than running fast."""
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp", classes, *arguments]


class JavaSdk:
    """A process with the Java SDK inside; see ``Bridge.java`` for what is said."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def call(self, name: str, *arguments: str | None) -> dict[str, str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        words = ["-" if text is None else "=" + text.encode("utf-16-be", "surrogatepass").hex() for text in arguments]
        self._process.stdin.write(" ".join([name, *words]) + "\n")
        self._process.stdin.flush()
        answer: dict[str, str] = json.loads(self._process.stdout.readline())
        if "bug" in answer:
            raise AssertionError(answer["bug"])
        if "error" in answer:
            error = getattr(banditmt_client, answer["error"])
            raised = error(answer["message"], code=answer["code"], status=int(answer["status"]))
            raised.request_id = answer["request_id"]
            if "run" in answer:
                raised.run = answer["run"]
            raise raised
        return answer

    def client(
        self, api_key: str, url: str, *, retries: int = 10, connect_timeout: float = 5.0, read_timeout: float = 30.0
    ) -> "JavaClient":
        milliseconds = [str(int(1000 * seconds)) for seconds in (connect_timeout, read_timeout)]
        return JavaClient(self, self.call("client", url, api_key, str(retries), *milliseconds, str(FIRST_PAUSE)))


@contextmanager
def java_sdk(classes: str) -> Iterator[JavaSdk]:
    command = java(classes, "org.banditmt.client.Bridge")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        yield JavaSdk(process)
        assert process.stdin is not None
        process.stdin.close()
    assert process.returncode == 0


class JavaClient:
    """A ``Client`` of the Java SDK."""

    def __init__(self, sdk: JavaSdk, answer: dict[str, str]) -> None:
        self._sdk = sdk
        self._place = answer["client"]

    def __repr__(self) -> str:
        return self._sdk.call("show", self._place)["shown"]

    def open_run(self, *, phase: str, system: str) -> "JavaRun":
        return JavaRun(self._sdk, self._sdk.call("open_run", self._place, phase, system))

    def get_run(self, run: str) -> "JavaRun":
        return JavaRun(self._sdk, self._sdk.call("get_run", self._place, run))

    def phases(self, *, interrupted: bool = False) -> str:
        return self._sdk.call("phases_interrupted" if interrupted else "phases", self._place)["phases"]

    def leaderboard(self, phase: str) -> str:
        return self._sdk.call("leaderboard", self._place, phase)["leaderboard"]

    def close(self) -> None:
        self._sdk.call("close", self._place)


class JavaRun:
    """A ``Run`` of the Java SDK."""

    def __init__(self, sdk: JavaSdk, answer: dict[str, str]) -> None:
        self._sdk = sdk
        self._place = answer["run"]
        self.id, self.phase, self.system = answer["id"], answer["phase"], answer["system"]
        self.total = int(answer["total"])

    def __repr__(self) -> str:
        return self._sdk.call("show", self._place)["shown"]

    def __iter__(self) -> Iterator[Sentence]:
        place = self._sdk.call("iterator", self._place)["iterator"]
        while answer := self._sdk.call("next", place):
            yield _sentence(answer)

    def sentence(self) -> Sentence | None:
        answer = self._sdk.call("sentence", self._place)
        return _sentence(answer) if answer else None

    def submit(self, translation: Any) -> float:
        text = translation if isinstance(translation, str) else None  # Java has no other way to give no string
        return float(self._sdk.call("submit", self._place, text)["score"])

    @property
    def last(self) -> Round | None:
        answer = self._sdk.call("last", self._place)
        if not answer:
            return None
        return Round(
            answer["id"], int(answer["index"]), answer["source"], answer["translation"], float(answer["score"])
        )

    @property
    def progress(self) -> Progress:
        answer = self._sdk.call("progress", self._place)
        return Progress(int(answer["index"]), int(answer["total"]), float(answer["cumulative_reward"]))


def _sentence(answer: dict[str, str]) -> Sentence:
    return Sentence(answer["id"], int(answer["index"]), int(answer["total"]), answer["source"])
