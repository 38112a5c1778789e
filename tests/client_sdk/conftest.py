"""Fixtures that run a test once for each SDK, against a fake service, with short pauses between retries."""

import pytest

from banditmt_client import Client, connection
from banditmt_client.errors import error_for_response
from tests.client_sdk.fake_service import KEY
from tests.client_sdk.java_sdk import java_sdk

DEFAULT_BACKOFF_SECONDS = connection.INITIAL_BACKOFF_SECONDS


class PythonSdk:
    """The Python SDK behind the interface that ``JavaSdk`` has, too."""

    name = "python"
    client = Client

    def error_for_response(self, status, code):
        return error_for_response(status, code, "", "r-7")

    def parse_retry_after(self, header):
        return connection._parse_retry_after(header)

    def backoff_seconds(self, attempt, retry_after):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connection, "INITIAL_BACKOFF_SECONDS", DEFAULT_BACKOFF_SECONDS)
            return connection._backoff_seconds(attempt, retry_after)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(connection, "INITIAL_BACKOFF_SECONDS", 0.001)


@pytest.fixture(scope="session")
def java(java_classes):
    """The Java SDK."""
    with java_sdk(java_classes) as sdk:
        yield sdk


@pytest.fixture(params=["python", "java"])
def sdk(request):
    """The Python SDK, then the Java SDK."""
    return PythonSdk() if request.param == "python" else request.getfixturevalue("java")


@pytest.fixture
def make_client(sdk, monkeypatch):
    """A function that makes clients of the SDK, with no settings in the environment."""
    monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    clients = []

    def make(api_key, url, **options):
        clients.append(sdk.client(api_key, url, **options))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client_of(make_client):
    """A function that makes clients of a server, with a read timeout shorter than the server's delays."""

    def make(server, **options):
        return make_client(KEY, server.url, **{"connect_timeout": 1, "read_timeout": 0.5, **options})

    return make
