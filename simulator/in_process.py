"""Play without HTTP: the SDK's client, calling a service object in the same process.

A participant's code sees no difference: the same calls, the same answers, the same errors. Only the network is missing,
and with it throttling. A call to a store that another process keeps busy is retried, as the SDK does over HTTP: a few
seconds should not end a long run.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from banditmt_client import Client
from banditmt_client.connection import JsonObject
from banditmt_client.errors import error_for_response
from lambdas import errors
from lambdas.chain import LedgerKey
from lambdas.registry import Participant, Registry, RegistryError
from lambdas.service import Service
from lambdas.store.interface import Store


class _Result(Protocol):
    def as_dict(self) -> dict[str, Any]: ...


T = TypeVar("T")

RETRY_DELAYS = (0.5, 2.0, 5.0, 10.0)  # seconds before each retry of a busy store, which waits a while itself


class InProcessConnection:
    """The calls of the protocol, made on a service object for one participant."""

    def __init__(self, service: Service, participant: Participant) -> None:
        self._service = service
        self._participant = participant

    def __repr__(self) -> str:
        return f"InProcessConnection({self._participant.name!r})"

    def open_run(self, phase: str, system: str, *, again: bool = True) -> JsonObject:
        return self._answer(lambda: self._service.open_run(self._participant, phase, system, again=again))

    def run(self, run: str) -> JsonObject:
        return self._answer(lambda: self._service.run(self._participant, run))

    def sentence(self, run: str) -> JsonObject:
        return self._answer(lambda: self._service.sentence(self._participant, run))

    def translate(
        self, run: str, sentence_id: str, translation: str, log_probability: float | None = None
    ) -> JsonObject:
        return self._answer(
            lambda: self._service.translate(self._participant, run, sentence_id, translation, log_probability)
        )

    def phases(self) -> JsonObject:
        phases = _with_sdk_errors(lambda: self._service.phases(self._participant))
        return {"phases": [phase.as_dict() for phase in phases]}

    def task(self) -> JsonObject:
        return self._answer(lambda: self._service.task(self._participant))

    def leaderboard(self, phase: str) -> JsonObject:
        return self._answer(lambda: self._service.leaderboard(self._participant, phase))

    def close(self) -> None:
        """Do nothing: the service outlives its clients."""

    def _answer(self, call: Callable[[], _Result]) -> JsonObject:
        return _with_sdk_errors(call).as_dict()


def _with_sdk_errors(call: Callable[[], T]) -> T:
    """Return the result of a call; raise the SDK's error where the service refuses it."""
    try:
        return _retry_while_busy(call)
    except errors.ServiceError as refused:
        run = refused.run if isinstance(refused, errors.AlreadyPlayedError) else ""
        raise error_for_response(refused.status, refused.code, refused.message, "", run) from None


def _retry_while_busy(call: Callable[[], T]) -> T:
    for delay in RETRY_DELAYS:
        with suppress(errors.UnavailableError):
            return call()
        time.sleep(delay)
    return call()


def in_process_client(store: Store, participant: str) -> Client:
    """Return a client of the service on this store; a participant of an unknown name is registered."""
    known = _with_sdk_errors(lambda: _ensure_participant(Registry(store), participant))
    return Client(connection=InProcessConnection(Service(store, ledger_key=LedgerKey.from_environment()), known))


def _ensure_participant(registry: Registry, participant: str) -> Participant:
    if registry.participant(participant) is None:
        with suppress(RegistryError):  # another run registered it first
            registry.add_participant(participant)  # its key is not needed in process
    known = registry.participant(participant)
    assert known is not None, "registered by now"
    return known
