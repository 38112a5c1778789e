"""Every error that the SDK raises, as one small hierarchy.

Every message says what is wrong and what to do. Every error has the service's ``code`` for programs to test, the HTTP
``status``, and the ``request_id`` with which an organiser can find the request in the logs.
"""

from __future__ import annotations

from banditmt_client.text import printable

MAX_MESSAGE_CHARACTERS = 1_000  # of the service's own words


class BanditError(Exception):
    """The base class: catch this to catch every error that this package raises.

    Attributes:
        code: The service's code for the error, such as ``"phase_closed"``; empty if it gave none.
        status: The HTTP status; 0 if there was no response.
        request_id: The id of the request, to quote to the organiser; empty if the service gave none.
    """

    def __init__(self, message: str, *, code: str = "", status: int = 0, request_id: str = "") -> None:
        super().__init__(printable(f"{message} [request {request_id}]" if request_id else message))
        self.code = code
        self.status = status
        self.request_id = request_id


class ConfigurationError(BanditError):
    """The API key, the service address or another setting is missing or invalid."""


class OrderError(BanditError):
    """A method was called out of order: the protocol takes one translation per sentence, one sentence at a time."""


class InvalidTranslationError(BanditError, ValueError):
    """The service would not accept the translation: it is empty, too long, or not one line of text."""


class InvalidLogProbabilityError(BanditError, ValueError):
    """The service would not accept the log-probability: it is not a finite number of at most 0."""


class ConnectionFailedError(BanditError):
    """The service could not be reached, or did not respond in time, in any attempt.

    No round is lost: the service commits a round once, so repeat the call, or resume in a new process.
    """


class ProtocolError(BanditError):
    """The response does not follow the protocol: check that the address is that of a banditmt service."""


class ServiceError(BanditError):
    """The service refused the request or failed to process it."""


class AuthenticationError(ServiceError):
    """The API key is missing, unknown or revoked, or the participant is disabled."""


class NotFoundError(ServiceError):
    """There is no such phase, or the participant has no such run."""


class PhaseClosedError(ServiceError):
    """The phase is not open: the organiser has closed or frozen it."""


class ConflictError(ServiceError):
    """The round has a different translation already, or the run cannot be repeated; a retry cannot succeed.

    Attributes:
        run: The id of the finished run, to pass to ``Client.get_run``, if ``Client.open_run`` found one; otherwise
            empty.
    """

    run = ""


class RunFinishedError(ServiceError):
    """Every sentence of this run has been translated."""


class InvalidRequestError(ServiceError):
    """The request is malformed or too large."""


class QuotaExceededError(ServiceError):
    """The participant's quota is used up. Waiting does not help; ask the organiser to raise it."""


class ThrottledError(ServiceError):
    """The service still throttles the client after the last retry; slow down, then resume."""


class ServerError(ServiceError):
    """The service still fails after the last retry. No round is lost; resume later."""


ERRORS_BY_CODE: dict[str, type[ServiceError]] = {
    "invalid_key": AuthenticationError,
    "phase_closed": PhaseClosedError,
    "quota_exceeded": QuotaExceededError,
}
ERRORS_BY_STATUS: dict[int, type[ServiceError]] = {
    401: AuthenticationError,
    403: AuthenticationError,
    404: NotFoundError,
    409: ConflictError,
    410: RunFinishedError,
    429: ThrottledError,
}


def error_for_response(status: int, code: str, message: str, request_id: str, run: str = "") -> ServiceError:
    """Return the error for a response whose status is not a success. Its texts are cut, and safe to print.

    Args:
        status: The HTTP status.
        code: The field ``code`` of the response, or an empty string.
        message: The field ``message`` of the response, or an empty string.
        request_id: The field ``request_id`` of the response, or an empty string.
        run: The field ``run`` of the response, or an empty string.
    """
    kind = (
        ERRORS_BY_CODE.get(code)
        or ERRORS_BY_STATUS.get(status)
        or (ServerError if status >= 500 else InvalidRequestError)
    )
    error = kind(
        _excerpt(message) or f"the service responded with status {status}",
        code=_excerpt(code),
        status=status,
        request_id=_excerpt(request_id),
    )
    if isinstance(error, ConflictError):
        error.run = run
    return error


def _excerpt(text: str) -> str:
    is_long = len(text) > MAX_MESSAGE_CHARACTERS
    return printable(text[:MAX_MESSAGE_CHARACTERS] + "..." if is_long else text)
