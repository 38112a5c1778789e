"""The Java SDK, compiled with plain javac and driven from Python behind the interface of the Python SDK.

So one test suite covers both SDKs: the same names, the same errors with the same messages, the same rules.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import banditmt_client
from banditmt_client import (
    OutOfDomainFile,
    OutOfDomainText,
    Phase,
    Progress,
    Round,
    Sentence,
    ServiceError,
    TaskInfo,
    TextConvention,
)

JAVA = Path(__file__).parents[2] / "client_sdk" / "java"
INITIAL_BACKOFF_MILLISECONDS = 1  # short, so that tests do not wait


def compile_sdk(target: Path) -> str:
    """Compile the SDK, its tests and its examples for the oldest supported JDK; return the class path."""
    if shutil.which("javac") is None:
        if os.environ.get("CI") == "true":
            raise RuntimeError("CI must test the Java SDK, but javac is not installed: install a JDK, 11 or newer")
        pytest.skip("javac is not installed: the Java SDK needs a JDK, 11 or newer")
    sdk, others = target / "sdk", target / "others"
    _javac(sdk, JAVA / "src" / "main", options=["-Xdoclint:all/public"])
    _javac(others, JAVA / "src" / "test", JAVA / "examples", options=["-cp", str(sdk)])
    return os.pathsep.join((str(sdk), str(others)))


def _javac(target: Path, *folders: Path, options: Sequence[str] = ()) -> None:
    sources = [str(path) for folder in folders for path in sorted(folder.rglob("*.java"))]
    strict = ["-Xlint:all", "-Werror", "-encoding", "UTF-8", "--release", "11"]
    command = ["javac", "-J-XX:TieredStopAtLevel=1", *strict, *options, "-d", str(target), *sources]
    subprocess.run(command, check=True, timeout=300)


def java(classes: str, *arguments: str) -> list[str]:
    """Return a command line with options for a quick start, which matters more in tests than speed."""
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m", "-cp", classes, *arguments]


def environment_without_settings() -> dict[str, str]:
    """Return the environment without the variables that configure an SDK."""
    return {name: value for name, value in os.environ.items() if not name.startswith("BANDITMT_")}


class JavaSdk:
    """A process that runs the Java SDK; ``Bridge.java`` describes the messages."""

    name = "java"

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def call(self, name: str, *arguments: str | None) -> dict[str, str]:
        """Make one call and return its result; raise the error that it threw as that of the Python SDK."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        words = ["-" if text is None else "=" + text.encode("utf-16-be", "surrogatepass").hex() for text in arguments]
        self._process.stdin.write(" ".join([name, *words]) + "\n")
        self._process.stdin.flush()
        result: dict[str, str] = json.loads(self._process.stdout.readline())
        if "bug" in result:
            raise AssertionError(result["bug"])
        if "error" in result:
            raise _python_error(result)
        return result

    def client(
        self,
        api_key: str,
        url: str,
        *,
        retries: int = 10,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        anonymous: bool = False,
    ) -> "JavaClient":
        milliseconds = [str(int(1000 * seconds)) for seconds in (connect_timeout, read_timeout)]
        who = "anonymous" if anonymous else "participant"
        settings = [url, api_key, str(retries), *milliseconds, str(INITIAL_BACKOFF_MILLISECONDS), who]
        return JavaClient(self, self.call("client", *settings))

    def error_for_response(self, status: int, code: str) -> ServiceError:
        """Return the error for a response without a message, with request id r-7."""
        with pytest.raises(ServiceError) as raised:
            self.call("error_for_response", str(status), code)
        return raised.value

    def parse_retry_after(self, header: str) -> float | None:
        seconds = self.call("parse_retry_after", header).get("seconds")
        return None if seconds is None else float(seconds)

    def backoff_seconds(self, attempt: int, retry_after: float | None) -> float:
        """Return a pause of a client with default settings."""
        asked = None if retry_after is None else str(retry_after)
        return float(self.call("backoff_seconds", str(attempt), asked)["seconds"])


def _python_error(result: dict[str, str]) -> banditmt_client.BanditError:
    kind: type[banditmt_client.BanditError] = getattr(banditmt_client, result["error"])
    error = kind(result["message"], code=result["code"], status=int(result["status"]))
    error.request_id = result["request_id"]
    if isinstance(error, banditmt_client.ConflictError):
        error.run = result["run"]
    return error


