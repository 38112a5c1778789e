"""Servers in processes of their own, and a client that costs next to nothing."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import Phase

SENTENCE, REFERENCE = "baumwolle , farbe blau , größe xl", "cotton , blue , size xl"


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
    """A server in its own process."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return the CPU time used so far, which other programs disturb less than a rate."""
        return time.clock_gettime(~self.pid << 3 | 2)  # how Linux numbers the CPU clock of another process


@contextmanager
def banditmt_server(store: str) -> Iterator[ServerProcess]:
    """Run ``banditmt serve`` on a store."""
    banditmt = str(Path(sys.executable).with_name("banditmt"))
    command = [banditmt, "serve", "--store", store, "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield ServerProcess(process.pid, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2]))
        finally:
            process.terminate()


def prepare_store(path: Path, rounds: int, participants: int = 1) -> list[str]:
    """Create a store with a dev phase of this many rounds. Return the API keys of its participants."""
    store = open_store(f"sqlite:{path}")
    load_phase(store, Phase("dev", Layout.plain(rounds), repeatable=True), [(SENTENCE, REFERENCE)] * rounds)
    keys = [Registry(store).add_participant(f"client-{number}") for number in range(participants)]
    store.close()
    return keys
