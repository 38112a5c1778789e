"""The calls of the Python client of the WMT 2017 task, so that a program written for that task plays a banditmt task.

The phase and the name of the system come from ``BANDITMT_PHASE`` and ``BANDITMT_SYSTEM``. The address and the API key
are those that the program sets, as it did in 2017 (``configuration.host``, ``configuration.api_key["x-api-key"]``), or
else ``BANDITMT_URL`` and ``BANDITMT_API_KEY``. An old program needs no change at all:

    python -m banditmt_client.wmt17 old_program.py ARGUMENTS...

runs it with this module in place of the old package ``wmt_client_python``. A new program says ``from banditmt_client
import wmt17 as wmt_client_python``.

Old programs repeat a call that raised ``ApiException`` until it succeeds. So this module raises it only where that can
help, and at the end of the data, with status 404. What no repetition cures (a wrong key, a closed phase, an empty
translation) raises an error of the SDK and ends the program. A translation beyond the service's limit is cut.
"""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from banditmt_client.client import Client
from banditmt_client.errors import (
    BanditError,
    ConfigurationError,
    ConflictError,
    ConnectionFailedError,
    OrderError,
    ServerError,
    ThrottledError,
)
from banditmt_client.run import MAX_TRANSLATION_CHARACTERS, Run

OLD_PACKAGE = "wmt_client_python"
KEY_NAME = "x-api-key"
PHASE_VARIABLE = "BANDITMT_PHASE"
SYSTEM_VARIABLE = "BANDITMT_SYSTEM"

T = TypeVar("T")


class ApiException(Exception):  # noqa: N818 (its name in 2017)
    """A call failed, and may be repeated; or the data has ended, if ``status`` is 404."""

    def __init__(self, status: int = 0, reason: str = "") -> None:
        super().__init__(f"({status}) {reason}")
        self.status = status
        self.reason = reason


@dataclass
class Configuration:
    """The address and the API key, which a program may set before its first call."""

    host: str = ""
    api_key: dict[str, str] = field(default_factory=dict)


configuration = Configuration()


@dataclass(frozen=True)
class Sentence:
    """A source sentence."""

    id: str
    source: str


@dataclass(frozen=True)
class Translation:
    """A translation of the sentence with this id."""

    id: str
    translation: str


@dataclass(frozen=True)
class Score:
    """The reward of a translation, in [0, 1]."""

    score: float


class SharedTaskApi:
    """The three calls of the task, for one run at a time."""

    def __init__(self) -> None:
        self._run: Run | None = None

    def reset_dataset(self) -> None:
        """Start a run. An unfinished run is resumed, because a round that has its feedback cannot be played again."""
        self._run = _retryable(lambda: self._open(again=True))

    def get_sentence(self) -> Sentence:
        """Return the pending sentence; raise ApiException with status 404 at the end of the data."""
        sentence = _retryable(lambda: self._opened().sentence())
        if sentence is None:
            raise ApiException(404, "every sentence of this run has been translated")
        return Sentence(sentence.id, sentence.source)

    def send_translation(self, translation: Translation | Mapping[str, str]) -> Score:
        """Submit a translation and return its score. Sent again, a translation gets the same score."""
        sent = Translation(**translation) if isinstance(translation, Mapping) else translation
        text = _truncate_to_limit(sent.translation)
        run = _retryable(self._opened)
        pending = _retryable(run.sentence)
        if pending is not None and pending.id == sent.id:
            return Score(_retryable(lambda: run.submit(text)))
        last = _retryable(lambda: run.last)
        if last is not None and (last.id, last.translation) == (sent.id, text):
            return Score(last.score)
        raise OrderError("this is no translation of the pending sentence: ask for the sentence first")

    def _opened(self) -> Run:
        """Return the run. A program that resumes does not reset the data, so that the run may not be open yet."""
        if self._run is None:
            try:
                self._run = self._open(again=False)
            except ConflictError as finished:
                raise ApiException(404, str(finished)) from None
        return self._run

    def _open(self, *, again: bool) -> Run:
        client = Client(configuration.api_key.get(KEY_NAME), configuration.host)
        return client.open_run(phase=_variable(PHASE_VARIABLE), system=_variable(SYSTEM_VARIABLE), again=again)


_api = SharedTaskApi()
reset_dataset, get_sentence, send_translation = _api.reset_dataset, _api.get_sentence, _api.send_translation


def run_program(path: Path, arguments: list[str]) -> None:
    """Run a program as Python does, with this module in place of the old package."""
    module = sys.modules[SharedTaskApi.__module__]
    sys.modules.update({OLD_PACKAGE: module, f"{OLD_PACKAGE}.rest": module})
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(path.resolve().parent)
    runpy.run_path(str(path), run_name="__main__")


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigurationError(f"{name} is not set: a program of 2017 does not say its phase and its system itself")
    return value


def _truncate_to_limit(text: str) -> str:
    """Return a text with single spaces, truncated after the last word within the service's limit."""
    line = " ".join(text.split())
    if len(line) <= MAX_TRANSLATION_CHARACTERS:
        return line
    return line[: MAX_TRANSLATION_CHARACTERS + 1].rpartition(" ")[0] or line[:MAX_TRANSLATION_CHARACTERS]


def _retryable(call: Callable[[], T]) -> T:
    """Return the result of a call; raise ApiException where the same call may succeed later."""
    try:
        return call()
    except (ConnectionFailedError, ServerError, ThrottledError) as failure:
        raise ApiException(failure.status or 503, str(failure)) from failure


def main() -> None:
    """Run the program on the command line."""
    if len(sys.argv) < 2 or not Path(sys.argv[1]).is_file():
        sys.exit(
            "usage: python -m banditmt_client.wmt17 PROGRAM [ARGUMENT]...\n"
            f"{PHASE_VARIABLE} and {SYSTEM_VARIABLE} name the run"
        )
    try:
        run_program(Path(sys.argv[1]), sys.argv[2:])
    except BanditError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    from banditmt_client import wmt17  # not this copy, which is called __main__

    wmt17.main()
