"""A short play through the real gateway and handlers: every call, and every way in which each can be refused.

What is said in it becomes the examples of the API's documentation, so that these cannot be wrong. What differs from one
rehearsal to the next (keys, ids of sentences and of requests) is replaced by made-up text that does not.
"""

import hashlib
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lambdas import wiring
from lambdas.registry import PhaseState, Registry
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.messages import Request
from simulator.cloud.template import Template
from simulator.cloud.throttle import Gate, Quota, Rate
from task.layout import Layout
from task.phases import Phase

PAIRS = [("baumwolle , gr. xl", "cotton , size xl"), ("spülmaschinenfest", "dishwasher safe")]
WHEN = 1_767_225_600.0  # the first second of 2026


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer."""

    name: str  # what it is an example of
    method: str
    path: str  # the route's, with {parameters}
    request: Any  # the body, or None
    status: int
    retry_after: str | None
    response: Any


@dataclass(slots=True)
class Stage:
    """Where it is played: a gateway, somebody with a key, and a record of what is said."""

    gateway: Gateway
    api_key: str
    exchanges: list[Exchange] = field(default_factory=list)
    made_up: dict[str, str] = field(default_factory=dict)

    def call(
        self, name: str, method: str, path: str, body: Any = None, *, key: str | None = "", **parameters: str
    ) -> Any:
        """Ask, and write down what was said."""
        key = self.api_key if key == "" else key
        headers = [("Host", "localhost"), *([("x-api-key", key)] if key else [])]
        data = b"" if body is None else json.dumps(body).encode()
        request = Request(method, path.format(**parameters), "", headers, data, "127.0.0.1")
        response = self.gateway.answer(request)
        answer = json.loads(response.body)
        retry_after = dict(response.headers).get("Retry-After")
        self._make_up(answer)
        self.exchanges.append(
            Exchange(name, method, path, self._cleaned(body), response.status, retry_after, self._cleaned(answer))
        )
        return answer

    def _make_up(self, answer: Any) -> None:
        """Invent a lasting text for each that will not last."""
        for found in re.finditer(r'"(request_id|id)": "([^"]+)"', json.dumps(answer)):
            kind, text = found.groups()
            number = sum(known.startswith(kind) for known in self.made_up.values())
            self.made_up.setdefault(text, f"{kind} {number}")

    def _cleaned(self, value: Any) -> Any:
        text = json.dumps(value)
        for original, label in self.made_up.items():
            text = text.replace(json.dumps(original), json.dumps(_lasting(label, original)))
        return json.loads(text)


def _lasting(label: str, original: str) -> str:
    """Text of the same shape as the original."""
    digest = hashlib.sha256(label.encode()).digest() + hashlib.sha256(label.encode() + b"+").digest()
    if label.startswith("request_id"):
        found = digest.hex()
        return "-".join((found[:8], found[8:12], "4" + found[13:16], "a" + found[17:20], found[20:32]))
    return "AQ" + urlsafe_b64encode(digest).decode()[2 : len(original)]


def rehearse(template: Template) -> list[Exchange]:
    """Play it all, and return what was said, in order."""
    with _stage(template) as stage:
        _play(stage)
        return stage.exchanges


@contextmanager
def _stage(template: Template) -> Iterator[Stage]:
    store = open_store("sqlite::memory:")
    load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
    load_phase(store, Phase("training", Layout.plain(1), repeatable=False), PAIRS[:1])
    registry = Registry(store)
    api_key = registry.add_participant("ada")
    gateway = Gateway(template, load_handlers(template), lambda key: key == api_key, gate=Gate())
    wiring.use_service(Service(store, clock=lambda: WHEN, staleness=0))
    stage = Stage(gateway, api_key)
    try:
        yield stage
        registry.set_phase_state("training", PhaseState.CLOSED)
        stage.call("phase_closed", "POST", "/v1/runs", {"phase": "training", "system": "late"})
        registry.set_phase_state("mock", PhaseState.OPEN, runs=1)
        stage.call("quota_exceeded", "POST", "/v1/runs", {"phase": "mock", "system": "one-too-many"})
        _refuse_everywhere(template, stage)
    finally:
        wiring.use_service(None)
        store.close()


def _play(stage: Stage) -> None:
    """One run from beginning to end, with every mistake on the way."""
    runs, one_run = "/v1/runs", "/v1/runs/{run}"
    stage.call("ok", "GET", "/health", key=None)
    stage.call("ok", "GET", "/v1/phases")
    run = stage.call("ok", "POST", runs, {"phase": "mock", "system": "greedy"})["run"]
    stage.call("bad_request", "POST", runs, {"phase": "mock"})
    stage.call("bad_name", "POST", runs, {"phase": "mock", "system": "no spaces, please"})
    stage.call("phase_not_found", "POST", runs, {"phase": "finals", "system": "greedy"})
    stage.call("begun", "GET", one_run, run=run)
    stage.call("run_not_found", "GET", one_run, run="somebodyelses")
    stage.call("run_not_found", "GET", f"{one_run}/sentence", run="somebodyelses")
    first = stage.call("ok", "GET", f"{one_run}/sentence", run=run)
    _translate_badly(stage, run, first["id"])
    second = stage.call(
        "ok", "POST", f"{one_run}/translations", {"id": first["id"], "translation": "cotton , xl"}, run=run
    )
    other = {"id": first["id"], "translation": "cotton , extra large"}
    stage.call("translation_conflict", "POST", f"{one_run}/translations", other, run=run)
    stage.call("under_way", "GET", one_run, run=run)
    last = {"id": second["next"]["id"], "translation": "dishwasher safe"}
    stage.call("last_sentence", "POST", f"{one_run}/translations", last, run=run)
    stage.call("run_finished", "GET", f"{one_run}/sentence", run=run)
    stage.call("finished", "GET", one_run, run=run)
    stage.call("ok", "GET", "/v1/leaderboard/{phase}", key=None, phase="mock")
    stage.call("phase_not_found", "GET", "/v1/leaderboard/{phase}", key=None, phase="finals")
    stage.call("invalid_key", "GET", "/v1/leaderboard/{phase}", key="guessed", phase="mock")
    _play_once_only(stage)


def _translate_badly(stage: Stage, run: str, sentence: str) -> None:
    path = "/v1/runs/{run}/translations"
    stage.call("bad_request", "POST", path, {"id": sentence}, run=run)
    stage.call("invalid_translation", "POST", path, {"id": sentence, "translation": " "}, run=run)
    stage.call("too_large", "POST", path, {"id": sentence, "translation": "cotton " * 1_000}, run=run)
    stage.call("wrong_sentence", "POST", path, {"id": "made up", "translation": "cotton"}, run=run)
    stage.call("run_not_found", "POST", path, {"id": sentence, "translation": "cotton"}, run="somebodyelses")


def _play_once_only(stage: Stage) -> None:
    body = {"phase": "training", "system": "greedy"}
    run = stage.call("training", "POST", "/v1/runs", body)["run"]
    sentence = stage.call("training", "GET", "/v1/runs/{run}/sentence", run=run)
    answer = {"id": sentence["id"], "translation": "cotton , size xl"}
    stage.call("training", "POST", "/v1/runs/{run}/translations", answer, run=run)
    stage.call("already_played", "POST", "/v1/runs", body)


def _refuse_everywhere(template: Template, stage: Stage) -> None:
    """What can happen to any call that needs a key."""
    gates = {"throttled": Gate(per_key=Rate(1, 0)), "daily_quota": Gate(quota=Quota(0, "DAY"))}
    bodies = {"/v1/runs": {"phase": "mock", "system": "greedy"}}
    for route in template.routes:
        if not route.key_required:
            continue
        body = bodies.get(route.path) or ({"id": "any", "translation": "any"} if route.schema else None)
        stage.call("invalid_key", route.method, route.path, body, run="any", key=None)
        for name, gate in gates.items():
            stage.gateway = Gateway(template, {}, lambda _: True, gate=gate)
            stage.call(name, route.method, route.path, body, run="any")
