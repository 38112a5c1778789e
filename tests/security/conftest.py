"""The local cloud with a small task, and a client for attackers."""

import http.client
import json
import socket
from collections.abc import Mapping
from contextlib import closing

import pytest

from lambdas import wiring
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from simulator.cloud.http_server import running
from simulator.cloud.local_cloud import local_server
from simulator.cloud.template import SamTemplate
from tests.lambdas import tasks


class Target:
    """The service under attack, and everything that was received from it."""

    def __init__(self, port, store):
        self.port, self.store = port, store
        self.registry = Registry(store)
        self.received = []

    def register(self, name):
        return self.registry.add_participant(name)

    def send(self, method, path, key=None, body=None, headers: Mapping[str, str] | None = None):
        """Send a request; return the status, the headers in lower case and the body."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **({"x-api-key": key} if key else {}), **(headers or {})}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            content = response.read()
        self.received.append(content)
        return response.status, {name.lower(): value for name, value in response.getheaders()}, content

    def request(self, method, path, key=None, body=None):
        """Send a request; return the status, and the error code or the whole response."""
        status, _, content = self.send(method, path, key, body)
        response = json.loads(content)
        return status, response.get("code", response)

    def raw(self, request):
        """Send bytes that no library would send; return everything that comes back."""
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=60)) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            response = b""
            while part := connection.recv(65_536):
                response += part
        self.received.append(response)
        return response

    def open_run(self, key, system="copy", phase="mock"):
        return self.request("POST", "/v1/runs", key, {"phase": phase, "system": system})[1]["run"]

    def sentence(self, key, run):
        return self.request("GET", f"/v1/runs/{run}/sentence", key)[1]

    def translate(self, key, run, sentence_id, translation="rot"):
        return self.request(
            "POST", f"/v1/runs/{run}/translations", key, {"id": sentence_id, "translation": translation}
        )

    def rounds(self, run):
        return [(each.index, each.translation) for each in self.store.rounds(run)]


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    store = open_store(f"sqlite:{tmp_path_factory.mktemp('target') / 'store'}?synchronous=normal")
    tasks.load(store)
    template = SamTemplate.load("local")
    with running(local_server(template, Service(store, staleness=0), ("127.0.0.1", 0))) as server:
        under_attack = Target(server.server_port, store)
        yield under_attack
    wiring.use_service(None)
    everything = b"".join(under_attack.received)
    assert b"secretref" not in everything  # part of every reference: no attack has revealed one
    assert b"refword" not in everything
    assert b"Traceback" not in everything
    store.close()


@pytest.fixture(scope="module")
def mallory(target):
    return target.register("mallory")


@pytest.fixture(scope="module")
def honest(target):
    return target.register("honest")
