package org.banditmt.client;

import java.util.Map;

/**
 * The base class of every error that this package throws. Every message says what is wrong and what to do. Every error
 * has the service's {@code code} for programs to test, the HTTP {@code status}, and the {@code requestId} with which an
 * organiser can find the request in the logs.
 */
@SuppressWarnings("serial") // errors are caught, not serialised
public class BanditError extends RuntimeException {
    private static final int MAX_MESSAGE_CHARACTERS = 1_000; // of the service's own words

    private final String code;
    private final int status;
    private final String requestId;

    BanditError(String message, String code, int status, String requestId) {
        super(Text.printable(requestId.isEmpty() ? message : message + " [request " + requestId + "]"));
        this.code = code;
        this.status = status;
        this.requestId = requestId;
    }

    BanditError(String message) {
        this(message, "", 0, "");
    }

    /**
     * Returns the service's code for the error.
     *
     * @return the code, such as {@code "phase_closed"}; empty if the service gave none
     */
    public String code() {
        return code;
    }

    /**
     * Returns the HTTP status.
     *
     * @return the status; 0 if there was no response
     */
    public int status() {
        return status;
    }

    /**
     * Returns the id of the request, to quote to the organiser.
     *
     * @return the id; empty if the service gave none
     */
    public String requestId() {
        return requestId;
    }

    /** The API key, the service address or another setting is missing or invalid. */
    public static final class ConfigurationError extends BanditError {
        ConfigurationError(String message) {
            super(message);
        }
    }

    /** A method was called out of order: the protocol takes one translation per sentence, one sentence at a time. */
    public static final class OrderError extends BanditError {
        OrderError(String message) {
            super(message);
        }
    }

    /** The service would not accept the translation: it is empty, too long, or not one line of text. */
    public static final class InvalidTranslationError extends BanditError {
        InvalidTranslationError(String message) {
            super(message);
        }
    }

    /** The service would not accept the log-probability: it is not a finite number of at most 0. */
    public static final class InvalidLogProbabilityError extends BanditError {
        InvalidLogProbabilityError(String message) {
            super(message);
        }
    }

    /**
     * The service could not be reached, or did not respond in time, in any attempt. No round is lost: the service
     * commits a round once, so repeat the call, or resume in a new process.
     */
    public static final class ConnectionFailedError extends BanditError {
        ConnectionFailedError(String message) {
            super(message);
        }
    }

    /** The response does not follow the protocol: check that the address is that of a banditmt service. */
    public static final class ProtocolError extends BanditError {
        ProtocolError(String message) {
            super(message);
        }
    }

    /** The service refused the request or failed to process it. */
    public static class ServiceError extends BanditError {
        ServiceError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The API key is missing, unknown or revoked, or the participant is disabled. */
    public static final class AuthenticationError extends ServiceError {
        AuthenticationError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** There is no such phase, or the participant has no such run. */
    public static final class NotFoundError extends ServiceError {
        NotFoundError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The phase is not open: the organiser has closed or frozen it. */
    public static final class PhaseClosedError extends ServiceError {
        PhaseClosedError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The round has a different translation already, or the run cannot be repeated; a retry cannot succeed. */
    public static final class ConflictError extends ServiceError {
        private String run = "";

        ConflictError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }

        /**
         * Returns the id of the finished run, if {@link Client#openRun} found one.
         *
         * @return the id, to pass to {@link Client#getRun}; otherwise empty
         */
        public String run() {
            return run;
        }
    }

    /** Every sentence of this run has been translated. */
    public static final class RunFinishedError extends ServiceError {
        RunFinishedError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The request is malformed or too large. */
    public static final class InvalidRequestError extends ServiceError {
        InvalidRequestError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The participant's quota is used up. Waiting does not help; ask the organiser to raise it. */
    public static final class QuotaExceededError extends ServiceError {
        QuotaExceededError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The service still throttles the client after the last retry; slow down, then resume. */
    public static final class ThrottledError extends ServiceError {
        ThrottledError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    /** The service still fails after the last retry. No round is lost; resume later. */
    public static final class ServerError extends ServiceError {
        ServerError(String message, String code, int status, String requestId) {
            super(message, code, status, requestId);
        }
    }

    private interface Constructor {
        ServiceError make(String message, String code, int status, String requestId);
    }

    private static final Map<String, Constructor> BY_CODE = Map.of(
            "invalid_key", AuthenticationError::new,
            "phase_closed", PhaseClosedError::new,
            "quota_exceeded", QuotaExceededError::new);
    private static final Map<Integer, Constructor> BY_STATUS = Map.of(
            401, AuthenticationError::new,
            403, AuthenticationError::new,
            404, NotFoundError::new,
            409, ConflictError::new,
            410, RunFinishedError::new,
            429, ThrottledError::new);

    /** Returns the error for a response whose status is not a success. Its texts are cut, and safe to print. */
    static ServiceError forResponse(int status, String code, String message, String requestId, String run) {
        Constructor byDefault = status >= 500 ? ServerError::new : InvalidRequestError::new;
        Constructor constructor = BY_CODE.getOrDefault(code, BY_STATUS.getOrDefault(status, byDefault));
        String text = message.isEmpty() ? "the service responded with status " + status : excerpt(message);
        ServiceError error = constructor.make(text, excerpt(code), status, excerpt(requestId));
        if (error instanceof ConflictError) {
            ((ConflictError) error).run = run;
        }
        return error;
    }

    private static String excerpt(String text) {
        if (text.codePointCount(0, text.length()) <= MAX_MESSAGE_CHARACTERS) {
            return Text.printable(text);
        }
        return Text.printable(text.substring(0, text.offsetByCodePoints(0, MAX_MESSAGE_CHARACTERS)) + "...");
    }
}
