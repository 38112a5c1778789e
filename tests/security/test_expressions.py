"""No header can make the server compute for long: the time to read one grows no faster than its length.

An expression that backtracks takes four times as long for a header of twice the length. The tests measure this growth
in processor time of the thread, so that neither a slow nor a busy machine changes the outcome.
"""

import ast
import importlib
import io
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lambdas import wiring
from lambdas.service import Service
from lambdas.store import open_store
from simulator.cloud.http_messages import HttpRequest
from simulator.cloud.http_server import ServerLimits
from simulator.cloud.local_cloud import local_gateway
from simulator.cloud.request_head import read_request_head
from simulator.cloud.template import SamTemplate
from tests.lambdas import tasks

ROOT = Path(__file__).parents[2]
HEADER_BYTES = ServerLimits().header_bytes
MAX_GROWTH = 3.0  # of the time when the length doubles: it is 2 for a linear expression, and 4 for a quadratic one
LINEAR = re.compile(r"[^\0]*")

WITHOUT_REQUESTS = ("example_exchanges", "openapi", "template")  # these describe the service


def modules_in(folder):
    return sorted(path.stem for path in (ROOT / folder).glob("[!_]*.py"))


# the modules that see a request, up to the service
MODULES = [
    *(f"simulator.cloud.{name}" for name in modules_in("simulator/cloud") if name not in WITHOUT_REQUESTS),
    *(f"lambdas.handlers.{name}" for name in modules_in("lambdas/handlers")),
    *("lambdas.registry", "lambdas.service", "lambdas.tokens", "task.limits", "task.names"),
]
EXPRESSIONS = {
    f"{module}.{name}": value
    for module in MODULES
    for name, value in vars(importlib.import_module(module)).items()
    if isinstance(value, re.Pattern)
}


def seconds(use, text):
    """Return the processor time of a use, and of one linear pass over the text: below that, growth is only noise."""
    plain = text if isinstance(text, str) else text.decode("latin-1")
    began = time.thread_time()
    use(text)
    LINEAR.fullmatch(plain)
    return time.thread_time() - began


def growth(use, text_of_length, length):
    """Return how many times longer a use takes when the length doubles. Other processes can only make it look worse."""
    half, whole = text_of_length(length // 2), text_of_length(length)
    least = float("inf")
    for _ in range(5):
        least = min(least, min(seconds(use, whole) for _ in range(2)) / min(seconds(use, half) for _ in range(3)))
        if least < MAX_GROWTH:
            break
    return least


def pumps(example):
    """Yield functions from a length to a text: an example in which a short part is repeated, with a wrong end."""
    end = "\0" if isinstance(example, str) else b"\0"
    for start in range(len(example)):
        for stop in range(start + 1, min(start + 2, len(example)) + 1):
            before, part, after = example[:start], example[start:stop], example[stop:]
            yield lambda length, b=before, p=part, a=after: b + p * (length // len(p)) + a + end


def is_linear(expression, example, length=HEADER_BYTES):
    return all(growth(expression.fullmatch, pump, length) < MAX_GROWTH for pump in pumps(example))


def test_the_check_finds_a_quadratic_expression():
    assert not is_linear(re.compile(r"gzip(;q=\.\d*[1-9]\d*)?"), "gzip;q=.11", length=2_000)
    assert is_linear(re.compile(r"gzip(;q=\.\d*)?"), "gzip;q=.11", length=2_000)


def test_every_expression_that_meets_a_request_is_compiled_under_a_name():
    """The next test finds it by its name."""
    anonymous = []
    for module in MODULES:
        tree = ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
        named = [node.value for node in tree.body if isinstance(node, ast.Assign)]
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node not in named]
        anonymous += [call for call in map(ast.unparse, calls) if call.startswith("re.")]
    assert anonymous == []


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_time_of_an_expression_is_linear_in_the_length(name):
    expression = EXPRESSIONS[name]

    @settings(max_examples=5, database=None, derandomize=True)
    @given(st.from_regex(expression, fullmatch=True))
    def check(example):
        assert is_linear(expression, example[:12])

    check()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    store = open_store(f"sqlite:{tmp_path_factory.mktemp('expressions') / 'store'}?synchronous=normal")
    tasks.load(store)
    yield local_gateway(SamTemplate.load("local"), Service(store))
    wiring.use_service(None)
    store.close()


VALUES = [
    *("gzip;q=.1", "gzip;q=0.0", "gzip, ", "gzip ;", '"a", ', 'W/"', "text/csv, ", "application/json;", "close, "),
    *("x", "1", "0", " ", "\t ", ",", ";", "=", "é", "%2e", "../", "a=b&", "multipart/form-data; boundary="),
]
HEADERS = ["Accept", "Accept-Encoding", "Connection", "Content-Type", "Expect", "Host", "If-None-Match", "x-api-key"]
PATHS = ["/style.css", "/v1/leaderboard/dev", "/v1/phases"]


def head_bytes(path, headers):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("header", HEADERS)
def test_the_time_of_a_request_is_linear_in_the_length_of_a_header(gateway, header, path):
    """From the first byte of its head to its response, with the real handlers."""

    def respond(head):
        read = read_request_head(io.BufferedReader(io.BytesIO(head)), HEADER_BYTES)
        assert read is not None
        response = gateway.respond(HttpRequest(read.method, path, "", read.headers, b"", "127.0.0.1"))
        assert not read.closes_connection or header == "Connection"
        assert response.status < 500

    for value in VALUES:
        for width in (1, 2):
            start, part = value[:-width], value[-width:]

            def head_with_value(length, start=start, part=part):
                repeated = start + part * ((length - 200) // len(part)) + "!"
                return head_bytes(path, {"Host": "h", header: repeated} if header != "Host" else {header: repeated})

            assert growth(respond, head_with_value, HEADER_BYTES) < MAX_GROWTH, f"{header}: {start}{part * 3}..."
