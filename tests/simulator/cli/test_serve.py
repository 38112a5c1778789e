"""``banditmt serve``, in its own process."""

import gzip
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lambdas.registry import Registry
from lambdas.store import open_store
from simulator.cli import serve
from simulator.errors import ServeError
from tests.corpora.tasks import write_task
from tests.simulator.cli.serve_process import BANDITMT, TIMEOUT_SECONDS, call, serving


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("serve") / "task").path


def run_serve(*arguments: str) -> tuple[int, str]:
    """Run the command, which must fail; return exit code and error message."""
    done = subprocess.run(
        [*BANDITMT, "serve", *arguments], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    assert done.stdout == ""
    return done.returncode, done.stderr.strip()


def test_the_first_start_prints_a_key_and_a_restart_loses_nothing(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}"
    with serving("--task", str(task), "--store", store) as first:
        assert first["store"] == store
        assert first["participant"] == "local"
        url, api_key = first["url"], first["api_key"]
        run = call(f"{url}/v1/runs", api_key, {"phase": "mock", "system": "copy"})["run"]
        sentence = call(f"{url}/v1/runs/{run}/sentence", api_key)
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        committed = call(f"{url}/v1/runs/{run}/translations", api_key, answer)
        with urllib.request.urlopen(f"{url}/", timeout=TIMEOUT_SECONDS) as page:
            assert b"leaderboard" in page.read()
    with serving("--store", store, stop=signal.SIGINT) as second:
        assert "api_key" not in second  # printed only once
        assert call(f"{second['url']}/v1/runs/{run}/sentence", api_key) == committed["next"]
        assert call(f"{second['url']}/v1/runs/{run}/translations", api_key, answer) == committed


def test_the_task_says_what_it_is_and_its_out_of_domain_text_can_be_downloaded(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}"
    with serving("--task", str(task), "--store", store) as served:
        told = call(f"{served['url']}/v1/task", "")
        assert (told["source"], told["target"], told["licence"]) == ("de", "en", "CC0-1.0")
        [german, _] = told["out_of_domain"]["files"]
        with urllib.request.urlopen(f"{served['url']}{german['url']}", timeout=TIMEOUT_SECONDS) as response:
            text = gzip.decompress(response.read())
        assert (len(text), hashlib.sha256(text).hexdigest()) == (german["bytes"], german["sha256"])
    with serving("--store", store) as served:  # which does not know where the directory is
        told = call(f"{served['url']}/v1/task", "")
        assert [file["url"] for file in told["out_of_domain"]["files"]] == [None, None]


def test_two_first_starts_at_once_print_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    assert serve._first_key(store) is not None
    monkeypatch.setattr(Registry, "participants", lambda _: [])  # as it was before the other one added its participant
    assert serve._first_key(store) is None
    store.close()


def test_without_json_the_output_has_an_example_request(task: Path, tmp_path: Path) -> None:
    command = [*BANDITMT, "serve", "--port", "0", "--task", str(task), "--store", f"sqlite:{tmp_path / 'store'}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, page, key, curl = (process.stdout.readline() for _ in range(4))
        process.terminate()
    assert re.fullmatch(r"serving sqlite:.* at http://127\.0\.0\.1:\d+ \(stop with Ctrl-C\)\n", first)
    assert re.fullmatch(r"leaderboard page: http://127\.0\.0\.1:\d+/\n", page)
    assert re.fullmatch(r"API key of participant local: bmt_\S+ \(not shown again\)\n", key)
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
    # A line is written after its response was sent, so the client may be faster with its next request.
    assert {re.sub(r"^\S+ \S+ ", "", line).rpartition(" ")[0] for line in lines} == {
        '127.0.0.1 "POST /v1/runs" 200 90',
        '127.0.0.1 "GET /nowhere" 404 117',
    }
    assert "private" not in str(lines)


def test_other_stages_have_their_own_limits_and_print_no_key(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}?synchronous=normal"
    with serving("--task", str(task), "--store", store, "--stage", "dev") as started:
        opened = open_store(store)
        assert started.keys() == {"url", "store"}  # the output may go to a log, so it has no key
        assert Registry(opened).participants() == []
        api_key = Registry(opened).add_participant("acme")
        opened.close()

        def call_until_throttled() -> None:
            for _ in range(1_000):  # the limit is 20 per second, with bursts of 40
                call(f"{started['url']}/v1/phases", api_key)

        with pytest.raises(urllib.error.HTTPError) as refused:
            call_until_throttled()
        assert (refused.value.code, refused.value.headers["Retry-After"]) == (429, "1")
        refused.value.close()


@pytest.mark.parametrize(("host", "warns"), [("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("::", True)])
@pytest.mark.parametrize("as_json", [True, False])
def test_an_address_that_other_machines_can_reach_gets_a_warning(
    host: str, warns: bool, as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    server: Any = SimpleNamespace(server_address=(host, 8000), url="http://somewhere:8000")
    serve._announce(server, "sqlite:store", None, as_json=as_json)
    assert ("put a TLS proxy in front" in capsys.readouterr().err) == warns


def test_several_processes_serve_one_port_and_share_its_limits(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}?synchronous=normal"
    command = [*BANDITMT, "serve", "--port", "0", "--json", "--task", str(task), "--store", store, "--stage", "dev"]
    with subprocess.Popen(
        [*command, "--processes", "3"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        serving = children(process.pid)
        assert len(serving) == 3
        with closing(open_store(store)) as opened:
            api_key = Registry(opened).add_participant("acme")
        run = call(f"{url}/v1/runs", api_key, {"phase": "mock", "system": "copy"})["run"]
        sentence = call(f"{url}/v1/runs/{run}/sentence", api_key)
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        committed = call(f"{url}/v1/runs/{run}/translations", api_key, answer)
        os.kill(serving[0], signal.SIGKILL)
        for _ in range(6):  # each over a new connection, to any of the processes
            assert call(f"{url}/v1/runs/{run}/translations", api_key, answer) == committed
        started, admitted = time.monotonic(), 0
        with suppress(urllib.error.HTTPError):
            for _ in range(1_000):
                call(f"{url}/v1/runs/{run}", api_key)
                admitted += 1
        assert admitted <= 40 + 20 * (time.monotonic() - started)  # the limits of one server
        killed, deadline = serving[0], time.monotonic() + TIMEOUT_SECONDS
        while killed in serving or len(serving) < 3:  # until the killed process is replaced
            assert time.monotonic() < deadline
            time.sleep(0.01)
            serving = children(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C in a terminal does
        rest, error = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, rest) == (0, "")
    assert re.search(r"server process \d+ was killed by signal 9; process \d+ replaces it\n", error)
    assert error.endswith("stopped\n")
    assert not any(Path(f"/proc/{pid}").exists() for pid in serving)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_number_of_processes_depends_on_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "usable_cpus", lambda: [0, 1, 2, 3])
    stores = {name: open_store(f"sqlite:{tmp_path / 'store'}?synchronous={name}") for name in ("full", "normal")}
    assert serve._process_count(stores["normal"], None) == 4
    assert serve._process_count(stores["full"], None) == 1  # several would commit smaller groups
    assert serve._process_count(stores["full"], 2) == 2
    in_memory = open_store("sqlite::memory:")
    assert serve._process_count(in_memory, None) == 1
    with pytest.raises(ServeError, match="only a SQLite store in a file"):
        serve._process_count(in_memory, 2)
    for store in (*stores.values(), in_memory):
        store.close()


def test_errors_are_one_line(task: Path, tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'store'}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        loaded = ["--task", str(task), "--store", store]
        assert run_serve(*loaded, "--port", port) == (
            1,
            f"banditmt: port {port} is in use; --port 0 chooses a free one",
        )
    status, message = run_serve("--task", str(tmp_path / "nothing"), "--store", store)
    assert (status, message.count("\n")) == (1, 0)
    assert "is not a task" in message
    untouched = ["--task", str(task), "--store", f"sqlite:{tmp_path / 'untouched'}"]
    status, message = run_serve(*untouched, "--stage", "live")
    assert (status, message) == (1, "banditmt: the template has no stage 'live'; it has local, dev, prod")
    assert not (tmp_path / "untouched").exists()  # checked before anything is created
    status, message = run_serve("--store", "papyrus:scroll")
    assert (status, message.count("\n")) == (2, 0)
    assert "a store is sqlite:PATH or dynamodb:" in message
    assert run_serve("--port", "70000")[0] == 2
    assert run_serve("--processes", "0")[0] == 2
    other = write_task(tmp_path / "other", seed=99)
    status, message = run_serve("--task", str(other.path), "--store", store)
    assert (status, message.count("\n")) == (1, 0)


def test_the_store_can_be_dynamodb(task: Path, dynalite_url: str) -> None:
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
