"""A process that has imported everything and forks servers and learners on request: new interpreters take seconds.

Requests and responses are lines of JSON. ``["serve", STORE, PORT, GROUPS, COUNT]`` and ``["learn", URL, KEY, FOLDER,
PLAYER]`` start a child and return its process id. If GROUPS is the name of a file, every commit of the server takes a
while, so that rounds are committed in groups, and the server appends the size of each group to the file. If COUNT is
not 1, the child starts so many processes that serve the port, and replaces those that end. ``["ended", PID]`` returns
the exit code of a child, or null while it runs. ``["kill", PID]`` kills it and returns its exit code, which is its own
if it had ended before.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from threading import Event
from typing import Any
from unittest import mock

from banditmt_client import Client
from lambdas.service import Service
from lambdas.store import open_store, sqlite
from lambdas.store.group_commit import PendingWrite, commit_group
from simulator.cloud.local_cloud import local_server, set_environment
from simulator.cloud.server_processes import ServerProcesses
from tests.faults import scenario

ROOT = Path(__file__).parents[2]
COMMIT_SECONDS = 0.006  # of a server that commits slowly


class ForkServer:
    """The client of the fork server."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def _send(self, *request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def serve(self, store: str, port: int, groups: Path | None = None, count: int = 1) -> int:
        return int(self._send("serve", store, port, str(groups) if groups else "", count))

    def learn(self, url: str, api_key: str, folder: Path, player: str) -> int:
        return int(self._send("learn", url, api_key, str(folder), player))

    def ended(self, child: int) -> int | None:
        """Return the exit code of a child (negative for a signal), or None while it runs."""
        code: int | None = self._send("ended", child)
        return code

    def kill(self, child: int) -> bool:
        """Kill a child with SIGKILL; return False if it had ended before."""
        return bool(self._send("kill", child) == -signal.SIGKILL)


@contextmanager
def fork_server() -> Iterator[ForkServer]:
    command = [sys.executable, "-m", "tests.faults.fork_server"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield ForkServer(process)
        process.communicate()


def serve(store: str, port: int, groups: str, count: int) -> None:
    template = scenario.template()
    set_environment(template)
    opened = open_store(store)
    if groups:
        mock.patch.object(sqlite, "commit_group", partial(commit_slowly, Path(groups))).start()
    server = local_server(template, Service(opened), ("127.0.0.1", port))
    if count == 1:
        server.serve_forever()
    with ServerProcesses(count, lambda *_: server.serve_forever()) as processes:
        processes.watch(Event())


def commit_slowly(groups: Path, connection: Connection, group: Sequence[PendingWrite]) -> None:
    """Commit a group half-way through a pause, so that a kill often comes right before or after the commit."""
    time.sleep(COMMIT_SECONDS / 2)
    commit_group(connection, group)
    with groups.open("a") as sizes:
        sizes.write(f"{len(group)}\n")
    time.sleep(COMMIT_SECONDS / 2)


def learn(url: str, api_key: str, folder: str, player: str) -> None:
    with scenario.short_pauses():
        scenario.play_to_the_end(lambda: Client(api_key, url, retries=30), Path(folder), player)


def _fork(call: Any, *arguments: Any) -> int:
    child = os.fork()
    if child == 0:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # only the fork server itself may write to its standard output
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
    scenario.template()  # loaded once, before any fork
    ends: dict[int, int | None] = {}  # exit codes by child; None while it runs
    for line in sys.stdin:
        kind, *arguments = json.loads(line)
        if kind in ("serve", "learn"):
            child = _fork({"serve": serve, "learn": learn}[kind], *arguments)
            ends[child] = None
            response: int | None = child
        else:
            (child,) = arguments
            if ends[child] is None:
                ends[child] = _end(child, kill=kind == "kill")
            response = ends[child]
        print(json.dumps(response), flush=True)
    for child in [child for child, end in ends.items() if end is None]:
        _end(child, kill=True)


if __name__ == "__main__":
    main()
