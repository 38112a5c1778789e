"""A process that has loaded everything and forks servers and learners on request: fresh interpreters take seconds.

It reads a line of JSON for each wish and answers with one: ``["serve", STORE, PORT]`` and
``["learn", URL, KEY, FOLDER, PLAYER]`` with the process id of a child, ``["ended", PID]`` with its exit code or null,
and ``["kill", PID]`` with how it ended, which it may have done before.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from banditmt_client import Client
from lambdas.service import Service
from lambdas.store import open_store
from simulator.cloud.local_cloud import local_server, set_environment
from tests.faults import world

ROOT = Path(__file__).parents[2]


class Nursery:
    """Gives birth, and tells of deaths."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def _ask(self, *wish: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(wish) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def serve(self, store: str, port: int) -> int:
        return int(self._ask("serve", store, port))

    def learn(self, url: str, api_key: str, folder: Path, player: str) -> int:
        return int(self._ask("learn", url, api_key, str(folder), player))

    def ended(self, child: int) -> int | None:
        """How a child has ended (negative for a signal), or None while it lives."""
        code: int | None = self._ask("ended", child)
        return code

    def kill(self, child: int) -> bool:
        """As a power cut would; False if it had ended before."""
        return bool(self._ask("kill", child) == -signal.SIGKILL)


@contextmanager
def nursery() -> Iterator[Nursery]:
    command = [sys.executable, "-m", "tests.faults.nursery"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Nursery(process)
        process.communicate()


def serve(store: str, port: int) -> None:
    template = world.template()
    set_environment(template)
    local_server(template, Service(open_store(store)), ("127.0.0.1", port)).serve_forever()


def learn(url: str, api_key: str, folder: str, player: str) -> None:
    with world.short_pauses():
        world.live(lambda: Client(api_key, url, retries=30), Path(folder), player)


def _in_a_child(call: Any, *arguments: Any) -> int:
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # what the nursery says to its owner must stay readable
            os.dup2(nowhere, stream)
        try:
            call(*arguments)
            os._exit(0)
        except BaseException:
            os._exit(1)
    return child


def _end(child: int, *, kill: bool) -> int | None:
    if kill:
        os.kill(child, signal.SIGKILL)
    pid, status = os.waitpid(child, 0 if kill else os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if pid else None


def main() -> None:
    world.template()  # loaded once, before any fork
    ends: dict[int, int | None] = {}  # by child; None while it lives
    for line in sys.stdin:
        kind, *arguments = json.loads(line)
        if kind in ("serve", "learn"):
            child = _in_a_child({"serve": serve, "learn": learn}[kind], *arguments)
            ends[child] = None
            answer: int | None = child
        else:
            (child,) = arguments
            if ends[child] is None:
                ends[child] = _end(child, kill=kind == "kill")
            answer = ends[child]
        print(json.dumps(answer), flush=True)
    for child in [child for child, end in ends.items() if end is None]:
        _end(child, kill=True)


if __name__ == "__main__":
    main()
