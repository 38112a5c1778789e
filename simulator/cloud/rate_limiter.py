"""Throttling and quotas, as a stage of API Gateway and its usage plan apply them.

Processes that are forked from one process share its limits: what one admits, another counts.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from simulator.cloud.shared_table import SharedLock, SharedTable, shared_lock

PERIOD_SECONDS = {"DAY": 86_400, "WEEK": 604_800, "MONTH": 2_592_000}  # MONTH: 30 days here, a calendar month on AWS
# Keys and networks with state. One that was not used for long is forgotten for another, and then starts afresh.
MAX_KEYS = MAX_NETWORKS = 32_768

BUCKET = "dd"  # the numbers of a bucket in a table: its tokens, and when it was refilled
MethodPath = tuple[str, str]  # an HTTP method and the path of a route


class Admission(Enum):
    """Whether a request is admitted."""

    ADMITTED = "admitted"
    THROTTLED = "throttled"
    QUOTA_EXCEEDED = "quota exceeded"


@dataclass(frozen=True, slots=True)
class ThrottleSettings:
    """A limit on requests per second (``rate``), and on requests at once after a pause (``burst``)."""

    rate: float
    burst: float


@dataclass(frozen=True, slots=True)
class QuotaSettings:
    """A limit on requests per period."""

    limit: int
    period: str  # one of PERIOD_SECONDS

    @property
    def seconds(self) -> int:
        return PERIOD_SECONDS[self.period]


@dataclass(slots=True)
class TokenBucket:
    """Holds up to ``burst`` tokens, and gains ``rate`` tokens per second."""

    settings: ThrottleSettings
    tokens: float
    refilled: float  # when, on the clock of the rate limiter

    def take(self, now: float) -> bool:
        """Take one token; return False if there is none."""
        earned = max(0.0, now - self.refilled) * self.settings.rate
        self.tokens = min(self.settings.burst, self.tokens + earned)
        self.refilled = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


def _take(buckets: SharedTable, name: str, settings: ThrottleSettings, now: float) -> bool:
    """Take one token from the bucket of a name, which is full if it is new; return False if there is none."""
    place = buckets.place(name)
    tokens, refilled = buckets.read(place) or (settings.burst, now)
    bucket = TokenBucket(settings, tokens, refilled)
    is_taken = bucket.take(now)
    buckets.write(place, bucket.tokens, bucket.refilled)
    return is_taken


class BucketTable:
    """A token bucket for each network. Safe to share between threads and forked processes."""

    def __init__(self, settings: ThrottleSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock, self._lock = settings, clock, shared_lock()
        self._buckets = SharedTable(MAX_NETWORKS, BUCKET)

    def take(self, network: str) -> bool:
        """Take one token from the bucket of a network; return False if there is none."""
        now = self._clock()
        with self._lock:
            return _take(self._buckets, network, self._settings, now)

    def give_back(self, network: str) -> None:
        """Give back one token that was taken."""
        with self._lock:
            place = self._buckets.place(network)
            tokens, refilled = self._buckets.read(place) or (self._settings.burst, self._clock())
            self._buckets.write(place, min(self._settings.burst, tokens + 1), refilled)


@dataclass(slots=True)
class RateLimiter:
    """Limits the requests to one stage: in total, to some methods, with each key, and those that are rejected.

    Requests without a route or a valid key have a limit of their own for each network, so that they take nothing from
    the limits of participants.
    """

    stage: ThrottleSettings | None = None  # of all methods together that have no settings of their own
    per_key: ThrottleSettings | None = None
    quota: QuotaSettings | None = None
    methods: Mapping[MethodPath, ThrottleSettings] = field(default_factory=dict)
    rejections: ThrottleSettings | None = None  # of each network
    clock: Callable[[], float] = time.time
    _keys: SharedTable = field(init=False)  # buckets
    _routes: SharedTable = field(init=False)  # buckets of the stage and of methods
    _quotas: SharedTable = field(init=False)  # periods, and how many requests each key made in it
    _networks: BucketTable | None = field(init=False, default=None)
    _lock: SharedLock = field(init=False, default_factory=shared_lock)

    def __post_init__(self) -> None:
        routes = 1 + len(self.methods)
        self._keys, self._routes = SharedTable(MAX_KEYS, BUCKET), SharedTable(routes, BUCKET, ways=routes)
        self._quotas = SharedTable(MAX_KEYS, "qq")
        self._networks = BucketTable(self.rejections, clock=self.clock) if self.rejections else None

    def admit(self, key: str | None, method: MethodPath = ("", "")) -> Admission:
        """Count one request, made with or without a key. Pass only keys that exist, because each takes memory."""
        now = self.clock()
        name, shared = ("".join(method), self.methods[method]) if method in self.methods else ("stage", self.stage)
        with self._lock:
            if key is not None and self.per_key and not _take(self._keys, key, self.per_key, now):
                return Admission.THROTTLED
            if shared and not _take(self._routes, name, shared, now):
                return Admission.THROTTLED
            if key is not None and self.quota and not self._spend(key, self.quota, now):
                return Admission.QUOTA_EXCEEDED
            return Admission.ADMITTED

    def admit_rejection(self, network: str) -> Admission:
        """Count one request from a network that has no route or no valid key."""
        admitted = self._networks is None or self._networks.take(network)
        return Admission.ADMITTED if admitted else Admission.THROTTLED

    def _spend(self, key: str, quota: QuotaSettings, now: float) -> bool:
        period = int(now // quota.seconds)
        place = self._quotas.place(key)
        known, requests = self._quotas.read(place) or (period, 0)
        if known != period:
            requests = 0
        if requests >= quota.limit:
            return False
        self._quotas.write(place, period, requests + 1)
        return True