@contextmanager
def java_sdk(classes: str) -> Iterator[JavaSdk]:
    """Start the Java SDK in its own process, with no settings in its environment."""
    with subprocess.Popen(
        java(classes, "org.banditmt.client.Bridge"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=environment_without_settings(),
    ) as process:
        yield JavaSdk(process)
        assert process.stdin is not None
        process.stdin.close()
    assert process.returncode == 0


class JavaClient:
    """A ``Client`` of the Java SDK."""

    def __init__(self, sdk: JavaSdk, result: dict[str, str]) -> None:
        self._sdk = sdk
        self._handle = result["client"]

    def __repr__(self) -> str:
        return self._sdk.call("to_string", self._handle)["string"]

    def open_run(self, *, phase: str, system: str, again: bool = True) -> "JavaRun":
        opened = self._sdk.call("open_run", self._handle, phase, system, "again" if again else "once")
        return JavaRun(self._sdk, opened)

    def get_run(self, run: str) -> "JavaRun":
        return JavaRun(self._sdk, self._sdk.call("get_run", self._handle, run))

    def phases(self) -> list[Phase]:
        return _phases(self._sdk.call("phases", self._handle))

    def phases_interrupted(self) -> None:
        self._sdk.call("phases_interrupted", self._handle)

    def task(self) -> TaskInfo:
        result = self._sdk.call("task", self._handle)
        return TaskInfo(
            title=result.get("title"),
            source=result["source"],
            target=result["target"],
            text=TextConvention(result["text_signature"], result["text_description"]),
            phases=tuple(_phases(result)),
            licence=result.get("licence"),
            contact=result.get("contact"),
            out_of_domain=_out_of_domain(result),
            documents=result["documents"] == "true",
        )

    def leaderboard(self, phase: str) -> str:
        return self._sdk.call("leaderboard", self._handle, phase)["leaderboard"]

    def close(self) -> None:
        self._sdk.call("close", self._handle)


class JavaRun:
    """A ``Run`` of the Java SDK."""

    def __init__(self, sdk: JavaSdk, result: dict[str, str]) -> None:
        self._sdk = sdk
        self._handle = result["run"]
        self.id, self.phase, self.system = result["id"], result["phase"], result["system"]
        self.total = int(result["total"])

    def __repr__(self) -> str:
        return self._sdk.call("to_string", self._handle)["string"]

    def __iter__(self) -> Iterator[Sentence]:
        iterator = self._sdk.call("iterator", self._handle)["iterator"]
        while result := self._sdk.call("next", iterator):
            yield _sentence(result)

    def sentence(self) -> Sentence | None:
        result = self._sdk.call("sentence", self._handle)
        return _sentence(result) if result else None

    def submit(self, translation: Any, *, log_probability: float | None = None) -> float:
        text = translation if isinstance(translation, str) else None  # in Java, the only value that is no string
        number = None if log_probability is None else _java_double(log_probability)
        return float(self._sdk.call("submit", self._handle, text, number)["score"])

    @property
    def last(self) -> Round | None:
        result = self._sdk.call("last", self._handle)
        if not result:
            return None
        return Round(
            id=result["id"],
            index=int(result["index"]),
            source=result["source"],
            translation=result["translation"],
            score=float(result["score"]),
            post_edit=result.get("post_edit"),
            document=result.get("document"),
            position=_integer(result.get("position")),
        )

    @property
    def progress(self) -> Progress:
        result = self._sdk.call("progress", self._handle)
        return Progress(int(result["index"]), int(result["total"]), float(result["cumulative_reward"]))


def _sentence(result: dict[str, str]) -> Sentence:
    return Sentence(
        id=result["id"],
        index=int(result["index"]),
        total=int(result["total"]),
        source=result["source"],
        document=result.get("document"),
        position=_integer(result.get("position")),
    )


def _phases(result: dict[str, str]) -> list[Phase]:
    return [_phase(result, f"{number}.") for number in range(int(result["phases"]))]


def _phase(result: dict[str, str], prefix: str) -> Phase:
    return Phase(
        name=result[prefix + "name"],
        state=result[prefix + "state"],
        total=int(result[prefix + "total"]),
        repeatable=result[prefix + "repeatable"] == "true",
        feedback=result[prefix + "feedback"],
        metric=result[prefix + "metric"],
        signature=result[prefix + "signature"],
        opens_at=_time(result.get(prefix + "opens_at")),
        closes_at=_time(result.get(prefix + "closes_at")),
        runs_left=_integer(result.get(prefix + "runs_left")),
    )


def _out_of_domain(result: dict[str, str]) -> OutOfDomainText | None:
    if "files" not in result:
        return None
    files = tuple(_out_of_domain_file(result, f"file.{number}.") for number in range(int(result["files"])))
    return OutOfDomainText(result.get("file.url"), files)


def _out_of_domain_file(result: dict[str, str], prefix: str) -> OutOfDomainFile:
    return OutOfDomainFile(
        language=result[prefix + "language"],
        lines=int(result[prefix + "lines"]),
        bytes=int(result[prefix + "bytes"]),
        sha256=result[prefix + "sha256"],
        url=result.get(prefix + "url"),
    )


def _integer(text: str | None) -> int | None:
    return None if text is None else int(text)


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def _java_double(number: float) -> str:
    """Return a number as ``Double.parseDouble`` reads it."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(number), repr(number))
