"""What happened in a competition, as far as anyone outside the service can know it: requests, responses, decisions."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(eq=False)
class Exchange:
    """One request of a client, and the response that it received, if it did."""

    participant: str | None  # whose key it has
    method: str
    path: str
    body: Json
    sent_at: float
    sent: int  # the place of the request in the order of all events
    received_at: float = 0.0
    received: int | None = None  # likewise of the response; None if the client received none
    status: int = 0
    response: Json = field(default_factory=dict)

    @property
    def run(self) -> str | None:
        parts = self.path.split("/")  # "", "v1", "runs", RUN, ...
        return parts[3] if parts[:3] == ["", "v1", "runs"] and len(parts) > 3 else None

    @property
    def call(self) -> str:
        """The call of the protocol: open, run, sentence, translate, or another path."""
        if self.path == "/v1/runs":
            return "open"
        if self.run is None:
            return self.path
        return {"sentence": "sentence", "translations": "translate"}.get(self.path.split("/")[-1], "run")

    @property
    def succeeded(self) -> bool:
        return self.received is not None and self.status == 200

    @property
    def content(self) -> Json:
        """The response without the id of the request, which is random: the rest is the same in every replay."""
        return {name: value for name, value in self.response.items() if name != "request_id"}


@dataclass(frozen=True)
class Decision:
    """What the organiser did, and until when the service may not know it yet."""

    what: str  # "closed", "opened", "revoked" or "voided"
    subject: str
    at: float
    number: int  # its place in the order of all events


@dataclass(frozen=True)
class Admission:
    """What the gateway decided on a request with a key."""

    key: str
    at: float
    admitted: bool


class History:
    """All events of a competition, in their order."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.decisions: list[Decision] = []
        self.admissions: list[Admission] = []
        self._events = 0

    def next_number(self) -> int:
        self._events += 1
        return self._events

    def send(self, participant: str | None, method: str, path: str, body: Json, now: float) -> Exchange:
        exchange = Exchange(participant, method, path, body, now, self.next_number())
        self.exchanges.append(exchange)
        return exchange

    def receive(self, exchange: Exchange, status: int, response: Json, now: float) -> None:
        exchange.received, exchange.received_at = self.next_number(), now
        exchange.status, exchange.response = status, response

    def decide(self, what: str, subject: str, now: float) -> None:
        self.decisions.append(Decision(what, subject, now, self.next_number()))

    def opened_by(self, participant: str) -> list[Exchange]:
        """Return the exchanges in which a participant opened a run."""
        return [
            each
            for each in self.exchanges
            if each.call == "open" and each.succeeded and each.participant == participant
        ]

    def digest(self) -> str:
        """Return a hash of all events, by which two executions are compared."""
        digest = hashlib.sha256()
        for each in self.exchanges:
            event = [each.participant, each.path, each.body, each.sent_at, each.received, each.status, each.content]
            digest.update(json.dumps(event, sort_keys=True).encode())
        return digest.hexdigest()[:16]
