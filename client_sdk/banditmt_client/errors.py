"""Everything that can go wrong for a participant, as one small tree.

Every error says what happened and what to do, carries the service's ``code`` for programs to switch on, and the
``request_id`` that an organiser can look up.
"""

from __future__ import annotations


class BanditError(Exception):
    """The root: catch this to catch everything that this package raises."""

    def __init__(self, message: str, *, code: str = "", status: int = 0, request_id: str = "") -> None:
        super().__init__(f"{message} [request {request_id}]" if request_id else message)
        self.code = code
        self.status = status
        self.request_id = request_id


class ConfigurationError(BanditError):
    """The key or the address of the service is missing or cannot be one."""


class OrderError(BanditError):
    """The calls came in an order that the protocol does not have: one translation per sentence, one after the other."""


class InvalidTranslationError(BanditError, ValueError):
    """A translation that the service would not take: empty, too long, or not one line of text."""


class ConnectionFailedError(BanditError):
    """The service could not be reached, or did not answer in time, however often it was tried.

    Nothing is lost: rounds are committed once, so the same call, or a new process, goes on where this one stopped.
    """


class ProtocolError(BanditError):
    """Something answered that does not speak the protocol: is the address that of a banditmt service?"""


class ServiceError(BanditError):
    """The service understood the request and refused it."""


class AuthenticationError(ServiceError):
    """The key is missing, unknown, revoked, or its participant is disabled."""


class NotFoundError(ServiceError):
    """No such run or phase, or the run is somebody else's."""


class PhaseClosedError(ServiceError):
    """The organiser does not let this phase be played now."""


class ConflictError(ServiceError):
    """The round or the run is settled already; trying again is pointless.

    ``run`` is the finished run, for ``Client.get_run``, if the phase can be played only once; otherwise empty.
    """

    run = ""


class RunFinishedError(ServiceError):
    """Every sentence of this run has been answered."""


class InvalidRequestError(ServiceError):
    """The request was malformed or too large."""


class QuotaExceededError(ServiceError):
    """The budget is used up; waiting does not help, the organiser can raise it."""


class ThrottledError(ServiceError):
    """The service asked to slow down more often than this client was told to retry."""


class ServerError(ServiceError):
    """The service failed more often than this client was told to retry. Rounds are committed once: go on later."""


BY_CODE: dict[str, type[ServiceError]] = {
    "invalid_key": AuthenticationError,
    "phase_closed": PhaseClosedError,
    "quota_exceeded": QuotaExceededError,
}
BY_STATUS: dict[int, type[ServiceError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    410: RunFinishedError,
    429: ThrottledError,
}


def refusal(status: int, code: str, message: str, request_id: str, run: str = "") -> ServiceError:
    """The error for an answer of the service that is not a success."""
    kind = BY_CODE.get(code) or BY_STATUS.get(status) or (ServerError if status >= 500 else InvalidRequestError)
    error = kind(
        message or f"the service answered with status {status}", code=code, status=status, request_id=request_id
    )
    if isinstance(error, ConflictError):
        error.run = run
    return error
