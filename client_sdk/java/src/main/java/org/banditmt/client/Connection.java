package org.banditmt.client;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.banditmt.client.BanditError.ConnectionFailedError;
import org.banditmt.client.BanditError.OrderError;
import org.banditmt.client.BanditError.ProtocolError;

/**
 * The calls of the protocol, made over HTTP with retries.
 *
 * <p>Retrying is always safe: the service commits a round once, and resending a committed round returns the same
 * response. So the client retries after connection errors, timeouts, malformed responses, 429 and 5xx. It waits with
 * exponential backoff and jitter, and at least as long as {@code Retry-After} asks. Every other error status is final,
 * and so is a response that is too large. A call that waits for seconds logs a warning for every further retry.
 */
final class Connection {
    private static final Logger LOG = System.getLogger("org.banditmt.client");

    private static final double MAX_BACKOFF_SECONDS = 30;
    private static final double QUIET_SECONDS = 2; // after which a call that is still retried says so
    private static final double MAX_RETRY_AFTER_SECONDS = 300; // a service that asks for more is not coming back soon
    private static final Set<String> FINAL_CODES = Set.of("quota_exceeded"); // a 429 that does not go away by waiting
    private static final String USER_AGENT =
            "banditmt-client/" + Client.VERSION + " java/" + System.getProperty("java.version");

    private final String url;
    private final String apiKey; // null for a client that sends none
    private final Duration readTimeout;
    private final Duration attemptTimeout; // of one attempt, connecting included
    private final int retries;
    private final double initialBackoffSeconds;
    private HttpClient http;

    Connection(String url, String apiKey, Client.Builder settings) {
        this.url = url;
        this.apiKey = apiKey;
        readTimeout = settings.readTimeout;
        attemptTimeout = settings.connectTimeout.plus(settings.readTimeout);
        retries = settings.retries;
        initialBackoffSeconds = settings.firstPause.toNanos() / 1e9;
        // The JDK itself repeats a GET at once when a kept-alive connection turns out to be dead: as safe as ours.
        http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(settings.connectTimeout)
                .build();
    }

    JsonObject openRun(String phase, String system, boolean again) {
        Map<String, Object> body = new LinkedHashMap<>(Map.of("phase", phase, "system", system));
        if (!again) {
            body.put("again", false);
        }
        return call("POST", "/v1/runs", body);
    }

    JsonObject run(String run) {
        return call("GET", "/v1/runs/" + quote(run), null);
    }

    JsonObject sentence(String run) {
        return call("GET", "/v1/runs/" + quote(run) + "/sentence", null);
    }

