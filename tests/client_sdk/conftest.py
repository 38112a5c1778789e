"""What SDK tests share: short pauses, and clients of a server that misbehaves by script, from both SDKs."""

import pytest

from banditmt_client import Client, connection
from tests.client_sdk.conformance import KEY
from tests.client_sdk.java import java_sdk


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(connection, "FIRST_PAUSE", 0.001)


@pytest.fixture(scope="session")
def java_side(java_classes):
    with java_sdk(java_classes) as sdk:
        yield sdk


@pytest.fixture(params=["python", "java"])
def sdk(request):
    """One SDK after the other."""
    return request.param


@pytest.fixture
def make_client(sdk, request):
    """Makes clients of the SDK."""
    make = Client if sdk == "python" else request.getfixturevalue("java_side").client
    clients = []

    def connect(api_key, url, **options):
        clients.append(make(api_key, url, **options))
        return clients[-1]

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def client_of(make_client):
    """A client of a conformance server, with a read timeout shorter than its delays."""

    def connect(server, **options):
        return make_client(KEY, server.url, **{"connect_timeout": 1, "read_timeout": 0.5, **options})

    return connect
