package org.banditmt.client;

import java.net.IDN;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.banditmt.client.BanditError.ConfigurationError;

/**
 * The way in: a client knows the service and the participant's key, and opens runs.
 *
 * <pre>{@code
 * try (Client client = new Client()) {           // key and address from BANDITMT_API_KEY, BANDITMT_URL
 *     Run run = client.openRun("dev", "my-system");
 *     for (Sentence sentence : run) {            // resumes where the last process stopped
 *         double score = run.submit(translate(sentence.source()));
 *         learn(sentence, score);
 *     }
 * }
 * }</pre>
 *
 * <p>A client and its runs belong to one thread at a time; make one client for each thread that plays.
 */
public final class Client implements AutoCloseable {
    /** Of this package. */
    public static final String VERSION = "0.1.0";

    private static final String KEY_VARIABLE = "BANDITMT_API_KEY";
    private static final String URL_VARIABLE = "BANDITMT_URL";
    private static final int LAST_PORT = 65_535;

    private final Connection connection;

    /** A client with the key and the address that the environment names. */
    public Client() {
        this(builder());
    }

    private Client(Builder wishes) {
        connection = new Connection(address(wishes.url), key(wishes.apiKey), wishes);
    }

    /** For those who do not take the key, the address or their patience as they come. */
    public static Builder builder() {
        return new Builder();
    }

    /** Begin a run of a system over a phase, or go on with the unfinished one of that name. */
    public Run openRun(String phase, String system) {
        return new Run(connection, connection.openRun(named(phase, "phase"), named(system, "system")));
    }

    /** A run by its id, finished or not: with it a learner that crashed on the very last round gets its score. */
    public Run getRun(String run) {
        return new Run(connection, connection.run(named(run, "run")));
    }

    /** The phases of the task, and which of them are open. */
    public List<Phase> phases() {
        List<Phase> phases = new ArrayList<>();
        for (Object listed : connection.phases().list("phases")) {
            if (!(listed instanceof Map)) {
                throw Answer.unusable("phases");
            }
            phases.add(new Phase(new Answer((Map<?, ?>) listed)));
        }
        return List.copyOf(phases);
    }

    /**
     * The leaderboard of a phase, as the service publishes it: objects are maps, arrays lists, numbers {@link Long} or
     * {@link Double}.
     */
    public Map<String, Object> leaderboard(String phase) {
        return connection.leaderboard(named(phase, "phase")).asMap();
    }

    /** Let go of the connection; the client and its runs cannot be used any more. */
    @Override
    public void close() {
        connection.close();
    }

    @Override
    public String toString() {
        return "Client(" + connection + ")";
    }

    private static String named(String value, String name) {
        return Objects.requireNonNull(value, name + " is null");
    }

    private static String address(String wished) {
        String url = (wished == null || wished.isEmpty() ? environment(URL_VARIABLE) : wished).strip();
        if (url.isEmpty()) {
            throw new ConfigurationError("where is the service? Set " + URL_VARIABLE + " or pass url");
        }
        if (url.contains("@")) { // and therefore perhaps a password, so it is not repeated
            throw new ConfigurationError(
                    "the address has an '@' in it: leave out user name and password, the API key is enough");
        }
        if (!canBeCalled(url)) {
            throw new ConfigurationError("'" + url + "' is not the address of a service; it looks like https://host/stage");
        }
        return url.replaceFirst("/+$", "");
    }

    /** Would the library that makes the calls take this address, as it stands and with paths at its end? */
    private static boolean canBeCalled(String url) {
        try {
            URI uri = new URI(url);
            boolean web = "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
            boolean bare = uri.getQuery() == null && uri.getFragment() == null;
            if (!web || !bare || uri.getHost() == null || uri.getPort() > LAST_PORT) {
                return false;
            }
            IDN.toASCII(uri.getHost()); // what the sockets will do with the name
            return true;
        } catch (URISyntaxException | IllegalArgumentException notEvenThat) {
            return false;
        }
    }

    private static String key(String wished) {
        String key = (wished == null || wished.isEmpty() ? environment(KEY_VARIABLE) : wished).strip();
        if (key.isEmpty()) {
            throw new ConfigurationError(
                    "no API key: set " + KEY_VARIABLE + " or pass apiKey (the organiser hands it out)");
        }
        if (!key.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new ConfigurationError(
                    "the API key has characters that no key has; was it copied whole and alone?");
        }
        return key;
    }

    private static String environment(String variable) {
        return Objects.requireNonNullElse(System.getenv(variable), "");
    }

    /** What a client can be told; everything has a default. */
    public static final class Builder {
        String apiKey;
        String url;
        Duration connectTimeout = Duration.ofSeconds(5);
        Duration readTimeout = Duration.ofSeconds(30);
        int retries = 10;
        Duration firstPause = Duration.ofMillis(250);

        private Builder() {}

        /** The key that the organiser handed out; by default that of BANDITMT_API_KEY. */
        public Builder apiKey(String key) {
            apiKey = key;
            return this;
        }

        /** The address of the service; by default that of BANDITMT_URL. */
        public Builder url(String address) {
            url = address;
            return this;
        }

        /** How long to wait for a connection; 5 s by default. */
        public Builder connectTimeout(Duration timeout) {
            connectTimeout = positive(timeout, "connectTimeout");
            return this;
        }

        /** How long to wait for a whole answer; 30 s by default. */
        public Builder readTimeout(Duration timeout) {
            readTimeout = positive(timeout, "readTimeout");
            return this;
        }

        /** How often to try again; 10 times by default, 0 for never. */
        public Builder retries(int count) {
            if (count < 0) {
                throw new ConfigurationError("retries are 0 or more, not " + count);
            }
            retries = count;
            return this;
        }

        /** The pause before the second try, which doubles with every further one up to 30 s; 250 ms by default. */
        public Builder firstPause(Duration pause) {
            firstPause = positive(pause, "firstPause");
            return this;
        }

        /** The client, or a {@link ConfigurationError} if it could not work. */
        public Client build() {
            return new Client(this);
        }

        private static Duration positive(Duration wished, String name) {
            if (wished.isZero() || wished.isNegative()) {
                throw new ConfigurationError(name + " is longer than nothing, not " + wished);
            }
            return wished;
        }
    }
}
