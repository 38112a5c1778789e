"""Recorded exchanges with the real gateway and handlers: every call, and every error that each call can return.

They are the examples in the documentation of the API, which therefore cannot be wrong. Ids of sentences and requests
differ from one recording to the next, so fixed text replaces them.
"""

import gzip
import hashlib
import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lambdas import wiring
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import OUT_OF_DOMAIN_PATH, Service
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from lambdas.task_record import TaskRecord, write_task_record
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.http_messages import HttpRequest
from simulator.cloud.rate_limiter import QuotaSettings, RateLimiter, ThrottleSettings
from simulator.cloud.template import SamTemplate
from task.description import AboutTask, FileSummary
from task.languages import LOWERCASED_MOSES, LanguagePair
from task.layout import Layout
from task.phases import Phase

PAIRS = [("baumwolle , gr. xl", "cotton , size xl"), ("spülmaschinenfest", "dishwasher safe")]
OUT_OF_DOMAIN_TEXT = "das haus ist alt .\n"
TASK = TaskRecord(
    LanguagePair("de", "en"),
    AboutTask("Product titles", "organiser@example.org", "https://example.org/out-of-domain"),
    "CC0-1.0",
    LOWERCASED_MOSES,
    {"de": FileSummary(1, len(OUT_OF_DOMAIN_TEXT), hashlib.sha256(OUT_OF_DOMAIN_TEXT.encode()).hexdigest())},
)
CLOCK_TIME = 1_767_225_600.0  # 2026-01-01 00:00 UTC


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response."""

    name: str  # of the example
    method: str
    path: str  # of the route, with {parameters}
    request: Any  # the body, or None
    status: int
    retry_after: str | None
    content_type: str | None  # of the response; None if it has no body
    response: Any  # the body, if it is JSON


@dataclass(slots=True)
class ExchangeRecorder:
    """Sends requests to a gateway and records the exchanges."""

    gateway: Gateway
    api_key: str
    exchanges: list[Exchange] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)  # of the ids that fixed text replaces

    def call(
        self,
        name: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = "",
        byte_range: str | None = None,
        **parameters: str,
    ) -> Any:
        """Send a request, record the exchange under a name, and return the body of the response."""
        key = self.api_key if key == "" else key
        headers = [("Host", "localhost"), *([("x-api-key", key)] if key else [])]
        headers += [("Range", byte_range)] if byte_range else []
        data = b"" if body is None else json.dumps(body).encode()
        request = HttpRequest(method, path.format(**parameters), "", headers, data, "127.0.0.1")
        response = self.gateway.respond(request)
        content = json.loads(response.body) if response.body else None
        received = dict(response.headers)
        self._label_ids(content)
        self.exchanges.append(
            Exchange(
                name,
                method,
                path,
                self._with_fixed_ids(body),
                response.status,
                received.get("Retry-After"),
                received["Content-Type"] if response.content_length else None,
                self._with_fixed_ids(content),
            )
        )
        return content

    def _label_ids(self, content: Any) -> None:
        """Give every new id in a response a label, from which its replacement is computed."""
        for found in re.finditer(r'"(request_id|id)": "([^"]+)"', json.dumps(content)):
            kind, text = found.groups()
            number = sum(label.startswith(kind) for label in self.labels.values())
            self.labels.setdefault(text, f"{kind} {number}")

    def _with_fixed_ids(self, value: Any) -> Any:
        text = json.dumps(value)
        for original, label in self.labels.items():
            text = text.replace(json.dumps(original), json.dumps(_fixed_id(label, original)))
        return json.loads(text)


def _fixed_id(label: str, original: str) -> str:
    """Return an id that depends only on the label, in the format of the original."""
    digest = hashlib.sha256(label.encode()).digest() + hashlib.sha256(label.encode() + b"+").digest()
    if label.startswith("request_id"):
        digits = digest.hex()
        return "-".join((digits[:8], digits[8:12], "4" + digits[13:16], "a" + digits[17:20], digits[20:32]))
    return "AQ" + urlsafe_b64encode(digest).decode()[2 : len(original)]


def record_exchanges(template: SamTemplate) -> list[Exchange]:
    """Return all example exchanges, in the order in which they were recorded."""
    with _recorder(template) as recorder:
        _play(recorder)
        return recorder.exchanges


@contextmanager
def _recorder(template: SamTemplate) -> Iterator[ExchangeRecorder]:
    store = open_store("sqlite::memory:")
    write_task_record(store, TASK)
    load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
    load_phase(store, Phase("training", Layout.plain(1), repeatable=False), PAIRS[:1])
    registry = Registry(store)
    api_key = registry.add_participant("ada")
    gateway = Gateway(template, load_handlers(template), lambda key: key == api_key, rate_limiter=RateLimiter())
    wiring.use_service(Service(store, clock=lambda: CLOCK_TIME, staleness=0))
    recorder = ExchangeRecorder(gateway, api_key)
    try:
        yield recorder
        registry.set_phase_state("training", PhaseState.CLOSED)
        recorder.call("phase_closed", "POST", "/v1/runs", {"phase": "training", "system": "late"})
        registry.set_phase_state("mock", PhaseState.OPEN, runs=1)
        recorder.call("quota_exceeded", "POST", "/v1/runs", {"phase": "mock", "system": "one-too-many"})
        _download(template, recorder)
        _record_rejections(template, recorder)
    finally:
        wiring.use_service(None)
        store.close()


def _play(recorder: ExchangeRecorder) -> None:
    """Play one run from start to end, with every possible mistake on the way."""
    runs, one_run = "/v1/runs", "/v1/runs/{run}"
    recorder.call("ok", "GET", "/health", key=None)
    recorder.call("ok", "GET", "/v1/task", key=None)
    recorder.call("invalid_key", "GET", "/v1/task", key="guessed")
    recorder.call("elsewhere", "GET", OUT_OF_DOMAIN_PATH, key=None, language="de")
    recorder.call("not_found", "GET", OUT_OF_DOMAIN_PATH, key=None, language="fr")
    recorder.call("ok", "GET", "/v1/phases")
    run = recorder.call("ok", "POST", runs, {"phase": "mock", "system": "greedy"})["run"]
    recorder.call("bad_request", "POST", runs, {"phase": "mock"})
    recorder.call("bad_name", "POST", runs, {"phase": "mock", "system": "no spaces, please"})
    recorder.call("phase_not_found", "POST", runs, {"phase": "finals", "system": "greedy"})
    recorder.call("begun", "GET", one_run, run=run)
    recorder.call("run_not_found", "GET", one_run, run="somebodyelses")
    recorder.call("run_not_found", "GET", f"{one_run}/sentence", run="somebodyelses")
    first = recorder.call("ok", "GET", f"{one_run}/sentence", run=run)
    _submit_invalid_translations(recorder, run, first["id"])
    second = recorder.call(
        "ok", "POST", f"{one_run}/translations", {"id": first["id"], "translation": "cotton , xl"}, run=run
    )
    other = {"id": first["id"], "translation": "cotton , extra large"}
    recorder.call("translation_conflict", "POST", f"{one_run}/translations", other, run=run)
    recorder.call("under_way", "GET", one_run, run=run)
    last = {"id": second["next"]["id"], "translation": "dishwasher safe"}
    recorder.call("last_sentence", "POST", f"{one_run}/translations", last, run=run)
    recorder.call("run_finished", "GET", f"{one_run}/sentence", run=run)
    recorder.call("finished", "GET", one_run, run=run)
    recorder.call("ok", "GET", "/v1/leaderboard/{phase}", key=None, phase="mock")
    recorder.call("phase_not_found", "GET", "/v1/leaderboard/{phase}", key=None, phase="finals")
    recorder.call("invalid_key", "GET", "/v1/leaderboard/{phase}", key="guessed", phase="mock")
    _play_once_only(recorder)


def _submit_invalid_translations(recorder: ExchangeRecorder, run: str, sentence: str) -> None:
    path = "/v1/runs/{run}/translations"
    recorder.call("bad_request", "POST", path, {"id": sentence}, run=run)
    recorder.call("invalid_translation", "POST", path, {"id": sentence, "translation": " "}, run=run)
    recorder.call("too_large", "POST", path, {"id": sentence, "translation": "cotton " * 1_000}, run=run)
    recorder.call("wrong_sentence", "POST", path, {"id": "made up", "translation": "cotton"}, run=run)
    recorder.call("run_not_found", "POST", path, {"id": sentence, "translation": "cotton"}, run="somebodyelses")


def _play_once_only(recorder: ExchangeRecorder) -> None:
    body = {"phase": "training", "system": "greedy"}
    run = recorder.call("training", "POST", "/v1/runs", body)["run"]
    sentence = recorder.call("training", "GET", "/v1/runs/{run}/sentence", run=run)
    answer = {"id": sentence["id"], "translation": "cotton , size xl"}
    recorder.call("training", "POST", "/v1/runs/{run}/translations", answer, run=run)
    recorder.call("already_played", "POST", "/v1/runs", body)


def _download(template: SamTemplate, recorder: ExchangeRecorder) -> None:
    """Download the out-of-domain text from a gateway that has its files."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "out-of-domain.de.gz"
        path.write_bytes(gzip.compress(OUT_OF_DOMAIN_TEXT.encode()))
        recorder.gateway = Gateway(
            template, {}, lambda _: False, rate_limiter=RateLimiter(), out_of_domain={"de": path}
        )
        recorder.call("file", "GET", OUT_OF_DOMAIN_PATH, key=None, language="de")
        recorder.call("part", "GET", OUT_OF_DOMAIN_PATH, key=None, language="de", byte_range="bytes=5-")
        recorder.call("beyond", "GET", OUT_OF_DOMAIN_PATH, key=None, language="de", byte_range="bytes=999-")


def _record_rejections(template: SamTemplate, recorder: ExchangeRecorder) -> None:
    """Record the errors that any call with a key can return."""
    limiters = {
        "throttled": RateLimiter(per_key=ThrottleSettings(1, 0)),
        "daily_quota": RateLimiter(quota=QuotaSettings(0, "DAY")),
    }
    bodies = {"/v1/runs": {"phase": "mock", "system": "greedy"}}
    for route in template.routes:
        if not route.key_required:
            continue
        body = bodies.get(route.path) or ({"id": "any", "translation": "any"} if route.schema else None)
        recorder.call("invalid_key", route.method, route.path, body, run="any", key=None)
        for name, limiter in limiters.items():
            recorder.gateway = Gateway(template, {}, lambda _: True, rate_limiter=limiter)
            recorder.call(name, route.method, route.path, body, run="any")
