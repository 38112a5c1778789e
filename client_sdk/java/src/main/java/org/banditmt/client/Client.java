package org.banditmt.client;

import java.net.IDN;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.banditmt.client.BanditError.ConfigurationError;

/**
 * A participant's client of a shared task: holds the service address and the API key, and opens runs.
 *
 * <pre>{@code
 * try (Client client = new Client()) {           // reads BANDITMT_API_KEY and BANDITMT_URL
 *     Run run = client.openRun("dev", "my-system");
 *     for (Sentence sentence : run) {            // resumes where the last process stopped
 *         double score = run.submit(translate(sentence.source()));
 *         learn(sentence, score);
 *     }
 * }
 * }</pre>
 *
 * <p>A client and its runs must be used by one thread at a time; create one client per thread.
 */
public final class Client implements AutoCloseable {
    /** The version of this package. */
    public static final String VERSION = "0.1.0";

    private static final String KEY_VARIABLE = "BANDITMT_API_KEY";
    private static final String URL_VARIABLE = "BANDITMT_URL";
    private static final int MAX_PORT = 65_535;

    private final Connection connection;

    /**
     * Creates a client with the API key and the address from the environment variables {@code BANDITMT_API_KEY} and
     * {@code BANDITMT_URL}.
     *
     * @throws ConfigurationError if the key or the address is missing or invalid
     */
    public Client() {
        this(builder());
    }

    private Client(Builder settings) {
        String url = checkedUrl(settings.url);
        connection = new Connection(url, settings.anonymous ? null : checkedKey(settings.apiKey), settings);
    }

    /**
     * Returns a builder for a client with another key, address, timeout or retry policy.
     *
     * @return a builder with the default settings
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Starts a run of a system over a phase, or resumes the unfinished run of that name. If the system has finished a
     * run and the phase can be played repeatedly, this starts another one.
     *
     * @param phase the phase, such as {@code "mock"}, {@code "dev"} or {@code "training"}
     * @param system the name under which the system appears on the leaderboard
     * @return the run, positioned at its first sentence without a translation
     * @throws BanditError.NotFoundError if the task has no such phase
     * @throws BanditError.PhaseClosedError if the organiser has closed or frozen the phase
     * @throws BanditError.ConflictError if the system has already completed a phase that can be played only once; the
     *     error has the id of the finished run
     * @throws BanditError.QuotaExceededError if the participant has no runs left in this phase
     */
    public Run openRun(String phase, String system) {
        return openRun(phase, system, true);
    }

    /**
     * Starts or resumes a run as {@link #openRun(String, String)} does, and says whether to start another run after a
     * finished one.
     *
     * @param phase the phase
     * @param system the name of the system
     * @param again whether to start another run if the system has finished one
     * @return the run
     * @throws BanditError.ConflictError if the system has finished the phase, and either {@code again} is false or the
     *     phase can be played only once; the error has the id of the finished run
     */
    public Run openRun(String phase, String system, boolean again) {
        return new Run(connection, connection.openRun(nonNull(phase, "phase"), nonNull(system, "system"), again));
    }

    /**
     * Returns a run by its id, whether it is finished or not. A learner that crashed during the last round of a run
     * reads the score of that round from {@code getRun(id).last()}.
     *
     * @param run the id of one of the participant's own runs
     * @return the run in its current state
     * @throws BanditError.NotFoundError if the participant has no run with this id
     */
    public Run getRun(String run) {
        return new Run(connection, connection.run(nonNull(run, "run")));
    }

    /**
     * Returns the phases of the task: their states, times and feedback, and how many runs the participant has left.
     *
     * @return the phases, shortest first
     */
    public List<Phase> phases() {
        return Phase.listIn(connection.phases());
    }

    /**
     * Returns the task's description of itself: languages, text convention, phases, licence and contact.
     *
     * @return the description
     * @throws BanditError.NotFoundError if the service is older than this call
     */
    public TaskInfo task() {
        return new TaskInfo(connection.task());
    }

    /**
     * Returns the leaderboard of a phase as the service publishes it.
     *
     * @param phase the phase, such as {@code "dev"}
     * @return the JSON object: objects are maps, arrays are lists, numbers are {@link Long} or {@link Double}
     * @throws BanditError.NotFoundError if the task has no such phase
     */
    public Map<String, Object> leaderboard(String phase) {
        return connection.leaderboard(nonNull(phase, "phase")).asMap();
    }

