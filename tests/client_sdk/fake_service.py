"""A fake service for tests of SDKs, which follows the protocol exactly but injects faults by script.

It commits each round once and sends the same response to the same request. On the way there it does what networks and
clouds do: errors, delays, connections dropped before and after the commit, truncated responses, garbage, duplicated
requests. An SDK passes if its ledger and the scores that it received are those of a perfect network.
"""

import hashlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from banditmt_client.errors import error_for_response

KEY = "conformance-key"
PUBLIC_PATHS = ("/v1/task", "/v1/phases")
RUN = "a" * 26
HANG_UP_SECONDS = 60  # for a client to give up that waits half a second: busy machines are slow


def score_of(translation: str) -> float:
    """Return a number in [0, 1) that depends only on the translation."""
    return int.from_bytes(hashlib.sha256(translation.encode()).digest()[:4], "big") / 2**32


@dataclass
class FakeService:
    """The protocol over one run in memory, with a record of every request."""

    sentences: Sequence[str]
    post_edits: Sequence[str] = ()  # if given, the feedback is post-edits
    documents: Sequence[tuple[str, int]] = ()  # if given, the document and position of each sentence
    log_probabilities: list[float | None] = field(default_factory=list)
    ledger: list[tuple[int, str, float]] = field(default_factory=list)  # index, translation, score
    requests: list[tuple[str, str]] = field(default_factory=list)  # method, path
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sentence(self, index: int) -> dict[str, Any] | None:
        if index >= len(self.sentences):
            return None
        served = {"id": f"t{index}", "index": index, "total": len(self.sentences), "source": self.sentences[index]}
        if self.documents:
            served["document"], served["position"] = self.documents[index]
        return served

    def state(self) -> dict[str, Any]:
        """Return the response to ``GET /v1/runs/{run}``."""
        last = None
        if self.ledger:
            index, translation, score = self.ledger[-1]
            last = {**(self.sentence(index) or {}), "translation": translation, **self._feedback(index, score)}
            last.pop("total")
        return {
            "run": RUN,
            "phase": "dev",
            "system": "tested",
            "index": len(self.ledger),
            "total": len(self.sentences),
            "finished": len(self.ledger) == len(self.sentences),
            "cumulative_reward": sum(score for _, _, score in self.ledger),
            "last": last,
        }

    def respond(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Return status and body of the response to a request."""
        with self.lock:
            match (method, path):
                case ("POST", "/v1/runs"):
                    if len(self.ledger) == len(self.sentences) and not body.get("again", True):
                        return 409, {**error_body("already_played"), "run": RUN}
                    opened = self.state()
                    return 200, {name: opened[name] for name in ("run", "phase", "system", "index", "total")}
                case ("GET", "/v1/phases"):
                    return 200, {"phases": [self.phase()]}
                case ("GET", "/v1/task"):
                    return 200, self.task()
                case ("GET", "/v1/leaderboard/dev"):
                    return 200, {"phase": "dev", "rows": []}
            if path == f"/v1/runs/{RUN}":
                return 200, self.state()
            if path == f"/v1/runs/{RUN}/sentence":
                pending = self.sentence(len(self.ledger))
                return (200, pending) if pending else (410, error_body("run_finished"))
            if path == f"/v1/runs/{RUN}/translations":
                return self._translate(int(body["id"][1:]), body["translation"], body.get("log_probability"))
            return 404, error_body("run_not_found")

    def phase(self) -> dict[str, Any]:
        return {
            "phase": "dev",
            "state": "open",
            "total": len(self.sentences),
            "repeatable": True,
            "runs": 100,
            "feedback": "post-edit" if self.post_edits else "bandit",
            "metric": "sentence-bleu",
            "signature": "sentence-bleu|fake",
            "opens_at": "2026-05-01T12:00:00Z",
            "closes_at": None,
            "runs_left": 99,
        }

    def task(self) -> dict[str, Any]:
        return {
            "title": "A task of few words",
            "source": "de",
            "target": "en",
            "text": {"signature": "lower|moses", "description": "Lowercased Moses tokens."},
            "phases": [self.phase()],
            "licence": "CC0-1.0",
            "contact": None,
            "out_of_domain": {
                "url": "https://example.org/text",
                "files": [
                    {"language": "de", "lines": 1000, "bytes": 120_000, "sha256": "d" * 64, "url": None},
                    {"language": "en", "lines": 1000, "bytes": 110_000, "sha256": "e" * 64, "url": "/v1/files/en"},
                ],
            },
            "documents": bool(self.documents),
        }

    def _feedback(self, index: int, score: float) -> dict[str, Any]:
        return {"score": score, "post_edit": self.post_edits[index]} if self.post_edits else {"score": score}

    def _translate(self, index: int, translation: str, log_probability: float | None) -> tuple[int, dict[str, Any]]:
        if index > len(self.ledger):
            return 409, error_body("wrong_sentence")
        if index == len(self.ledger):
            self.ledger.append((index, translation, score_of(translation)))
            self.log_probabilities.append(log_probability)
        if self.ledger[index][1] != translation:
            return 409, error_body("translation_conflict")
        return 200, {**self._feedback(index, self.ledger[index][2]), "next": self.sentence(index + 1)}


def error_body(code: str) -> dict[str, str]:
    return {"code": code, "message": f"refused: {code}", "request_id": "r-1"}


# What can happen to a request. "before" and "after" refer to the commit.
FAULTS = (
    *("error-500-before", "error-502-before", "error-503-before", "error-504-after", "error-500-after"),
    "error-502-proxy",  # with a body in HTML
    *("throttle-seconds", "throttle-date", "throttle-silent", "delay-before", "delay-after", "delay-within", "twice"),
    *("drop-before", "drop-after", "reset-before", "reset-after"),
    *("truncate-length", "truncate-close", "garbage", "empty", "not-an-object"),
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two packets; do not wait between them
    server: "FaultyServer"

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._serve(body)

    def _serve(self, body: Any) -> None:
        service = self.server.service
        service.requests.append((self.command, self.path))
        service.headers.append({name.lower(): value for name, value in self.headers.items()})
        is_public = self.command == "GET" and self.path in PUBLIC_PATHS and "x-api-key" not in self.headers
        if not is_public and self.headers.get("x-api-key") != KEY:
            return self._send(403, error_body("invalid_key"))
        fault = self.server.next_fault()
        if fault in ("error-504-after", "error-500-after", "drop-after", "reset-after", "delay-after", "twice"):
            service.respond(self.command, self.path, body)
        if fault and fault != "twice":
            return self._inject(fault)
        return self._send(*service.respond(self.command, self.path, body))

    def _inject(self, fault: str) -> None:
        kind, _, detail = fault.partition("-")
        if fault == "error-502-proxy":
            self._send_bytes(502, b"<html>bad gateway</html>")
        elif kind == "error":
            status = int(detail[:3])
            self._send(status, error_body("unavailable" if status == 503 else "internal"))
        elif kind == "throttle":
            retry_after = {"seconds": "0", "date": formatdate(time.time() - 1, usegmt=True)}.get(detail)
            self._send(429, error_body("throttled"), {"Retry-After": retry_after} if retry_after else {})
        elif kind == "truncate":
            self._send_half(*{"length": ("Content-Length", "500"), "close": ("Connection", "close")}[detail])
            self._hang_up()
        elif kind == "delay":
            if detail == "within":
                self._send_half("Content-Length", "500")
            self._wait_for_client_to_close()
            self._hang_up()
        elif kind in ("drop", "reset"):
            self._hang_up(reset=kind == "reset")
        else:
            body = {"garbage": b"<html>proxy</html>", "empty": b"", "not-an-object": b"[1, 2]"}[fault]
            self._send_bytes(200, body)

    def _send_half(self, *header: str) -> None:
        """Send the start of a response, with a header that announces a longer body or none."""
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header(*header)
        self.end_headers()
        self.wfile.write(b'{"score": 0.5, "next": {"id": "t')

    def _wait_for_client_to_close(self) -> None:
        self.connection.settimeout(HANG_UP_SECONDS)
        with suppress(OSError):
            while self.connection.recv(1):
                pass

    def _hang_up(self, *, reset: bool = False) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.wfile.flush()
            if reset:  # lingering for no time makes the kernel send RST instead of FIN
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), headers)

    def _send_bytes(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing: the output of a test is its failures."""


class FaultyServer(ThreadingHTTPServer):
    """A fake service over HTTP. The script names the fault of the first, second, ... request (None for no fault)."""

    daemon_threads = True

    def __init__(self, service: FakeService, script: Sequence[str | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service
        self._script = iter(script)
        self._script_lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self) -> str | None:
        with self._script_lock:
            return next(self._script, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that stopped waiting: the faults provoke that."""


@contextmanager
def serving(
    sentences: Sequence[str],
    script: Sequence[str | None] = (),
    post_edits: Sequence[str] = (),
    documents: Sequence[tuple[str, int]] = (),
) -> Iterator[FaultyServer]:
    """Run a server with a fresh service."""
    server = FaultyServer(FakeService(sentences, post_edits, documents), script)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class FakeConnection:
    """A fake service without a network, for tests of what uses an SDK. ``fail`` may raise before or after a call."""

    def __init__(self, service: FakeService, fail: Callable[[str], None] = lambda moment: None) -> None:
        self.service = service
        self._fail = fail

    def open_run(self, phase: str, system: str, *, again: bool = True) -> dict[str, Any]:
        return self._call("POST", "/v1/runs", {"phase": phase, "system": system, "again": again})

    def run(self, run: str) -> dict[str, Any]:
        return self._call("GET", f"/v1/runs/{run}")

    def sentence(self, run: str) -> dict[str, Any]:
        return self._call("GET", f"/v1/runs/{run}/sentence")

    def translate(
        self, run: str, sentence_id: str, translation: str, log_probability: float | None = None
    ) -> dict[str, Any]:
        body = {"id": sentence_id, "translation": translation, "log_probability": log_probability}
        return self._call("POST", f"/v1/runs/{run}/translations", body)

    def leaderboard(self, phase: str) -> dict[str, Any]:
        return self._call("GET", f"/v1/leaderboard/{phase}")

    def phases(self) -> dict[str, Any]:
        return self._call("GET", "/v1/phases")

    def task(self) -> dict[str, Any]:
        return self._call("GET", "/v1/task")

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        self._fail(f"before {path}")
        status, response = self.service.respond(method, path, body)
        if status != 200:
            raise error_for_response(status, response["code"], response["message"], response["request_id"])
        self._fail(f"after {path}")
        return response
