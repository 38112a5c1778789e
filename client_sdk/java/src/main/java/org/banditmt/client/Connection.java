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
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
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
 * The calls of the protocol, over HTTP with retries.
 *
 * <p>Retrying is always safe: the service commits a round once and answers the same request alike. So connection errors,
 * timeouts, damaged answers, 429 and 5xx are tried again after a growing, jittered pause (or the one that
 * {@code Retry-After} asks for); every other refusal is final.
 */
final class Connection {
    private static final Logger LOG = System.getLogger("org.banditmt.client"); // quiet by default

    private static final double LONGEST_PAUSE = 30; // seconds
    private static final double LONGEST_RETRY_AFTER = 300; // a service that asks for more is not coming back soon
    private static final Set<String> FINAL_CODES = Set.of("quota_exceeded"); // a 429 that waiting does not mend
    private static final String USER_AGENT =
            "banditmt-client/" + Client.VERSION + " java/" + System.getProperty("java.version");

    private final String url;
    private final String apiKey;
    private final Duration readTimeout;
    private final Duration patience; // with one try, connecting included
    private final int retries;
    private final double firstPause;
    private HttpClient http;

    Connection(String url, String apiKey, Client.Builder wishes) {
        this.url = url;
        this.apiKey = apiKey;
        readTimeout = wishes.readTimeout;
        patience = wishes.connectTimeout.plus(wishes.readTimeout);
        retries = wishes.retries;
        firstPause = wishes.firstPause.toNanos() / 1e9;
        // The JDK itself repeats a GET, at once, when a kept-alive connection turns out to be dead: as harmless as ours.
        http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(wishes.connectTimeout)
                .build();
    }

    Answer openRun(String phase, String system) {
        return call("POST", "/v1/runs", Map.of("phase", phase, "system", system));
    }

    Answer run(String run) {
        return call("GET", "/v1/runs/" + quote(run), null);
    }

    Answer sentence(String run) {
        return call("GET", "/v1/runs/" + quote(run) + "/sentence", null);
    }

    Answer translate(String run, String sentenceId, String translation) {
        return call(
                "POST",
                "/v1/runs/" + quote(run) + "/translations",
                Map.of("id", sentenceId, "translation", translation));
    }

    Answer leaderboard(String phase) {
        return call("GET", "/v1/leaderboard/" + quote(phase), null);
    }

    Answer phases() {
        return call("GET", "/v1/phases", null);
    }

    void close() {
        http = null; // its threads end when nobody holds it
    }

    @Override
    public String toString() {
        return "Connection('" + url + "')";
    }

    /** Make one call, trying again while that can help. */
    private Answer call(String method, String path, Map<String, String> body) {
        if (http == null) {
            throw new OrderError("this client is closed");
        }
        HttpRequest request = request(method, path, body);
        for (int attempt = 0; ; attempt++) {
            BanditError failure;
            OptionalDouble wishedPause = OptionalDouble.empty();
            try {
                HttpResponse<byte[]> response = send(request);
                if (response.statusCode() >= 200 && response.statusCode() < 300) {
                    return readAnswer(response.body());
                }
                failure = readRefusal(response);
                if (!mayPass(failure)) {
                    throw failure;
                }
                wishedPause = retryAfter(response.headers().firstValue("Retry-After").orElse(""), Instant.now());
            } catch (IOException broken) {
                failure = new ConnectionFailedError(explain(broken, attempt + 1));
            } catch (Json.MalformedException damaged) {
                failure = new ProtocolError(url + path + " answers, but not with JSON (" + damaged.getMessage()
                        + "); is the address right?");
            }
            if (attempt >= retries) {
                throw failure;
            }
            pause(pauseBefore(attempt, wishedPause), method + " " + path + ": " + failure.getMessage());
        }
    }

    private HttpRequest request(String method, String path, Map<String, String> body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(readTimeout)
                .header("x-api-key", apiKey)
                .header("Accept", "application/json")
                .header("User-Agent", USER_AGENT);
        if (body == null) {
            return request.method(method, BodyPublishers.noBody()).build();
        }
        return request.header("Content-Type", "application/json")
                .method(method, BodyPublishers.ofString(Json.write(body)))
                .build();
    }

    /** One try. The timeout of a request ends with the head of its answer; this one holds for the body too. */
    private HttpResponse<byte[]> send(HttpRequest request) throws IOException {
        CompletableFuture<HttpResponse<byte[]>> answer = http.sendAsync(request, BodyHandlers.ofByteArray());
        try {
            return answer.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof IOException
                    ? (IOException) failed.getCause()
                    : new IOException(failed.getCause());
        } catch (TimeoutException late) {
            answer.cancel(true);
            throw new HttpTimeoutException("the answer did not end in time");
        } catch (InterruptedException interrupted) {
            answer.cancel(true);
            throw interruption();
        }
    }

    private static Answer readAnswer(byte[] body) throws Json.MalformedException {
        Object answer = Json.read(body);
        if (!(answer instanceof Map)) {
            throw new Json.MalformedException("not an object");
        }
        return new Answer((Map<?, ?>) answer);
    }

    private static BanditError readRefusal(HttpResponse<byte[]> response) {
        Answer said;
        try {
            said = readAnswer(response.body());
        } catch (Json.MalformedException notOurs) {
            said = new Answer(Map.of());
        }
        String requestId = response.headers().firstValue("x-amzn-requestid").orElse("");
        return BanditError.refusal(
                response.statusCode(),
                said.textOr("code", ""),
                said.textOr("message", ""),
                said.textOr("request_id", requestId),
                said.textOr("run", ""));
    }

    /** Can the same request be answered otherwise later? */
    private static boolean mayPass(BanditError failure) {
        return (failure.status() == 429 || failure.status() >= 500) && !FINAL_CODES.contains(failure.code());
    }

    /** Seconds that the service asks to wait, from either form of the header. */
    static OptionalDouble retryAfter(String header, Instant now) {
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

    /** How long to wait before the next try: what the service asks for, and a growing random time on top of it. */
    double pauseBefore(int attempt, OptionalDouble wished) {
        double ceiling = Math.min(LONGEST_PAUSE, firstPause * Math.pow(2, attempt));
        double jitter = ceiling * (0.5 + ThreadLocalRandom.current().nextDouble() / 2);
        return wished.isEmpty() ? jitter : Math.min(LONGEST_RETRY_AFTER, wished.getAsDouble()) + jitter / 4;
    }

    private static void pause(double seconds, String why) {
        LOG.log(Level.DEBUG, () -> String.format(Locale.ROOT, "%s; trying again in %.1f s", why, seconds));
        try {
            TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
        } catch (InterruptedException interrupted) {
            throw interruption();
        }
    }

    private static ConnectionFailedError interruption() {
        Thread.currentThread().interrupt(); // whoever asked to stop can see that it was heard
        return new ConnectionFailedError("interrupted while waiting for the service; nothing is lost, go on later");
    }

    private String explain(IOException broken, int tries) {
        String what = broken instanceof HttpTimeoutException ? "did not answer in time" : "could not be reached";
        return String.format(
                "%s %s (%s, %d tries); check the address and the network, then go on",
                url, what, broken.getClass().getSimpleName(), tries);
    }

    private static String quote(String segment) {
        return URLEncoder.encode(segment, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replace("%7E", "~");
    }
}