    JsonObject translate(String run, String sentenceId, String translation, OptionalDouble logProbability) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("id", sentenceId);
        body.put("translation", translation);
        logProbability.ifPresent(number -> body.put("log_probability", number));
        return call("POST", "/v1/runs/" + quote(run) + "/translations", body);
    }

    JsonObject leaderboard(String phase) {
        return call("GET", "/v1/leaderboard/" + quote(phase), null);
    }

    JsonObject phases() {
        return call("GET", "/v1/phases", null);
    }

    JsonObject task() {
        return call("GET", "/v1/task", null);
    }

    void close() {
        http = null; // unreferenced, it ends its threads
    }

    @Override
    public String toString() {
        return "Connection('" + url + "')";
    }

    /** Makes one call, and retries it while a retry can succeed. */
    private JsonObject call(String method, String path, Map<String, ?> body) {
        if (http == null) {
            throw new OrderError("this client is closed: create a new one");
        }
        HttpRequest request = request(method, path, body);
        long begin = System.nanoTime();
        for (int attempt = 0; ; attempt++) {
            BanditError failure;
            OptionalDouble retryAfter = OptionalDouble.empty();
            try {
                HttpResponse<byte[]> response = send(request);
                if (response.statusCode() >= 200 && response.statusCode() < 300) {
                    return readObject(response.body());
                }
                failure = readError(response);
                if (!isRetryable(failure)) {
                    throw failure;
                }
                retryAfter = parseRetryAfter(response.headers().firstValue("Retry-After").orElse(""), Instant.now());
            } catch (BoundedBody.OversizedException oversized) {
                throw new ProtocolError(url + path + ": " + oversized.getMessage() + "; check the service address");
            } catch (IOException broken) {
                failure = new ConnectionFailedError(explain(broken, attempt + 1));
            } catch (Json.MalformedException malformed) {
                failure = new ProtocolError(url + path + " did not respond with a JSON object ("
                        + malformed.getMessage() + "); check the service address");
            }
            if (attempt >= retries) {
                throw failure;
            }
            double seconds = backoffSeconds(attempt, retryAfter);
            boolean isLate = (System.nanoTime() - begin) / 1e9 + seconds >= QUIET_SECONDS;
            String retry = String.format(
                    Locale.ROOT,
                    "attempt %d of %d failed, retrying in %.1f s: %s",
                    attempt + 1,
                    retries + 1,
                    seconds,
                    failure.getMessage());
            LOG.log(isLate ? Level.WARNING : Level.DEBUG, retry);
            pause(seconds);
        }
    }

    private HttpRequest request(String method, String path, Map<String, ?> body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(readTimeout)
                .header("Accept", "application/json")
                .header("User-Agent", USER_AGENT);
        if (apiKey != null) {
            request.header("x-api-key", apiKey);
        }
        if (body == null) {
            return request.method(method, BodyPublishers.noBody()).build();
        }
        return request.header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(Json.write(body)))
                .build();
    }

    /** Makes one attempt. The JDK's own timeout ends when the headers arrive; this one covers the body too. */
    private HttpResponse<byte[]> send(HttpRequest request) throws IOException {
        CompletableFuture<HttpResponse<byte[]>> response = http.sendAsync(request, head -> new BoundedBody());
        try {
            return response.get(attemptTimeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException
                    ? (IOException) failed.getCause()
                    : new IOException(failed.getCause());
        } catch (TimeoutException late) {
            response.cancel(true);
            throw new HttpTimeoutException("the response did not end in time");
        } catch (InterruptedException interrupted) {
            response.cancel(true);
            throw interruption();
        }
    }

    private static JsonObject readObject(byte[] body) throws Json.MalformedException {
        Object value = Json.read(body);
        if (!(value instanceof Map)) {
            throw new Json.MalformedException("not an object");
        }
        return new JsonObject((Map<?, ?>) value);
    }

    private static BanditError readError(HttpResponse<byte[]> response) {
        JsonObject body;
        try {
            body = readObject(response.body());
        } catch (Json.MalformedException notJson) {
            body = new JsonObject(Map.of());
        }
        String requestId = response.headers().firstValue("x-amzn-requestid").orElse("");
        return BanditError.forResponse(
                response.statusCode(),
                body.stringOr("code", ""),
                body.stringOr("message", ""),
                body.stringOr("request_id", requestId),
                body.stringOr("run", ""));
    }

    /** Returns whether the same request could succeed later. */
    private static boolean isRetryable(BanditError failure) {
        return (failure.status() == 429 || failure.status() >= 500) && !FINAL_CODES.contains(failure.code());
    }

    /** Returns the seconds that a {@code Retry-After} header asks for, as a number or as a date; empty if neither. */
    static OptionalDouble parseRetryAfter(String header, Instant now) {
        try {
            double seconds = Double.parseDouble(header);
            return Double.isNaN(seconds) ? OptionalDouble.empty() : OptionalDouble.of(Math.max(0, seconds));
        } catch (NumberFormatException perhapsADate) {
            try {
                Instant until = ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
                return OptionalDouble.of(Math.max(0, Duration.between(now, until).toMillis() / 1e3));
            } catch (DateTimeException neither) {
                return OptionalDouble.empty();
            }
        }
    }

    /** Returns how long to wait before the next attempt: exponential backoff with jitter, added to Retry-After. */
    double backoffSeconds(int attempt, OptionalDouble retryAfter) {
        double ceiling = Math.min(MAX_BACKOFF_SECONDS, initialBackoffSeconds * Math.pow(2, attempt));
        double backoff = ceiling * (0.5 + ThreadLocalRandom.current().nextDouble() / 2);
        return retryAfter.isEmpty()
                ? backoff
                : Math.min(MAX_RETRY_AFTER_SECONDS, retryAfter.getAsDouble()) + backoff / 4;
    }

    private static void pause(double seconds) {
        try {
            TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
        } catch (InterruptedException interrupted) {
            throw interruption();
        }
    }

    private static ConnectionFailedError interruption() {
        Thread.currentThread().interrupt(); // keep the flag for the caller
        return new ConnectionFailedError("interrupted while waiting for the service; no round is lost, resume later");
    }

    private String explain(IOException broken, int attempts) {
        String what = broken instanceof HttpTimeoutException ? "did not respond in time" : "could not be reached";
        return String.format(
                "%s %s (%s, %d attempts); check the address and network, then resume",
                url, what, broken.getClass().getSimpleName(), attempts);
    }

    private static String quote(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }
}
