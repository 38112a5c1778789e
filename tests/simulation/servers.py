"""Simulated server processes: the real gateway, handlers, service and store, which die and start again."""

import copy
import random
from functools import cache
from typing import Any

from lambdas.cache import SingleFlightCache
from lambdas.errors import InvalidKeyError
from lambdas.service import Service
from lambdas.store import Store
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.rate_limiter import Admission, RateLimiter, ThrottleSettings
from simulator.cloud.template import SamTemplate
from tests.simulation import faults, history
from tests.simulation.disks import SimulatedConnection
from tests.simulation.faults import FaultPlan
from tests.simulation.scheduler import Actor, KilledError, Scheduler
from tests.simulation.storage import Storage

START_SECONDS = 3.0  # at most, for a process that starts again
KEY_THROTTLE = ThrottleSettings(rate=10, burst=5)
CLOCK_REACHES = (1.0, 3_600.0, 40 * 365 * 86_400.0)  # seconds by which a clock is set at most
EPOCH = 1_800_000_000.0


@cache
def _gateway() -> Gateway:
    """Return a gateway without state, which every process copies: compiling its models takes long."""
    template = SamTemplate.load("local")
    return Gateway(template, load_handlers(template), lambda _: False)


class RecordedRateLimiter(RateLimiter):
    """The rate limiter that all server processes share. Its decisions are in the history."""

    history: history.History

    def admit(self, key: str | None, method: tuple[str, str] = ("", "")) -> Admission:
        admission = super().admit(key, method)
        if key is not None:
            admitted = admission is Admission.ADMITTED
            self.history.admissions.append(history.Admission(key, self.clock(), admitted))
        return admission


def recorded_rate_limiter(scheduler: Scheduler, log: history.History) -> RateLimiter:
    limiter = RecordedRateLimiter(per_key=KEY_THROTTLE, clock=lambda: scheduler.now)
    limiter.history = log
    return limiter


class ServerProcess:
    """A process that serves requests until it is killed."""

    def __init__(self, scheduler: Scheduler, plan: FaultPlan, storage: Storage, rate_limiter: RateLimiter) -> None:
        self.plan, self.is_alive = plan, True
        self.connections: list[SimulatedConnection] = []
        self.threads: dict[Actor, None] = {}
        self._scheduler = scheduler
        self._clock_offset = 0.0
        self.store: Store = storage.open(self)
        self.service = Service(self.store, clock=self.clock)
        self.gateway = copy.copy(_gateway())
        own_state: dict[str, Any] = {
            "_rate_limiter": rate_limiter,
            "_is_known_key": self._is_known_key,
            "_compressed": SingleFlightCache(20),
        }
        vars(self.gateway).update(own_state)

    def clock(self) -> float:
        """Return the time of the clock on the wall, which somebody may set."""
        if self.plan.draw(faults.CLOCK):
            reach = CLOCK_REACHES[int(self.plan.uniform(0, len(CLOCK_REACHES)))]
            self._clock_offset = self.plan.uniform(-reach, reach)
        return EPOCH + self._scheduler.now + self._clock_offset

    def pause(self, seconds: float) -> None:
        self._scheduler.pause(seconds)

    def check_alive(self) -> None:
        if not self.is_alive:
            raise KilledError

    def crash_if(self, fault: str | None) -> None:
        """Kill the process if there is a fault, at this very place."""
        if fault:
            self.kill()
            raise KilledError

    def kill(self) -> None:
        self.is_alive = False
        for connection in self.connections:
            connection.crash()
        for thread in self.threads:
            self._scheduler.kill(thread)

    def _is_known_key(self, key: str) -> bool:
        try:
            self.service.authenticate(key)
        except InvalidKeyError:
            return False
        return True


class SeededSecrets:
    """Random bytes that follow from a seed, so that an execution can be repeated exactly."""

    def __init__(self, seed: str) -> None:
        self._rng = random.Random(seed)

    def token_bytes(self, count: int) -> bytes:
        return self._rng.randbytes(count)

    def token_urlsafe(self, count: int) -> str:
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
        return "".join(self._rng.choices(letters, k=-(-count * 4 // 3)))
