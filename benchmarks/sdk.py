"""Rounds per second of the Python SDK, compared with loops over plain ``requests.Session`` and ``http.client``.

All three play whole runs in turn, over one keep-alive connection, against the same ``banditmt serve`` in a process of
its own. The plain loops do the least that is needed: no retries, no checks, no resuming. The store does not wait for
the disk, so that more of the time is that of the client. The CPU time of each client is printed too, and the time to
import the SDK and ``requests`` alone.
"""

import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from banditmt_client import Client
from benchmarks.harness.http_servers import banditmt_server
from benchmarks.harness.store_setup import prepare_store

PHASE_ROUNDS = 2_251
REPETITIONS = 6  # the best counts: other load on the machine can only slow down
RIVAL = "plain requests.Session"

Play = Callable[[], None]


def sdk(url: str, api_key: str) -> Iterator[Play]:
    with Client(api_key, url) as client:

        def play() -> None:
            run = client.open_run(phase="dev", system="sdk")
            for sentence in run:
                run.submit(sentence.source)

        yield play


def plain_requests(url: str, api_key: str) -> Iterator[Play]:
    with requests.Session() as session:
        session.headers["x-api-key"] = api_key

        def call(method: str, path: str, body: object = None) -> Any:
            response = session.request(method, url + path, json=body, timeout=30)
            response.raise_for_status()
            return response.json()

        yield lambda: play_plain(call, "requests")


def plain_http_client(url: str, api_key: str) -> Iterator[Play]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    headers = {"x-api-key": api_key, "Content-Type": "application/json"}

    def call(method: str, path: str, body: object = None) -> Any:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(content.decode())
        return json.loads(content)

    yield lambda: play_plain(call, "http.client")
    connection.close()


def play_plain(call: Callable[..., Any], system: str) -> None:
    run = call("POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
    sentence = call("GET", f"/v1/runs/{run}/sentence")
    while sentence:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        sentence = call("POST", f"/v1/runs/{run}/translations", body)["next"]


def measure(play: Play) -> tuple[float, float]:
    """Play one run; return the seconds that it took, and the CPU seconds of this process."""
    started, cpu = time.perf_counter(), time.process_time()
    play()
    return time.perf_counter() - started, time.process_time() - cpu


def import_milliseconds(module: str) -> float:
    """Return the CPU time of an import in a new interpreter."""
    program = f"import time; begin = time.process_time(); import {module}; print(time.process_time() - begin)"
    seconds = (float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(REPETITIONS))
    return 1e3 * min(seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        (api_key,) = prepare_store(path, PHASE_ROUNDS)
        with banditmt_server(f"sqlite:{path}?synchronous=normal") as server:
            url = f"http://127.0.0.1:{server.port}"
            with (
                contextmanager(sdk)(url, api_key) as ours,
                contextmanager(plain_requests)(url, api_key) as theirs,
                contextmanager(plain_http_client)(url, api_key) as minimal,
            ):
                rivals = {"banditmt-client": ours, RIVAL: theirs, "plain http.client": minimal}
                best = dict.fromkeys(rivals, (float("inf"), float("inf")))
                for _ in range(REPETITIONS):  # in turn, so that other load slows all alike
                    for name, play in rivals.items():
                        best[name] = tuple(map(min, best[name], measure(play)))  # type: ignore[assignment]
    for name, (seconds, cpu) in best.items():
        ratio, cpu_per_round = best[RIVAL][0] / seconds, 1e6 * cpu / PHASE_ROUNDS
        rate = PHASE_ROUNDS / seconds
        print(
            f"{name:24} {rate:6,.0f} rounds/s  {ratio:5.2f} of plain requests  {cpu_per_round:6,.0f} us CPU per round"
        )
    ours_alone, theirs_alone = import_milliseconds("banditmt_client"), import_milliseconds("requests")
    print(f"importing: banditmt_client {ours_alone:.0f} ms, of which requests {theirs_alone:.0f} ms (bound: 150 ms)")


if __name__ == "__main__":
    main()
