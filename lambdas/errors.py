"""The errors of the service: one small tree for participants, one for organisers.

An error for participants has a code for programs, a status for HTTP and a message for people. The code is part of the
protocol, because clients switch on it; the message may change. No message quotes a reference, a key or a request.
"""

from typing import ClassVar


class ServiceError(Exception):
    """A request cannot be fulfilled; the base of all errors for participants."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    default_message: ClassVar[str] = "something went wrong on our side; the same request may be sent again"

    def __init__(self, message: str | None = None, *, retry_after: int | None = None) -> None:
        super().__init__(message or self.default_message)
        self.message = message or self.default_message
        self.retry_after = retry_after  # in seconds, for the Retry-After header

    def as_dict(self, request_id: str) -> dict[str, str]:
        """Return the body of the response."""
        return {"code": self.code, "message": self.message, "request_id": request_id}


class BadRequestError(ServiceError):
    """The body is not JSON, a field is missing or has the wrong type, or a name breaks the rules for names."""

    code, status, default_message = "bad_request", 400, "the request is malformed"


class InvalidTranslationError(ServiceError):
    """The translation is empty or not one line of text."""

    code, status = "invalid_translation", 400
    default_message = "a translation is one line of text with at least one token"


class InvalidKeyError(ServiceError):
    """The API key is missing, unknown or revoked, or its participant is disabled; the response does not say which."""

    code, status, default_message = "invalid_key", 403, "the API key is missing, unknown or no longer valid"


class PhaseClosedError(ServiceError):
    """The phase is closed, or it is frozen and the request would open a run."""

    code, status, default_message = "phase_closed", 403, "this phase is closed"


class RunNotFoundError(ServiceError):
    """The run does not exist or belongs to another participant; the response does not say which."""

    code, status, default_message = "run_not_found", 404, "you have no run with this id"


class PhaseNotFoundError(ServiceError):
    """The task has no such phase."""

    code, status, default_message = "phase_not_found", 404, "this task has no phase of that name"


class NotFoundError(ServiceError):
    """The path does not exist."""

    code, status, default_message = "not_found", 404, "there is nothing at this address"


class AlreadyPlayedError(ServiceError):
    """The system has finished the phase, and may not play it again or did not ask to.

    The body names the run, so that a learner that crashed before it received its very last score can still look it up.
    """

    code, status = "already_played", 409
    default_message = "this system has finished this phase, which can be played only once; retrying is pointless"

    def __init__(self, run: str, message: str | None = None) -> None:
        super().__init__(message)
        self.run = run

    def as_dict(self, request_id: str) -> dict[str, str]:
        return {**super().as_dict(request_id), "run": self.run}


class TranslationConflictError(ServiceError):
    """The round was committed with a different translation."""

    code, status = "translation_conflict", 409
    default_message = "this sentence was already answered with a different translation; retrying is pointless"


class WrongSentenceError(ServiceError):
    """The sentence id was not issued for this run, or no longer fits the ledger."""

    code, status = "wrong_sentence", 409
    default_message = (
        "this is not the id of a sentence served in this run; retrying is pointless, ask for the sentence again"
    )


class RunFinishedError(ServiceError):
    """Every sentence of the run has been translated."""

    code, status, default_message = "run_finished", 410, "this run is finished: there are no more sentences"


class TooLargeError(ServiceError):
    """The body or the translation is longer than the limit."""

    code, status, default_message = "too_large", 413, "the request is too large"


class ThrottledError(ServiceError):
    """Too many requests in a short time. Never raised: API Gateway itself sends this response."""

    code, status, default_message = "throttled", 429, "too many requests; wait and send the same request again"


class QuotaExceededError(ServiceError):
    """The participant's budget of runs is used up.

    Waiting does not help, but the organiser can raise the budget. ``Retry-After`` is long for the sake of clients that
    retry every 429 whatever its code.
    """

    code, status, default_message = "quota_exceeded", 429, "your budget for this phase is used up; ask the organiser"

    def __init__(self, message: str | None = None, *, retry_after: int = 3_600) -> None:
        super().__init__(message, retry_after=retry_after)


class InternalError(ServiceError):
    """A bug in the service. The details are in the log, under the request id."""


class UnavailableError(ServiceError):
    """The storage does not answer or is overloaded. The same request may be sent again: a round is committed once."""

    code, status, default_message = "unavailable", 503, "the service is busy; wait and send the same request again"

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)


class OrganiserError(Exception):
    """An organiser's command cannot be carried out; the message says why and what to do.

    The base of ``RegistryError``, ``LoadError``, ``StoreError``, ``ArchiveError`` and ``MissingBlockError``.
    """
