"""What the service refuses participants, and what it refuses organisers: two small trees.

To participants an error is a code for programs, a status for HTTP and a sentence for people. The code is the contract
(clients switch on it); the message may change. No message ever quotes a reference, a key or what a participant sent.
"""

from typing import ClassVar


class ServiceError(Exception):
    """A request that was understood to the point where it can be refused."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    default: ClassVar[str] = "something went wrong on our side; the same request may be sent again"

    def __init__(self, message: str | None = None, *, retry_after: int | None = None) -> None:
        super().__init__(message or self.default)
        self.message = message or self.default
        self.retry_after = retry_after  # seconds, for the header of that name

    def as_dict(self, request_id: str) -> dict[str, str]:
        """The body of the answer."""
        return {"code": self.code, "message": self.message, "request_id": request_id}


class BadRequestError(ServiceError):
    """Not JSON, a field that is missing or of the wrong type, a name that no system can have."""

    code, status, default = "bad_request", 400, "the request is malformed"


class InvalidTranslationError(ServiceError):
    """A translation that is empty or is not one line of text."""

    code, status, default = "invalid_translation", 400, "a translation is one line of text with at least one token"


class InvalidKeyError(ServiceError):
    """The key is missing, unknown or revoked, or its participant is disabled; which of them is not told."""

    code, status, default = "invalid_key", 403, "the API key is missing, unknown or no longer valid"


class PhaseClosedError(ServiceError):
    """The organiser does not let this phase be played, or does not let new runs begin."""

    code, status, default = "phase_closed", 403, "this phase is closed"


class RunNotFoundError(ServiceError):
    """No such run, or somebody else's: the answer is the same, so that it reveals nothing."""

    code, status, default = "run_not_found", 404, "you have no run of this name"


class PhaseNotFoundError(ServiceError):
    """A phase that the task does not have."""

    code, status, default = "phase_not_found", 404, "this task has no phase of that name"


class NotFoundError(ServiceError):
    """A path that does not exist."""

    code, status, default = "not_found", 404, "there is nothing at this address"


class AlreadyPlayedError(ServiceError):
    """A finished run of a phase that a system may run through only once.

    The body names the run, so that a learner which crashed before it heard its very last score can still look it up.
    """

    code, status = "already_played", 409
    default = "this system has finished this phase, which can be played only once; retrying is pointless"

    def __init__(self, run: str) -> None:
        super().__init__()
        self.run = run

    def as_dict(self, request_id: str) -> dict[str, str]:
        return {**super().as_dict(request_id), "run": self.run}


class TranslationConflictError(ServiceError):
    """The round was committed with another translation."""

    code, status = "translation_conflict", 409
    default = "this sentence was already answered with a different translation; retrying is pointless"


class WrongSentenceError(ServiceError):
    """The id was not issued for this run, or no longer fits the ledger."""

    code, status = "wrong_sentence", 409
    default = "this is not the id of a sentence served in this run; retrying is pointless, ask for the sentence again"


class RunFinishedError(ServiceError):
    """Every sentence of the run has been answered."""

    code, status, default = "run_finished", 410, "this run is finished: there are no more sentences"


class TooLargeError(ServiceError):
    """A body or a translation beyond all reason."""

    code, status, default = "too_large", 413, "the request is too large"


class ThrottledError(ServiceError):
    """Too many requests in a short time. Not raised here: API Gateway says it, in these words, before any function."""

    code, status, default = "throttled", 429, "too many requests; wait and send the same request again"


class QuotaExceededError(ServiceError):
    """A budget is used up; waiting does not help, but the organiser can raise it. Clients that know no code but retry
    every 429 are asked to take their time.
    """

    code, status, default = "quota_exceeded", 429, "your budget for this phase is used up; ask the organiser"

    def __init__(self, message: str | None = None, *, retry_after: int = 3_600) -> None:
        super().__init__(message, retry_after=retry_after)


class InternalError(ServiceError):
    """A bug of ours. The details are in the log, under the request id."""


class UnavailableError(ServiceError):
    """The storage did not answer or is overloaded. The request may be sent again: rounds are committed once."""

    code, status, default = "unavailable", 503, "the service is busy; wait and send the same request again"

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)


class OrganiserError(Exception):
    """Something an organiser asked for that cannot be done; the message says what can.

    Below it: ``registry.RegistryError``, ``task_loader.LoadError`` and ``store.StoreError``.
    """
