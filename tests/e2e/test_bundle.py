"""The bundle of ``sam build``: its contents, and one round that it plays in the real Lambda runtime.

``make template-check`` builds it and sets BANDITMT_BUILD; otherwise these tests are skipped.
"""

import ast
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from leaderboard.page import CHARTS_FILE, VEGA_FILE, site_files
from simulator.cloud.events import proxy_event
from simulator.cloud.http_messages import HttpRequest
from simulator.cloud.template import SamTemplate
from task.layout import Layout
from task.phases import Phase

BUILD = os.environ.get("BANDITMT_BUILD")
ROOT = Path(__file__).parents[2]
MEGABYTE = 1_000_000

pytestmark = pytest.mark.skipif(not BUILD, reason="needs the result of `sam build`: run `make template-check`")


@pytest.fixture(scope="module")
def template() -> SamTemplate:
    return SamTemplate.load("local")


@pytest.fixture(scope="module")
def build() -> Path:
    return (ROOT / str(BUILD)).resolve()


@pytest.fixture(params=["PublicFunction", "ReadFunction", "ScoringFunction", "BoardFunction"])
def bundle(request: pytest.FixtureRequest, build: Path) -> Path:
    return build / str(request.param)


def test_every_function_was_built(template: SamTemplate, build: Path) -> None:
    assert {entry.name for entry in build.iterdir() if entry.is_dir()} == set(template.functions)


def test_a_bundle_is_small(bundle: Path) -> None:
    assert sum(file.stat().st_size for file in bundle.rglob("*") if file.is_file()) < 30 * MEGABYTE


def test_a_bundle_contains_the_service_and_few_libraries(bundle: Path) -> None:
    packages = {entry.name for entry in bundle.iterdir() if entry.is_dir() and entry.suffix != ".dist-info"}
    expected = {
        "task",
        "lambdas",
        "leaderboard",
        "aws_lambda_powertools",
        "jmespath",
        "stopwordsiso",
    }
    assert packages - {"bin"} == expected


def test_nothing_in_a_bundle_is_for_another_machine(bundle: Path) -> None:
    assert all("aarch64" in library.name for library in bundle.rglob("*.so"))


def test_the_code_in_a_bundle_imports_only_what_is_bundled(bundle: Path) -> None:
    imported = set()
    for room in ("task", "lambdas", "leaderboard"):
        for file in (bundle / room).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {name.name.partition(".")[0] for name in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported.add(node.module.partition(".")[0])
    in_runtime = {"boto3", "botocore", "mypy_boto3_dynamodb"}  # the last for type checkers only
    ours = {"task", "lambdas", "leaderboard", "aws_lambda_powertools", "stopwordsiso"}
    assert imported - set(sys.stdlib_module_names) <= in_runtime | ours


def test_every_module_of_the_service_is_in_the_bundle(bundle: Path) -> None:
    def modules(root: Path) -> set[str]:
        return {str(file.relative_to(root)) for room in ("task", "lambdas") for file in (root / room).rglob("*.py")}

    assert modules(bundle) == modules(ROOT)


def test_a_bundle_contains_the_complete_page(bundle: Path) -> None:
    files = {file.name for file in (bundle / "leaderboard" / "site").iterdir()}
    assert files == {*site_files(), CHARTS_FILE, VEGA_FILE}


# in the real runtime


class Runtime:
    """A function of the bundle behind the emulator of the Lambda service."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations"

    def invoke(self, event: dict[str, Any]) -> Any:
        with urllib.request.urlopen(self._url, json.dumps(event).encode(), timeout=120) as response:
            return json.load(response)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def emulator() -> Path:
    architecture = {"x86_64": "x86_64", "aarch64": "arm64"}[platform.machine()]
    [found] = (ROOT / ".venv-sam").glob(f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{architecture}")
    found.chmod(0o755)
    return found


@contextmanager
def runtime(bundle: Path, handler: str, store: str, log: Path) -> Iterator[Runtime]:
    port = free_port()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(log.parent),
        "PYTHONPATH": str(bundle),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LAMBDA_TASK_ROOT": str(bundle),
        "AWS_REGION": "us-east-1",
        "AWS_LAMBDA_FUNCTION_NAME": bundle.name,
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "10",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "BANDITMT_STORE": store,
    }
    addresses = ["--runtime-interface-emulator-address", f"127.0.0.1:{port}"]
    addresses += ["--runtime-api-address", f"127.0.0.1:{free_port()}"]
    python = str(ROOT / ".venv-sam" / "bin" / "python")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(emulator()), *addresses, python, "-m", "awslambdaric", handler],
            cwd=bundle,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        await_port(port)
        yield Runtime(port)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(120)


def await_port(port: int) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("the emulator of the Lambda runtime did not start")


def event_for(template: SamTemplate, api_key: str, method: str, path: str, body: object = None) -> dict[str, Any]:
    run = path.split("/")[3] if path.count("/") > 2 else ""
    resource = path.replace(run, "{run}") if run else path
    [route] = [route for route in template.routes if (route.method, route.path) == (method, resource)]
    data = b"" if body is None else json.dumps(body).encode()
    request = HttpRequest(method, path, "", [("Host", "localhost"), ("x-api-key", api_key)], data, "127.0.0.1")
    parameters = {"run": run} if run else {}
    return proxy_event(request, route, parameters, stage="local", request_id="smoke", key=api_key)


def test_the_bundle_plays_a_round_in_the_real_runtime(template: SamTemplate, build: Path, tmp_path: Path) -> None:
    address = f"sqlite:{tmp_path / 'store'}"
    store = open_store(address)
    pairs = [("haus", "the reference of haus"), ("hund", "the reference of hund")]
    load_phase(store, Phase("mock", Layout.plain(2), repeatable=True), pairs)
    api_key = Registry(store).add_participant("ada")
    logs = [tmp_path / "public.log", tmp_path / "read.log", tmp_path / "scoring.log", tmp_path / "board.log"]
    handlers = {name: function.handler for name, function in template.functions.items()}

    def call(function: Runtime, method: str, path: str, body: object = None) -> tuple[int, Any]:
        answer = function.invoke(event_for(template, api_key, method, path, body))
        return answer["statusCode"], json.loads(answer["body"])

    with (
        runtime(build / "PublicFunction", handlers["PublicFunction"], address, logs[0]) as public,
        runtime(build / "ReadFunction", handlers["ReadFunction"], address, logs[1]) as read,
        runtime(build / "ScoringFunction", handlers["ScoringFunction"], address, logs[2]) as scoring,
        runtime(build / "BoardFunction", handlers["BoardFunction"], address, logs[3]) as board,
    ):
        assert call(public, "GET", "/health") == (200, {"status": "ok"})
        status, opened = call(read, "POST", "/v1/runs", {"phase": "mock", "system": "smoke"})
        assert (status, opened["index"], opened["total"]) == (200, 0, 2)
        run = f"/v1/runs/{opened['run']}"
        _, sentence = call(read, "GET", f"{run}/sentence")
        assert sentence["source"] == "haus"
        proposed = {"id": sentence["id"], "translation": "the reference of haus"}
        status, answer = call(scoring, "POST", f"{run}/translations", proposed)
        assert (status, answer["score"], answer["next"]["source"]) == (200, 1.0, "hund")
        assert board.invoke({"Records": []}) is None
    for log in logs:
        written = log.read_text(encoding="utf-8", errors="replace")
        assert "reference of" not in written
        assert api_key not in written
