"""The Python SDK against a bare `requests.Session` loop and a bare `http.client` loop: rounds per second.

All three play whole runs over the same `banditmt serve`, a process of its own, over one keep-alive connection, in turn.
The bare loops do the least that plays: no retries, no checks, no resuming. The store does not wait for the disk, so
that more of the time is the clients'; what each costs its own process is printed too. Then how long importing the SDK
takes, and how long importing `requests` alone.
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
from benchmarks.gateway import LENGTH, banditmt_server, prepare

PASSES = 6  # the best counts: noise on a shared machine only ever slows down
BASELINE = "bare requests.Session"

Play = Callable[[], None]


def sdk(url: str, api_key: str) -> Iterator[Play]:
    with Client(api_key, url) as client:

        def play() -> None:
            run = client.open_run(phase="dev", system="sdk")
            for sentence in run:
                run.submit(sentence.source)

        yield play


def bare_requests(url: str, api_key: str) -> Iterator[Play]:
    with requests.Session() as session:
        session.headers["x-api-key"] = api_key

        def call(method: str, path: str, body: object = None) -> Any:
            answer = session.request(method, url + path, json=body, timeout=30)
            answer.raise_for_status()
            return answer.json()

        yield lambda: play_bare(call, "requests")


def bare_http_client(url: str, api_key: str) -> Iterator[Play]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    headers = {"x-api-key": api_key, "Content-Type": "application/json"}

    def call(method: str, path: str, body: object = None) -> Any:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(content.decode())
        return json.loads(content)

    yield lambda: play_bare(call, "http.client")
    connection.close()


def play_bare(call: Callable[..., Any], system: str) -> None:
    run = call("POST", "/v1/runs", {"phase": "dev", "system": system})["run"]
    sentence = call("GET", f"/v1/runs/{run}/sentence")
    while sentence:
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        sentence = call("POST", f"/v1/runs/{run}/translations", answer)["next"]


def measure(play: Play) -> tuple[float, float]:
    """Seconds of a run, by the clock and of this process."""
    clock, processor = time.perf_counter(), time.process_time()
    play()
    return time.perf_counter() - clock, time.process_time() - processor


def import_milliseconds(module: str) -> float:
    """What importing takes of a fresh interpreter's processor time."""
    program = f"import time; begin = time.process_time(); import {module}; print(time.process_time() - begin)"
    seconds = (float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(PASSES))
    return 1e3 * min(seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        api_key = prepare(path)
        with banditmt_server(f"sqlite:{path}?synchronous=normal") as server:
            url = f"http://127.0.0.1:{server.port}"
            with (
                contextmanager(sdk)(url, api_key) as ours,
                contextmanager(bare_requests)(url, api_key) as theirs,
                contextmanager(bare_http_client)(url, api_key) as barest,
            ):
                rivals = {"banditmt-client": ours, BASELINE: theirs, "bare http.client": barest}
                best = dict.fromkeys(rivals, (float("inf"), float("inf")))
                for _ in range(PASSES):  # in turn, so that all see the same weather
                    for name, play in rivals.items():
                        best[name] = tuple(map(min, best[name], measure(play)))  # type: ignore[assignment]
    for name, (clock, processor) in best.items():
        ratio, own = best[BASELINE][0] / clock, 1e6 * processor / LENGTH
        print(
            f"{name:24} {LENGTH / clock:6,.0f} rounds/s  {ratio:5.2f} of bare requests  {own:6,.0f} us of CPU a round"
        )
    ours_alone, theirs_alone = import_milliseconds("banditmt_client"), import_milliseconds("requests")
    print(f"importing: banditmt_client {ours_alone:.0f} ms, of which requests {theirs_alone:.0f} ms (bound: 150 ms)")


if __name__ == "__main__":
    main()
