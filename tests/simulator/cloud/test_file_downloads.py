"""Downloads of files: whole, in parts, resumed, and never in memory."""

import http.client
import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from simulator.cloud.file_downloads import UnsatisfiableRangeError, parse_range
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.rate_limiter import RateLimiter
from simulator.cloud.template import SamTemplate
from tests.simulator.cloud.conftest import LoadedService

CONTENT = bytes(range(200))


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("bytes=0-", (0, 200)),
        ("bytes=0-0", (0, 1)),
        ("bytes=50-99", (50, 100)),
        ("bytes=199-", (199, 200)),
        ("bytes=150-999999", (150, 200)),
        ("bytes=-20", (180, 200)),
        ("bytes=-999", (0, 200)),
    ],
)
def test_ranges(header: str, wanted: tuple[int, int]) -> None:
    assert parse_range(header, 200) == wanted


@pytest.mark.parametrize(
    "header", ["", "bytes=", "bytes=-", "bytes=5-4", "bytes=0-1,5-6", "lines=0-1", "bytes=a-b", "bytes= 0-1", "0-1"]
)
def test_what_is_no_single_range_asks_for_everything(header: str) -> None:
    assert parse_range(header, 200) is None


@pytest.mark.parametrize("header", ["bytes=200-", "bytes=200-300", "bytes=-0"])
def test_bytes_after_the_end(header: str) -> None:
    with pytest.raises(UnsatisfiableRangeError):
        parse_range(header, 200)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "out-of-domain.de.gz"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def connection(template: SamTemplate, loaded: LoadedService, path: Path) -> Iterator[http.client.HTTPConnection]:
    """A connection to a gateway that has one file."""
    files = {"de": path}
    gateway = Gateway(
        template, load_handlers(template), loaded.is_known_key, rate_limiter=RateLimiter(), out_of_domain=files
    )
    with (
        running(HttpServer(("127.0.0.1", 0), gateway)) as server,
        closing(http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)) as connection,
    ):
        yield connection


def get(
    connection: http.client.HTTPConnection, language: str = "de", **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", f"/v1/task/out-of-domain/{language}", headers=named)
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def test_the_whole_file(connection: http.client.HTTPConnection) -> None:
    status, headers, body = get(connection, Accept_Encoding="gzip")
    assert (status, body) == (200, CONTENT)
    assert headers["Content-Type"] == "application/gzip"
    assert headers["Content-Encoding"] is None  # it is a gzip file, not a gzipped file
    assert headers["Content-Length"] == "200"
    assert headers["Accept-Ranges"] == "bytes"
    assert headers["Content-Disposition"] == 'attachment; filename="out-of-domain.de.gz"'


def test_an_interrupted_download_is_resumed(connection: http.client.HTTPConnection) -> None:
    etag = get(connection)[1]["ETag"]
    status, headers, body = get(connection, Range="bytes=150-", If_Range=etag)
    assert (status, body) == (206, CONTENT[150:])
    assert headers["Content-Range"] == "bytes 150-199/200"
    assert headers["Content-Length"] == "50"


def test_a_download_of_another_file_begins_again(connection: http.client.HTTPConnection, path: Path) -> None:
    etag = get(connection)[1]["ETag"]
    path.write_bytes(CONTENT[::-1])
    status, headers, body = get(connection, Range="bytes=150-", If_Range=etag)
    assert (status, body) == (200, CONTENT[::-1])
    assert headers["ETag"] != etag


def test_bytes_that_the_file_does_not_have(connection: http.client.HTTPConnection) -> None:
    status, headers, body = get(connection, Range="bytes=200-")
    assert (status, body, headers["Content-Range"]) == (416, b"", "bytes */200")
    assert get(connection)[0] == 200  # the connection is still usable


def test_a_client_that_has_the_file(connection: http.client.HTTPConnection) -> None:
    etag = get(connection)[1]["ETag"]
    for known in (etag, f'"other", W/{etag}', "*"):
        assert get(connection, If_None_Match=known)[::2] == (304, b"")
    assert get(connection, If_None_Match='"other"')[0] == 200


@pytest.mark.parametrize("language", ["en", "..", "%2e%2e%2fstore", "de%00", "DE", "de.gz"])
def test_other_files_are_not_there(connection: http.client.HTTPConnection, language: str) -> None:
    assert get(connection, language)[0] == 404


def test_an_empty_file(connection: http.client.HTTPConnection, path: Path) -> None:
    path.write_bytes(b"")
    assert get(connection)[::2] == (200, b"")
    assert get(connection, Range="bytes=0-")[0] == 416


def test_a_missing_file_is_an_error_on_our_side(connection: http.client.HTTPConnection, path: Path) -> None:
    path.unlink()
    assert get(connection)[0] == 500


def test_a_large_file_takes_no_memory(connection: http.client.HTTPConnection, path: Path) -> None:
    size = 64 * 1024 * 1024
    with path.open("wb") as file:
        file.truncate(size)
    connection.request("GET", "/v1/task/out-of-domain/de")
    response = connection.getresponse()
    tracemalloc.start()
    try:
        received = sum(len(chunk) for chunk in iter(lambda: response.read(65_536), b""))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert received == size
    assert peak < 4 * 1024 * 1024
