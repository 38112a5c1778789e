"""The whole local cloud over a small task, and an attacker's way to talk to it."""

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
    """The service under attack, and everything that it has ever said."""

    def __init__(self, port, store):
        self.port, self.store = port, store
        self.registry = Registry(store)
        self.said = []

    def newcomer(self, name):
        return self.registry.add_participant(name)

    def ask(self, method, path, key=None, body=None, headers: Mapping[str, str] | None = None):
        """One request; returns status, headers in lower case, and the body as it came."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **({"x-api-key": key} if key else {}), **(headers or {})}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            content = answer.read()
        self.said.append(content)
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def told(self, method, path, key=None, body=None):
        """Status, and the code of a refusal or the whole answer."""
        status, _, content = self.ask(method, path, key, body)
        answer = json.loads(content)
        return status, answer.get("code", answer)

    def raw(self, request):
        """Bytes that no library would send; returns all that comes back."""
        with closing(socket.create_connection(("127.0.0.1", self.port), timeout=60)) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(65_536):
                answer += part
        self.said.append(answer)
        return answer

    def open_run(self, key, system="copy", phase="mock"):
        return self.told("POST", "/v1/runs", key, {"phase": phase, "system": system})[1]["run"]

    def sentence(self, key, run):
        return self.told("GET", f"/v1/runs/{run}/sentence", key)[1]

    def translate(self, key, run, sentence_id, translation="rot"):
        return self.told("POST", f"/v1/runs/{run}/translations", key, {"id": sentence_id, "translation": translation})

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
    everything = b"".join(under_attack.said)
    assert b"secretref" not in everything  # of every reference: whatever was tried, none came out
    assert b"refword" not in everything
    assert b"Traceback" not in everything
    store.close()


@pytest.fixture(scope="module")
def mallory(target):
    return target.newcomer("mallory")


@pytest.fixture(scope="module")
def honest(target):
    return target.newcomer("honest")
