package org.banditmt.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Lets tests in another process call this SDK, so that one test suite covers both SDKs.
 *
 * <p>Each line of the standard input is a call: its name and its arguments. An argument is {@code =} followed by hexadecimal
 * UTF-16, or {@code -} for null. Each call writes one line to the standard output: a JSON object of strings with the result
 * or the error. An object of the SDK is referred to by its handle, its position in {@code objects}.
 */
final class Bridge {
    private final List<Object> objects = new ArrayList<>();

    private Bridge() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream results = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Bridge bridge = new Bridge();
        for (String line = calls.readLine(); line != null; line = calls.readLine()) {
            String[] words = line.split(" ");
            List<String> decoded = new ArrayList<>();
            for (int index = 1; index < words.length; index++) {
                decoded.add(decode(words[index]));
            }
            results.println(Json.write(bridge.call(words[0], decoded)));
        }
    }

    private static String decode(String word) {
        if (word.equals("-")) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (int index = 1; index < word.length(); index += 4) {
            text.append((char) Integer.parseInt(word.substring(index, index + 4), 16));
        }
        return text.toString();
    }

    private Map<String, String> call(String name, List<String> arguments) {
        try {
            return dispatch(name, arguments.isEmpty() ? "" : arguments.get(0), arguments);
        } catch (BanditError error) {
            return describe(error);
        } catch (RuntimeException bug) {
            return Map.of("bug", bug.toString());
        }
    }

    private Map<String, String> dispatch(String name, String first, List<String> arguments) {
        switch (name) {
            case "client":
                return Map.of("client", store(client(arguments)));
            case "open_run":
                return describe(client(first).openRun(arguments.get(1), arguments.get(2), arguments.get(3).equals("again")));
            case "get_run":
                return describe(client(first).getRun(arguments.get(1)));
            case "phases":
                return describe(client(first).phases());
            case "task":
                return describe(client(first).task());
            case "phases_interrupted":
                return phasesWhileInterrupted(client(first));
            case "leaderboard":
                return Map.of("leaderboard", client(first).leaderboard(arguments.get(1)).toString());
            case "close":
                client(first).close();
                return Map.of();
            case "sentence":
                return run(first).sentence().map(Bridge::describe).orElse(Map.of());
            case "submit":
                return Map.of("score", String.valueOf(submit(run(first), arguments.get(1), arguments.get(2))));
            case "last":
                return run(first).last().map(Bridge::describe).orElse(Map.of());
            case "progress":
                return describe(run(first).progress());
            case "iterator":
                return Map.of("iterator", store(run(first).iterator()));
            case "next":
                Iterator<?> sentences = (Iterator<?>) objects.get(Integer.parseInt(first));
                return sentences.hasNext() ? describe((Sentence) sentences.next()) : Map.of();
            case "to_string":
                return Map.of("string", objects.get(Integer.parseInt(first)).toString());
            case "parse_retry_after":
                OptionalDouble seconds = Connection.parseRetryAfter(first, Instant.now());
                return seconds.isEmpty() ? Map.of() : Map.of("seconds", String.valueOf(seconds.getAsDouble()));
            case "backoff_seconds":
                return Map.of("seconds", backoffSeconds(Integer.parseInt(first), arguments.get(1)));
            case "error_for_response":
                throw BanditError.forResponse(Integer.parseInt(first), arguments.get(1), "", "r-7", "");
            default:
                throw new IllegalArgumentException("no such call: " + name);
        }
    }

    private static Client client(List<String> settings) {
        Client.Builder builder = Client.builder();
        if (settings.get(6).equals("anonymous")) {
            builder.anonymous();
        }
        return builder
                .url(settings.get(0))
                .apiKey(settings.get(1))
                .retries(Integer.parseInt(settings.get(2)))
                .connectTimeout(Duration.ofMillis(Long.parseLong(settings.get(3))))
                .readTimeout(Duration.ofMillis(Long.parseLong(settings.get(4))))
                .firstPause(Duration.ofMillis(Long.parseLong(settings.get(5))))
                .build();
    }

    private static Map<String, String> phasesWhileInterrupted(Client client) {
        Thread.currentThread().interrupt();
        try {
            return Map.of("phases", client.phases().toString());
        } finally {
            if (!Thread.interrupted()) {
                throw new IllegalStateException("the interrupt flag was cleared");
            }
        }
    }

    private static double submit(Run run, String translation, String logProbability) {
        return logProbability == null
                ? run.submit(translation)
                : run.submit(translation, Double.parseDouble(logProbability));
    }

    private static String backoffSeconds(int attempt, String retryAfter) {
        OptionalDouble asked =
                retryAfter == null ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(retryAfter));
        return String.valueOf(new Connection("http://h", "k", Client.builder()).backoffSeconds(attempt, asked));
    }

    private Map<String, String> describe(Run run) {
        return Map.of(
                "run", store(run),
                "id", run.id(),
                "phase", run.phase(),
                "system", run.system(),
                "total", String.valueOf(run.total()));
    }

    private static Map<String, String> describe(BanditError error) {
        Map<String, String> described = new HashMap<>(Map.of(
                "error", error.getClass().getSimpleName(),
                "message", error.getMessage(),
                "code", error.code(),
                "status", String.valueOf(error.status()),
                "request_id", error.requestId()));
        if (error instanceof BanditError.ConflictError) {
            described.put("run", ((BanditError.ConflictError) error).run());
        }
        return described;
    }

    private static Map<String, String> describe(Sentence sentence) {
        Map<String, String> described = new HashMap<>(Map.of(
                "id", sentence.id(),
                "index", String.valueOf(sentence.index()),
                "total", String.valueOf(sentence.total()),
                "source", sentence.source()));
        sentence.document().ifPresent(document -> described.put("document", document));
        sentence.position().ifPresent(position -> described.put("position", String.valueOf(position)));
        return described;
    }

    private static Map<String, String> describe(Round round) {
        Map<String, String> described = new HashMap<>(Map.of(
                "id", round.id(),
                "index", String.valueOf(round.index()),
                "source", round.source(),
                "translation", round.translation(),
                "score", String.valueOf(round.score())));
        round.postEdit().ifPresent(postEdit -> described.put("post_edit", postEdit));
        round.document().ifPresent(document -> described.put("document", document));
        round.position().ifPresent(position -> described.put("position", String.valueOf(position)));
        return described;
    }

    /** Describes phases in one flat object: {@code 0.name} is the name of the first. */
    private static Map<String, String> describe(List<Phase> phases) {
        Map<String, String> described = new HashMap<>(Map.of("phases", String.valueOf(phases.size())));
        for (int number = 0; number < phases.size(); number++) {
            Phase phase = phases.get(number);
            String prefix = number + ".";
            described.put(prefix + "name", phase.name());
            described.put(prefix + "state", phase.state());
            described.put(prefix + "total", String.valueOf(phase.total()));
            described.put(prefix + "repeatable", String.valueOf(phase.repeatable()));
            described.put(prefix + "feedback", phase.feedback());
            described.put(prefix + "metric", phase.metric());
            described.put(prefix + "signature", phase.signature());
            phase.opensAt().ifPresent(time -> described.put(prefix + "opens_at", time.toString()));
            phase.closesAt().ifPresent(time -> described.put(prefix + "closes_at", time.toString()));
            phase.runsLeft().ifPresent(runs -> described.put(prefix + "runs_left", String.valueOf(runs)));
        }
        return described;
    }

    private static Map<String, String> describe(TaskInfo task) {
        Map<String, String> described = describe(task.phases());
        task.title().ifPresent(title -> described.put("title", title));
        described.put("source", task.source());
        described.put("target", task.target());
        described.put("text_signature", task.text().signature());
        described.put("text_description", task.text().description());
        task.licence().ifPresent(licence -> described.put("licence", licence));
        task.contact().ifPresent(contact -> described.put("contact", contact));
        task.outOfDomain().ifPresent(text -> describe(text, described));
        described.put("documents", String.valueOf(task.documents()));
        return described;
    }

    /** Describes the text in the same flat object: {@code file.0.lines} is the number of lines of its first file. */
    private static void describe(OutOfDomainText text, Map<String, String> described) {
        text.url().ifPresent(url -> described.put("file.url", url));
        described.put("files", String.valueOf(text.files().size()));
        for (int number = 0; number < text.files().size(); number++) {
            OutOfDomainFile file = text.files().get(number);
            String prefix = "file." + number + ".";
            described.put(prefix + "language", file.language());
            described.put(prefix + "lines", String.valueOf(file.lines()));
            described.put(prefix + "bytes", String.valueOf(file.bytes()));
            described.put(prefix + "sha256", file.sha256());
            file.url().ifPresent(url -> described.put(prefix + "url", url));
        }
    }

    private static Map<String, String> describe(Progress progress) {
        return Map.of(
                "index", String.valueOf(progress.index()),
                "total", String.valueOf(progress.total()),
                "cumulative_reward", String.valueOf(progress.cumulativeReward()));
    }

    private Client client(String handle) {
        return (Client) objects.get(Integer.parseInt(handle));
    }

    private Run run(String handle) {
        return (Run) objects.get(Integer.parseInt(handle));
    }

    private String store(Object object) {
        objects.add(object);
        return String.valueOf(objects.size() - 1);
    }
}
