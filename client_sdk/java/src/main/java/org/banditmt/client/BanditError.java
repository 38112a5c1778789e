package org.banditmt.client;

import java.util.Map;

/**
 * Everything that can go wrong for a participant, as one small tree: catch this to catch everything that this package
 * throws. Every error says what happened and what to do, carries the service's {@code code} for programs to switch on,
 * and the {@code requestId} that an organiser can look up.
 */
@SuppressWarnings("serial") // errors are caught, not stored
public class BanditError extends RuntimeException {
    private final String code;
    private final int status;
    private final String requestId;

    BanditError(String message, String code, int status, String requestId) {
        super(requestId.isEmpty() ? message : message + " [request " + requestId + "]");
        this.code = code;
        this.status = status;
        this.requestId = requestId;
    }

    BanditError(String message) {
        this(message, "", 0, "");
    }

    /** The service's name for what went wrong; empty if the service did not say. */
    public String code() {
        return code;
    }

    /** The HTTP status; 0 if there was no answer. */
    public int status() {
        return status;
    }

    /** What to quote to an organiser; empty if the service did not say. */
    public String requestId() {
        return requestId;
    }

    /** The key or the address of the service is missing or cannot be one. */
    public static final class ConfigurationError extends BanditError {
        ConfigurationError(String message) {
            super(message);
        }
    }

    /** The calls came in an order that the protocol does not have: one translation per sentence, one after the other. */
    public static final class OrderError extends BanditError {
        OrderError(String message) {
            super(message);
        }
    }

    /** A translation that the service would not take: empty, too long, or not one line of text. */
    public static final class InvalidTranslationError extends BanditError {
        InvalidTranslationError(String message) {
            super(message);
        }
    }

    /**
     * The service could not be reached, or did not answer in time, however often it was tried. Nothing is lost: rounds
     * are committed once, so the same call, or a new process, goes on where this one stopped.
     */
    public static final class ConnectionFailedError extends BanditError {
        ConnectionFailedError(String message) {
            super(message);
        }
    }

    /** Something answered that does not speak the protocol: is the address that of a banditmt service? */
    public static final class ProtocolError extends BanditError {
        ProtocolError(String message) {
            super(message);
        }
    }

    /** The service understood the request and refused it. */
    public static class ServiceError extends BanditError {
        ServiceError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The key is missing, unknown, revoked, or its participant is disabled. */
    public static final class AuthenticationError extends ServiceError {
        AuthenticationError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** No such run or phase, or the run is somebody else's. */
    public static final class NotFoundError extends ServiceError {
        NotFoundError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The organiser does not let this phase be played now. */
    public static final class PhaseClosedError extends ServiceError {
        PhaseClosedError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The round or the run is settled already; trying again is pointless. */
    public static final class ConflictError extends ServiceError {
        private String run = "";

        ConflictError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }

        /** The finished run, for {@link Client#getRun}, if the phase can be played only once; otherwise empty. */
        public String run() {
            return run;
        }
    }

    /** Every sentence of this run has been answered. */
    public static final class RunFinishedError extends ServiceError {
        RunFinishedError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The request was malformed or too large. */
    public static final class InvalidRequestError extends ServiceError {
        InvalidRequestError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The budget is used up; waiting does not help, the organiser can raise it. */
    public static final class QuotaExceededError extends ServiceError {
        QuotaExceededError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The service asked to slow down more often than this client was told to retry. */
    public static final class ThrottledError extends ServiceError {
        ThrottledError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The service failed more often than this client was told to retry. Rounds are committed once: go on later. */
    public static final class ServerError extends ServiceError {
        ServerError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    private interface Kind {
        ServiceError make(String message, String code, int status, String requestId);
    }

    private static final Map<String, Kind> BY_CODE = Map.of(
            "invalid_key", AuthenticationError::new,
            "phase_closed", PhaseClosedError::new,
            "quota_exceeded", QuotaExceededError::new);
    private static final Map<Integer, Kind> BY_STATUS = Map.of(
            401, AuthenticationError::new,
            403, AuthenticationError::new,
            404, NotFoundError::new,
            409, ConflictError::new,
            410, RunFinishedError::new,
            429, ThrottledError::new);

    /** The error for an answer of the service that is not a success. */
    static ServiceError refusal(int status, String code, String message, String requestId, String run) {
        Kind otherwise = status >= 500 ? ServerError::new : InvalidRequestError::new;
        Kind kind = BY_CODE.getOrDefault(code, BY_STATUS.getOrDefault(status, otherwise));
        String said = message.isEmpty() ? "the service answered with status " + status : message;
        ServiceError error = kind.make(said, code, status, requestId);
        if (error instanceof ConflictError) {
            ((ConflictError) error).run = run;
        }
        return error;
    }
}
