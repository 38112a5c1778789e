"""Token buckets and quotas, as an API Gateway stage and its usage plans apply them."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

PERIODS = {"DAY": 86_400, "WEEK": 604_800, "MONTH": 2_592_000}  # a month is thirty days here, a calendar month on AWS


MOST_CLIENTS = 10_000  # remembered; who has not come for longest is forgotten first, and begins anew


Place = tuple[str, str]  # a method and the path of a route


class Verdict(Enum):
    """May the request pass?"""

    PASS = "pass"
    THROTTLED = "throttled"
    QUOTA_EXCEEDED = "quota exceeded"


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests per second, and so many at once after a pause."""

    rate: float
    burst: float


@dataclass(frozen=True, slots=True)
class Quota:
    """So many requests per period."""

    limit: int
    period: str  # one of PERIODS

    @property
    def seconds(self) -> int:
        return PERIODS[self.period]


@dataclass(slots=True)
class Bucket:
    """Holds up to ``burst`` tokens, and gains ``rate`` of them per second."""

    rate: Rate
    tokens: float
    filled: float  # when, on the gate's clock

    def take(self, now: float) -> bool:
        self.tokens = min(self.rate.burst, self.tokens + max(0.0, now - self.filled) * self.rate.rate)
        self.filled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


@dataclass(slots=True)
class _Client:
    bucket: Bucket | None
    used: int = 0
    period: int = -1


@dataclass(slots=True)
class Gate:
    """What one stage lets through, altogether and for each key."""

    overall: Rate | None = None
    per_key: Rate | None = None
    quota: Quota | None = None
    apart: Mapping[Place, Rate] = field(default_factory=dict)  # methods that have a limit of their own, not the overall
    clock: Callable[[], float] = time.time
    _stage: Bucket | None = field(init=False, default=None)
    _apart: dict[Place, Bucket | None] = field(init=False, default_factory=dict)
    _clients: dict[str, _Client] = field(init=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._stage = self._bucket(self.overall)
        self._apart = {place: self._bucket(rate) for place, rate in self.apart.items()}

    def enter(self, key: str | None, place: Place = ("", "")) -> Verdict:
        """Count one request, made with a key or without. Only pass keys that exist: they are remembered."""
        now, everybody = self.clock(), self._apart.get(place, self._stage)
        with self._lock:
            client = self._client(key) if key is not None else None
            if client and client.bucket and not client.bucket.take(now):
                return Verdict.THROTTLED
            if everybody and not everybody.take(now):
                return Verdict.THROTTLED
            if client and self.quota and not self._spend(client, self.quota, now):
                return Verdict.QUOTA_EXCEEDED
            return Verdict.PASS

    def _client(self, key: str) -> _Client:
        client = self._clients.pop(key, None) or _Client(self._bucket(self.per_key))
        self._clients[key] = client  # at the end: a dictionary keeps the order in which clients came last
        if len(self._clients) > MOST_CLIENTS:
            del self._clients[next(iter(self._clients))]
        return client

    def _bucket(self, rate: Rate | None) -> Bucket | None:
        return Bucket(rate, rate.burst, self.clock()) if rate else None

    @staticmethod
    def _spend(client: _Client, quota: Quota, now: float) -> bool:
        period = int(now // quota.seconds)
        if client.period != period:
            client.period, client.used = period, 0
        if client.used >= quota.limit:
            return False
        client.used += 1
        return True
