"""Play without HTTP: the SDK's client, talking to a service object in the same process.

The participant's code cannot tell the difference: the same calls, the same answers, the same errors. Only the network
is missing, and with it throttling. A store that another process keeps busy is tried again, as the SDK does over HTTP: a
long run should not end because of a few seconds.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from banditmt_client import Client
from banditmt_client.connection import JsonObject
from banditmt_client.errors import error_for_response
from lambdas import errors
from lambdas.registry import Participant, Registry, RegistryError
from lambdas.service import Service
from lambdas.store.interface import Store


class _Result(Protocol):
    def as_dict(self) -> dict[str, Any]: ...


T = TypeVar("T")

PAUSES = (0.5, 2.0, 5.0, 10.0)  # seconds before a busy store is tried again; each time it waits a while itself


class InProcessConnection:
    """The calls of the protocol, made to a service object on behalf of one participant."""

    def __init__(self, service: Service, participant: Participant) -> None:
        self._service = service
        self._participant = participant

    def __repr__(self) -> str:
        return f"InProcessConnection({self._participant.name!r})"

    def open_run(self, phase: str, system: str) -> JsonObject:
        return self._told(lambda: self._service.open_run(self._participant, phase, system))

    def run(self, run: str) -> JsonObject:
        return self._told(lambda: self._service.run(self._participant, run))

    def sentence(self, run: str) -> JsonObject:
        return self._told(lambda: self._service.sentence(self._participant, run))

    def translate(self, run: str, sentence_id: str, translation: str) -> JsonObject:
        return self._told(lambda: self._service.translate(self._participant, run, sentence_id, translation))

    def phases(self) -> JsonObject:
        return {"phases": [phase.as_dict() for phase in _allowed(self._service.phases)]}

    def leaderboard(self, phase: str) -> JsonObject:
        return self._told(lambda: self._service.leaderboard(self._participant, phase))

    def close(self) -> None:
        """The service outlives its clients."""

    def _told(self, call: Callable[[], _Result]) -> JsonObject:
        return _allowed(call).as_dict()


def _allowed(call: Callable[[], T]) -> T:
    """The result of a call, or the SDK's error for the service's refusal."""
    try:
        return _patiently(call)
    except errors.ServiceError as refused:
        run = refused.run if isinstance(refused, errors.AlreadyPlayedError) else ""
        raise error_for_response(refused.status, refused.code, refused.message, "", run) from None


def _patiently(call: Callable[[], T]) -> T:
    for pause in PAUSES:
        with suppress(errors.UnavailableError):
            return call()
        time.sleep(pause)
    return call()


def in_process_client(store: Store, participant: str) -> Client:
    """A client of the service over this store; the participant is registered if nobody of that name is."""
    return Client(
        connection=InProcessConnection(Service(store), _allowed(lambda: _registered(Registry(store), participant)))
    )


def _registered(registry: Registry, participant: str) -> Participant:
    if registry.participant(participant) is None:
        with suppress(RegistryError):  # a run beside this one was faster
            registry.add_participant(participant)  # its key is not needed: whoever has the store needs no key
    known = registry.participant(participant)
    assert known is not None, "registered by now"
    return known
