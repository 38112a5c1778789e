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
 * Lets tests of another process hold this SDK's objects, so that one suite tests every SDK.
 *
 * <p>A line on the standard input is a call: its name and its arguments, each as = and hexadecimal UTF-16 ({@code -} is null).
 * The line it is answered with is a JSON object of strings: what came of it, or the error. Objects are named by the place
 * where they are kept.
 */
final class Bridge {
    private final List<Object> kept = new ArrayList<>();

    private Bridge() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Bridge bridge = new Bridge();
        for (String line = calls.readLine(); line != null; line = calls.readLine()) {
            String[] words = line.split(" ");
            List<String> decoded = new ArrayList<>();
            for (int index = 1; index < words.length; index++) {
                decoded.add(decode(words[index]));
            }
            answers.println(Json.write(bridge.answer(words[0], decoded)));
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

    private Map<String, String> answer(String name, List<String> arguments) {
        try {
            return answer(name, arguments.isEmpty() ? "" : arguments.get(0), arguments);
        } catch (BanditError error) {
            return show(error);
        } catch (RuntimeException bug) {
            return Map.of("bug", bug.toString());
        }
    }

    private Map<String, String> answer(String name, String first, List<String> arguments) {
        switch (name) {
            case "client":
                return Map.of("client", keep(client(arguments)));
            case "open_run":
                return show(client(first).openRun(arguments.get(1), arguments.get(2)));
            case "get_run":
                return show(client(first).getRun(arguments.get(1)));
            case "phases":
                return Map.of("phases", client(first).phases().toString());
            case "phases_interrupted":
                return interrupted(client(first));
            case "leaderboard":
                return Map.of("leaderboard", client(first).leaderboard(arguments.get(1)).toString());
            case "close":
                client(first).close();
                return Map.of();
            case "sentence":
                return run(first).sentence().map(Bridge::show).orElse(Map.of());
            case "submit":
                return Map.of("score", String.valueOf(run(first).submit(arguments.get(1))));
            case "last":
                return run(first).last().map(Bridge::show).orElse(Map.of());
            case "progress":
                return show(run(first).progress());
            case "iterator":
                return Map.of("iterator", keep(run(first).iterator()));
            case "next":
                Iterator<?> sentences = (Iterator<?>) kept.get(Integer.parseInt(first));
                return sentences.hasNext() ? show((Sentence) sentences.next()) : Map.of();
            case "show":
                return Map.of("shown", kept.get(Integer.parseInt(first)).toString());
            case "retry_after":
                OptionalDouble seconds = Connection.retryAfter(first, Instant.now());
                return seconds.isEmpty() ? Map.of() : Map.of("seconds", String.valueOf(seconds.getAsDouble()));
            case "pause":
                return Map.of("seconds", pause(Integer.parseInt(first), arguments.get(1)));
            case "refusal":
                throw BanditError.refusal(Integer.parseInt(first), arguments.get(1), "", "r-7", "");
            default:
                throw new IllegalArgumentException("no such call: " + name);
        }
    }

    private static Client client(List<String> wishes) {
        return Client.builder()
                .url(wishes.get(0))
                .apiKey(wishes.get(1))
                .retries(Integer.parseInt(wishes.get(2)))
                .connectTimeout(Duration.ofMillis(Long.parseLong(wishes.get(3))))
                .readTimeout(Duration.ofMillis(Long.parseLong(wishes.get(4))))
                .firstPause(Duration.ofMillis(Long.parseLong(wishes.get(5))))
                .build();
    }

    private static Map<String, String> interrupted(Client client) {
        Thread.currentThread().interrupt();
        try {
            return Map.of("phases", client.phases().toString());
        } finally {
            if (!Thread.interrupted()) {
                throw new IllegalStateException("the interruption was swallowed");
            }
        }
    }

    private static String pause(int attempt, String wished) {
        OptionalDouble seconds = wished == null ? OptionalDouble.empty() : OptionalDouble.of(Double.parseDouble(wished));
        return String.valueOf(new Connection("http://h", "k", Client.builder()).pauseBefore(attempt, seconds));
    }

    private Map<String, String> show(Run run) {
        return Map.of(
                "run", keep(run),
                "id", run.id(),
                "phase", run.phase(),
                "system", run.system(),
                "total", String.valueOf(run.total()));
    }

    private static Map<String, String> show(BanditError error) {
        Map<String, String> shown = new HashMap<>(Map.of(
                "error", error.getClass().getSimpleName(),
                "message", error.getMessage(),
                "code", error.code(),
                "status", String.valueOf(error.status()),
                "request_id", error.requestId()));
        if (error instanceof BanditError.ConflictError) {
            shown.put("run", ((BanditError.ConflictError) error).run());
        }
        return shown;
    }

    private static Map<String, String> show(Sentence sentence) {
        return Map.of(
                "id", sentence.id(),
                "index", String.valueOf(sentence.index()),
                "total", String.valueOf(sentence.total()),
                "source", sentence.source());
    }

    private static Map<String, String> show(Round round) {
        return Map.of(
                "id", round.id(),
                "index", String.valueOf(round.index()),
                "source", round.source(),
                "translation", round.translation(),
                "score", String.valueOf(round.score()));
    }

    private static Map<String, String> show(Progress progress) {
        return Map.of(
                "index", String.valueOf(progress.index()),
                "total", String.valueOf(progress.total()),
                "cumulative_reward", String.valueOf(progress.cumulativeReward()));
    }

    private Client client(String place) {
        return (Client) kept.get(Integer.parseInt(place));
    }

    private Run run(String place) {
        return (Run) kept.get(Integer.parseInt(place));
    }

    private String keep(Object object) {
        kept.add(object);
        return String.valueOf(kept.size() - 1);
    }
}
