"""``banditmt serve``, as a process of its own."""

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lambdas.registry import Registry
from lambdas.store import open_store
from simulator.cli import serve
from tests.corpora.tasks import write_task

BANDITMT = [sys.executable, "-c", "from simulator.cli import main; main()"]
PATIENCE = 300  # seconds: a process of its own is slow to start and to stop on a busy machine


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("serve") / "task").path


@contextmanager
def serving(*options: str, stop: signal.Signals = signal.SIGTERM) -> Iterator[dict[str, Any]]:
    """Start the service, wait until it says where it is, and stop it politely."""
    command = [*BANDITMT, "serve", "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            pytest.fail(process.communicate()[1])
        try:
            yield json.loads(line)
        finally:
            process.send_signal(stop)
            rest, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest) == (0, "")
    assert complaints.endswith("stopped\n")


def call(url: str, api_key: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"x-api-key": api_key, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.load(response)


def refusal(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*BANDITMT, "serve", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout == ""
    return done.returncode, done.stderr.strip()


def test_the_first_start_gives_a_key_and_nothing_is_lost_in_a_restart(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}"
    with serving("--task", str(task), "--store", store) as first:
        assert first["store"] == store
        assert first["participant"] == "local"
        url, api_key = first["url"], first["api_key"]
        run = call(f"{url}/v1/runs", api_key, {"phase": "mock", "system": "copy"})["run"]
        sentence = call(f"{url}/v1/runs/{run}/sentence", api_key)
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        committed = call(f"{url}/v1/runs/{run}/translations", api_key, answer)
        with urllib.request.urlopen(f"{url}/", timeout=PATIENCE) as page:
            assert b"leaderboard" in page.read()
    with serving("--store", store, stop=signal.SIGINT) as second:
        assert "api_key" not in second  # it is shown only once
        assert call(f"{second['url']}/v1/runs/{run}/sentence", api_key) == committed["next"]
        assert call(f"{second['url']}/v1/runs/{run}/translations", api_key, answer) == committed


def test_two_first_starts_at_once_hand_out_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    assert serve._first_key(store) is not None
    monkeypatch.setattr(Registry, "participants", lambda _: [])  # as it was when the other one looked
    assert serve._first_key(store) is None
    store.close()


def test_people_are_told_what_to_try(task: Path, tmp_path: Path) -> None:
    command = [*BANDITMT, "serve", "--port", "0", "--task", str(task), "--store", f"sqlite:{tmp_path / 'store'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, page, key, curl = (process.stdout.readline() for _ in range(4))
        process.terminate()
    assert re.fullmatch(r"serving sqlite:.* at http://127\.0\.0\.1:\d+ \(Ctrl-C stops it\)\n", first)
    assert re.fullmatch(r"the leaderboard, for a browser: http://127\.0\.0\.1:\d+/\n", page)
    assert re.fullmatch(r"participant local has the key bmt_\S+ \(it is not shown again\)\n", key)
    assert re.fullmatch(
        r"try: curl -H 'x-api-key: bmt_\S+' -H 'Content-Type: application/json' -d '\{.*\}' "
        r"http://127\.0\.0\.1:\d+/v1/runs\n",
        curl,
    )


def test_requests_are_logged_without_secrets(task: Path, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    store = f"sqlite:{tmp_path / 'store'}"
    with serving("--task", str(task), "--store", store, "--access-log", str(log)) as started:
        call(f"{started['url']}/v1/runs", started["api_key"], {"phase": "mock", "system": "private"})
        with pytest.raises(urllib.error.HTTPError, match="404"):
            call(f"{started['url']}/nowhere?private", started["api_key"])
    lines = log.read_text(encoding="utf-8").splitlines()
    assert [re.sub(r"^\S+ \S+ ", "", line).rpartition(" ")[0] for line in lines] == [
        '127.0.0.1 "POST /v1/runs" 200 90',
        '127.0.0.1 "GET /nowhere" 404 117',
    ]
    assert "private" not in str(lines)


def test_a_stage_brings_its_own_limits_and_no_first_key(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}?synchronous=normal"
    with serving("--task", str(task), "--store", store, "--stage", "dev") as started:
        opened = open_store(store)
        assert started.keys() == {"url", "store"}  # what is printed may end up in a log: no key is made unasked
        assert Registry(opened).participants() == []
        api_key = Registry(opened).add_participant("acme")
        opened.close()

        def insist() -> None:
            for _ in range(1_000):  # 20 per second, and 40 at once
                call(f"{started['url']}/v1/phases", api_key)

        with pytest.raises(urllib.error.HTTPError) as refused:
            insist()
        assert (refused.value.code, refused.value.headers["Retry-After"]) == (429, "1")
        refused.value.close()


def test_what_cannot_be_served_is_refused_in_one_line(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        loaded = ["--task", str(task), "--store", store]
        assert refusal(*loaded, "--port", port) == (
            1,
            f"banditmt: port {port} is taken; --port 0 takes any that is free",
        )
    status, complaint = refusal("--task", str(tmp_path / "nothing"), "--store", store)
    assert (status, complaint.count("\n")) == (1, 0)
    assert "is not a task" in complaint
    unmade = ["--task", str(task), "--store", f"sqlite:{tmp_path / 'unmade'}"]
    status, complaint = refusal(*unmade, "--stage", "live")
    assert (status, complaint) == (1, "banditmt: the template has no stage 'live'; it has local, dev, prod")
    assert not (tmp_path / "unmade").exists()  # a wish that cannot come true is refused before the work
    status, complaint = refusal("--store", "papyrus:scroll")
    assert (status, complaint.count("\n")) == (2, 0)
    assert "a store is sqlite:PATH or dynamodb:" in complaint
    assert refusal("--port", "70000")[0] == 2
    other = write_task(tmp_path / "other", seed=99)
    status, complaint = refusal("--task", str(other.path), "--store", store)
    assert (status, complaint.count("\n")) == (1, 0)


def test_it_serves_from_dynamodb_too(task: Path, dynalite_url: str) -> None:
    with serving("--task", str(task), "--store", f"dynamodb:{dynalite_url}?prefix=serve") as started:
        url, api_key = started["url"], started["api_key"]
        run = call(f"{url}/v1/runs", api_key, {"phase": "mock", "system": "copy"})["run"]
        sentence, rounds = call(f"{url}/v1/runs/{run}/sentence", api_key), 0
        while sentence:
            answer = {"id": sentence["id"], "translation": sentence["source"]}
            sentence = call(f"{url}/v1/runs/{run}/translations", api_key, answer)["next"]
            rounds += 1
        assert rounds == 3
        assert call(f"{url}/v1/runs/{run}", api_key)["finished"] is True
