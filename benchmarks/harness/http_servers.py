"""Servers in processes of their own, and a client that costs next to nothing."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness.store_setup import prepare_store


class TreeError(Exception):
    """A working tree cannot be measured."""


class KeepAliveClient:
    """One keep-alive connection with just as much HTTP as the benchmarks need."""

    def __init__(self, port: int, api_key: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = f"Host: localhost\r\nx-api-key: {api_key}\r\nContent-Type: application/json\r\n"

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request and return the body of the response. Raises RuntimeError unless the status is 200."""
        data = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}Content-Length: {len(data)}\r\n\r\n"
        self._socket.sendall(head.encode() + data)
        received = self._socket.recv(65_536)
        head_bytes, _, response = received.partition(b"\r\n\r\n")
        length = int(head_bytes.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(response) < length:
            response += self._socket.recv(65_536)
        if not head_bytes.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(response.decode())
        return json.loads(response)

    def close(self) -> None:
        self._socket.close()


class ServerProcess(NamedTuple):
    """A server in its own process, which may have workers."""

    pid: int
    port: int
    workers: tuple[int, ...] = ()

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far, which other programs disturb less than a rate."""
        return sum(time.clock_gettime(~pid << 3 | 2) for pid in self._pids())  # how Linux numbers the clocks of others

    def resident_megabytes(self) -> float:
        """Return the resident memory; pages that its processes share count once."""
        maps = "".join(Path(f"/proc/{pid}/smaps_rollup").read_text() for pid in self._pids())
        return sum(int(kilobytes) for kilobytes in re.findall(r"^Pss: +(\d+) kB", maps, re.MULTILINE)) / 1e3

    def _pids(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text()
        return [*{self.pid, *self.workers, *map(int, children.split())}]


def tree_environment(tree: Path | None) -> dict[str, str]:
    """Return the environment of a process that uses the packages of a working tree; None is this one."""
    if tree is None:
        return dict(os.environ)
    packages = tree.resolve()  # the process may have another working directory
    return {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{packages / 'client_sdk'}"}


def tree_program(tree: Path | None, name: str) -> str:
    """Return a program of the environment of a working tree, if it has one of its own; else of this environment.

    A commit that needs other versions of libraries has to have one.
    """
    here = Path(sys.executable).with_name(name)
    own = here if tree is None else tree.resolve() / ".venv" / "bin" / name
    return str(own if own.exists() else here)


@contextmanager
def banditmt_server(
    store: str, tree: Path | None = None, environment: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """Run ``banditmt serve`` of a working tree on a store, with more variables in its environment."""
    command = [tree_program(tree, "banditmt"), "serve", "--store", store, "--port", "0", "--json"]
    variables = {**tree_environment(tree), **(environment or {})}
    with subprocess.Popen(
        command, env=variables, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            yield ServerProcess(process.pid, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        finally:
            process.terminate()


def prepare_store_in(tree: Path | None, path: Path, rounds: int, participants: int = 1) -> list[str]:
    """Create a store with the packages of a working tree: another version may have another schema."""
    if tree is None:
        return prepare_store(path, rounds, participants)
    script = Path(__file__).with_name("store_setup.py")
    command = [tree_program(tree, "python"), str(script), str(path), str(rounds), str(participants)]
    done = subprocess.run(command, env=tree_environment(tree), cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise TreeError(f"cannot create a store with the packages in {tree}: {done.stderr.strip()[-300:]}")
    return done.stdout.split()
