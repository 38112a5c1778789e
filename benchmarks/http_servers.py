"""Our HTTP server compared with h11, uvicorn (h11 and httptools) and granian: speed, strictness and lines of code.

Every server runs in its own process and returns the body of each request, of the size of a round. Functions of the
service block while they wait for the store, so every server calls the echo in a thread that may block. ``banditmt
serve`` plays rounds in the same run, which shows what share of a round is HTTP.

Then every server gets requests that smuggle or exhaust, and the table shows how it responds. The other servers are in
an environment of their own: ``make bench-http`` creates it.
"""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from benchmarks.gateway import (
    PHASE_ROUNDS,
    EchoPlayer,
    MeasuredServer,
    RunPlayer,
    bare_http,
    play_in_turn,
    rival_server,
)
from benchmarks.harness.http_servers import ServerProcess, banditmt_server
from benchmarks.harness.store_setup import prepare_store

ROOT = Path(__file__).parents[1]
RIVALS = ROOT / ".venv-http" / "bin"
CONNECTIONS = (1, 4, 32)
OURS, SERVED = "this repository", "banditmt serve, a round"
START_SECONDS = 20.0

APP = "benchmarks.harness.http_rivals"
UVICORN = ["uvicorn", "--app-dir", str(ROOT), "--lifespan", "off", "--no-access-log", "--log-level", "critical"]
COMMANDS: dict[str, list[str]] = {
    "h11, a thread for each connection": ["python", "-m", APP, "{port}"],
    "uvicorn, h11": [*UVICORN, "--http", "h11", "--port", "{port}", f"{APP}:asgi"],
    "uvicorn, httptools": [*UVICORN, "--http", "httptools", "--port", "{port}", f"{APP}:asgi"],
    "granian, WSGI": [
        *("granian", "--interface", "wsgi", "--blocking-threads", "32", "--no-ws", "--log-level", "critical"),
        *("--port", "{port}", f"{APP}:wsgi"),
    ],
}

_HEAD = b"POST /echo HTTP/1.1\r\nHost: localhost\r\n"
# What a server behind a proxy must refuse, or must not wait for. Each is sent once on a new connection.
PROBES = {
    "bare line feeds": b"POST /echo HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n",
    "a bare line feed in a header": _HEAD + b"A: b\nContent-Length: 0\r\n\r\n",
    "two lengths": _HEAD + b"Content-Length: 0\r\nContent-Length: 1\r\n\r\n",
    "a length and chunks": _HEAD + b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded header": _HEAD + b"A: b\r\n c\r\nContent-Length: 0\r\n\r\n",
    "a space before the colon": _HEAD + b"A : b\r\nContent-Length: 0\r\n\r\n",
    "no Host": b"POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "two Hosts": _HEAD + b"Host: elsewhere\r\nContent-Length: 0\r\n\r\n",
    "12,000 bytes of headers": _HEAD + b"A: " + b"a" * 12_000 + b"\r\nContent-Length: 0\r\n\r\n",
    "200 headers": _HEAD + b"".join(b"A%d: b\r\n" % n for n in range(200)) + b"Content-Length: 0\r\n\r\n",
    "a length of 100 MB": _HEAD + b"Content-Length: 100000000\r\n\r\n",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def installed_rival(command: list[str]) -> Iterator[ServerProcess]:
    """Run a server of the environment of rivals until the end of the block."""
    port = free_port()
    program, *arguments = (part.format(port=port) for part in command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [str(RIVALS / program), *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_until_it_listens(process, port)
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            yield ServerProcess(process.pid, port, tuple(map(int, children)))
        finally:
            process.terminate()


def _wait_until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError(f"a server did not start: {process.args!r}")


def compare_rates(servers: Mapping[str, MeasuredServer], connections: int) -> None:
    """Let all play in turn, and print the median rates."""
    groups = play_in_turn(servers, connections)
    print(f"\n{connections} keep-alive connection{'s' if connections > 1 else ''}, requests per second of")
    for name, group in groups.items():
        rate, cpu = (median(column) for column in zip(*group.slices, strict=True))
        ratio = group.rate_ratio(groups[OURS])
        print(f"  {name:36}{rate:8,.0f} = {ratio:.2f} of ours; {cpu * 1e6:5,.0f} us of server CPU", flush=True)


def reaction(port: int, request: bytes) -> str:
    """Return the status of the response, or what else happens within a second."""
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        connection.sendall(request)
        try:
            received = connection.recv(4_096)
        except TimeoutError:
            return "waits"
        except OSError:
            return "closes"
    return received.split(b" ", 2)[1].decode() if received else "closes"


def compare_reactions(servers: Mapping[str, ServerProcess]) -> None:
    print("\nstatus of the response to")
    print(f"  {'':32}" + "".join(f"{number:>8}" for number, _ in enumerate(servers, 1)))
    for name, request in PROBES.items():
        print(f"  {name:32}" + "".join(f"{reaction(server.port, request):>8}" for server in servers.values()))
    print("  " + "; ".join(f"{number}: {name}" for number, name in enumerate(servers, 1)), flush=True)


def main() -> int:
    if not (RIVALS / "granian").exists():
        print("the other servers are not installed; run: make bench-http", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "store"
        (api_key,) = prepare_store(path, PHASE_ROUNDS)
        echoes: dict[str, ServerProcess] = {OURS: stack.enter_context(rival_server(bare_http))}
        echoes |= {name: stack.enter_context(installed_rival(command)) for name, command in COMMANDS.items()}
        served = stack.enter_context(banditmt_server(f"sqlite:{path}?synchronous=normal"))
        everything = {
            **{name: MeasuredServer(EchoPlayer, server, api_key) for name, server in echoes.items()},
            SERVED: MeasuredServer(RunPlayer, served, api_key),
        }
        for connections in CONNECTIONS:
            compare_rates(everything, connections)
        compare_reactions(echoes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