    /** Closes the connection. Later calls of the client and its runs throw {@link BanditError.OrderError}. */
    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return "Client(" + connection + ")";
    }

    private static String nonNull(String value, String name) {
        return Objects.requireNonNull(value, name + " is null");
    }

    private static String checkedUrl(String setting) {
        String url = (setting == null || setting.isEmpty() ? environment(URL_VARIABLE) : setting).strip();
        if (url.isEmpty()) {
            throw new ConfigurationError("no service address: set " + URL_VARIABLE + " or pass url");
        }
        if (url.contains("@")) { // It may contain a password, so the message does not repeat it.
            throw new ConfigurationError(
                    "the service address contains '@': remove the user name and password, the API key is enough");
        }
        if (!isCallableAddress(url)) {
            throw new ConfigurationError(
                    "'" + url + "' is not a valid service address; expected something like https://host/stage");
        }
        return url.replaceFirst("/+$", "");
    }

    /** Returns whether the HTTP client accepts the address, both as it is and with a path appended. */
    private static boolean isCallableAddress(String url) {
        try {
            URI uri = new URI(url);
            boolean isHttp = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            boolean endsWithPath = uri.getQuery() == null && uri.getFragment() == null;
            if (!isHttp || !endsWithPath || uri.getHost() == null || uri.getPort() > MAX_PORT) {
                return false;
            }
            IDN.toASCII(uri.getHost()); // as the socket layer does with a host name
            return true;
        } catch (URISyntaxException | IllegalArgumentException invalid) {
            return false;
        }
    }

    private static String checkedKey(String setting) {
        String key = (setting == null || setting.isEmpty() ? environment(KEY_VARIABLE) : setting).strip();
        if (key.isEmpty()) {
            throw new ConfigurationError(
                    "no API key: set " + KEY_VARIABLE + " or pass apiKey (the organiser issues keys)");
        }
        if (!key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new ConfigurationError(
                    "the API key contains invalid characters; check that you copied the whole key and nothing else");
        }
        return key;
    }

    private static String environment(String variable) {
        return Objects.requireNonNullElse(System.getenv(variable), "");
    }

    /** The settings of a client; every setting has a default. */
    public static final class Builder {
        String apiKey;
        boolean anonymous;
        String url;
        Duration connectTimeout = Duration.ofSeconds(5);
        Duration readTimeout = Duration.ofSeconds(30);
        int retries = 10;
        Duration firstPause = Duration.ofMillis(250);

        private Builder() {}

        /**
         * Sets the API key that the organiser issued.
         *
         * @param key the key; default: the environment variable {@code BANDITMT_API_KEY}
         * @return this builder
         */
        public Builder apiKey(String key) {
            apiKey = key;
            return this;
        }

        /**
         * Lets the client send no API key. {@link Client#task}, {@link Client#phases} and {@link Client#leaderboard} are
         * public; other calls then throw {@link BanditError.AuthenticationError}.
         *
         * @return this builder
         */
        public Builder anonymous() {
            anonymous = true;
            return this;
        }

        /**
         * Sets the address of the service.
         *
         * @param address the address, such as {@code https://host/stage}; default: the environment variable
         *     {@code BANDITMT_URL}
         * @return this builder
         */
        public Builder url(String address) {
            url = address;
            return this;
        }

        /**
         * Sets how long to wait for a connection.
         *
         * @param timeout a positive duration; default: 5 s
         * @return this builder
         * @throws ConfigurationError if the duration is not positive
         */
        public Builder connectTimeout(Duration timeout) {
            connectTimeout = positive(timeout, "connectTimeout");
            return this;
        }

        /**
         * Sets how long to wait for a whole response.
         *
         * @param timeout a positive duration; default: 30 s
         * @return this builder
         * @throws ConfigurationError if the duration is not positive
         */
        public Builder readTimeout(Duration timeout) {
            readTimeout = positive(timeout, "readTimeout");
            return this;
        }

        /**
         * Sets how often a failed call is retried.
         *
         * @param count 0 or more; default: 10
         * @return this builder
         * @throws ConfigurationError if the count is negative
         */
        public Builder retries(int count) {
            if (count < 0) {
                throw new ConfigurationError("retries must be 0 or more, not " + count);
            }
            retries = count;
            return this;
        }

        /**
         * Sets the pause before the first retry. It doubles with every further retry, up to 30 s.
         *
         * @param pause a positive duration; default: 250 ms
         * @return this builder
         * @throws ConfigurationError if the duration is not positive
         */
        public Builder firstPause(Duration pause) {
            firstPause = positive(pause, "firstPause");
            return this;
        }

        /**
         * Builds the client.
         *
         * @return the client
         * @throws ConfigurationError if the key or the address is missing or invalid
         */
        public Client build() {
            return new Client(this);
        }

        private static Duration positive(Duration duration, String name) {
            if (duration.isZero() || duration.isNegative()) {
                throw new ConfigurationError(name + " must be a positive duration, not " + duration);
            }
            return duration;
        }
    }
}
