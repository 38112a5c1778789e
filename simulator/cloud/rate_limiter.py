"""Throttling and quotas, as a stage of API Gateway and its usage plan apply them."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

PERIOD_SECONDS = {"DAY": 86_400, "WEEK": 604_800, "MONTH": 2_592_000}  # MONTH: 30 days here, a calendar month on AWS
MAX_KEYS = 10_000  # with state; the least recently used key is forgotten first, and starts afresh

MAX_NETWORKS = 10_000  # likewise, in each table

Entry = TypeVar("Entry")
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


class BucketTable:
    """A token bucket for each network. The least recently seen network is forgotten first. Safe to share."""

    def __init__(self, settings: ThrottleSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()

    def take(self, network: str) -> bool:
        """Take one token from the bucket of a network; return False if there is none."""
        now = self._clock()
        with self._lock:
            bucket = self._buckets.pop(network, None) or TokenBucket(self._settings, self._settings.burst, now)
            _add_newest(self._buckets, network, bucket, MAX_NETWORKS)
            return bucket.take(now)

    def give_back(self, network: str) -> None:
        """Give back one token that was taken."""
        with self._lock:
            bucket = self._buckets.get(network)
            if bucket is not None:
                bucket.tokens = min(self._settings.burst, bucket.tokens + 1)


@dataclass(slots=True)
class _KeyUsage:
    bucket: TokenBucket | None
    requests: int = 0  # in the period
    period: int = -1


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
    _stage_bucket: TokenBucket | None = field(init=False, default=None)
    _method_buckets: dict[MethodPath, TokenBucket | None] = field(init=False, default_factory=dict)
    _keys: dict[str, _KeyUsage] = field(init=False, default_factory=dict)
    _networks: BucketTable | None = field(init=False, default=None)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._stage_bucket = self._full_bucket(self.stage)
        self._method_buckets = {method: self._full_bucket(settings) for method, settings in self.methods.items()}
        self._networks = BucketTable(self.rejections, clock=self.clock) if self.rejections else None

    def admit(self, key: str | None, method: MethodPath = ("", "")) -> Admission:
        """Count one request, made with or without a key. Pass only keys that exist, because each takes memory."""
        now, shared = self.clock(), self._method_buckets.get(method, self._stage_bucket)
        with self._lock:
            usage = self._usage(key) if key is not None else None
            if usage and usage.bucket and not usage.bucket.take(now):
                return Admission.THROTTLED
            if shared and not shared.take(now):
                return Admission.THROTTLED
            if usage and self.quota and not self._spend(usage, self.quota, now):
                return Admission.QUOTA_EXCEEDED
            return Admission.ADMITTED

    def admit_rejection(self, network: str) -> Admission:
        """Count one request from a network that has no route or no valid key."""
        admitted = self._networks is None or self._networks.take(network)
        return Admission.ADMITTED if admitted else Admission.THROTTLED

    def _usage(self, key: str) -> _KeyUsage:
        usage = self._keys.pop(key, None) or _KeyUsage(self._full_bucket(self.per_key))
        _add_newest(self._keys, key, usage, MAX_KEYS)
        return usage

    def _full_bucket(self, settings: ThrottleSettings | None) -> TokenBucket | None:
        return TokenBucket(settings, settings.burst, self.clock()) if settings else None

    @staticmethod
    def _spend(usage: _KeyUsage, quota: QuotaSettings, now: float) -> bool:
        period = int(now // quota.seconds)
        if usage.period != period:
            usage.period, usage.requests = period, 0
        if usage.requests >= quota.limit:
            return False
        usage.requests += 1
        return True


def _add_newest(entries: dict[str, Entry], key: str, entry: Entry, capacity: int) -> None:
    """Add an entry as the newest; if there are more than ``capacity``, drop the oldest."""
    entries[key] = entry
    if len(entries) > capacity:
        del entries[next(iter(entries))]
