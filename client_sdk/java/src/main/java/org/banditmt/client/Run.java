package org.banditmt.client;

import java.util.Iterator;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.OptionalDouble;
import org.banditmt.client.BanditError.InvalidLogProbabilityError;
import org.banditmt.client.BanditError.InvalidTranslationError;
import org.banditmt.client.BanditError.OrderError;
import org.banditmt.client.BanditError.RunFinishedError;

/**
 * A run, one pass of a system over a phase: iterate over it to get sentences, and submit one translation for each.
 *
 * <p>{@link Client#openRun} and {@link Client#getRun} create runs. A run that an earlier process started resumes where
 * that process stopped. A run must be used by one thread at a time.
 */
public final class Run implements Iterable<Sentence> {
    private static final int MAX_TRANSLATION_CHARACTERS = 4_000; // the limit of the service

    private final Connection connection;
    private final String id;
    private final String phase;
    private final String system;
    private final int total;
    private int index;
    private Sentence pending; // served, and not yet translated
    private Round last;
    private Double cumulativeReward; // null until it is asked for

    Run(Connection connection, JsonObject response) {
        this.connection = connection;
        id = response.string("run");
        phase = response.string("phase");
        system = response.string("system");
        total = response.integer("total", 1, Integer.MAX_VALUE);
        index = response.integer("index", 0, total);
    }

    /**
     * Returns the id of the run.
     *
     * @return the id, to pass to {@link Client#getRun}
     */
    public String id() {
        return id;
    }

    /**
     * Returns the name of the phase.
     *
     * @return the phase
     */
    public String phase() {
        return phase;
    }

    /**
     * Returns the name of the system.
     *
     * @return the system
     */
    public String system() {
        return system;
    }

    /**
     * Returns the number of rounds.
     *
     * @return the number of rounds
     */
    public int total() {
        return total;
    }

    /**
     * Returns an iterator over the sentences without a translation, in order. It throws {@link OrderError} if the next
     * sentence is asked for before the current one has a translation.
     *
     * @return the iterator
     */
    @Override
    public Iterator<Sentence> iterator() {
        return new Iterator<>() {
            private Sentence current;

            @Override
            public boolean hasNext() {
                if (current != null && current == pending) {
                    throw new OrderError("round " + current.index()
                            + " has no translation yet: submit one before asking for the next sentence");
                }
                return sentence().isPresent();
            }

            @Override
            public Sentence next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("this run is finished");
                }
                current = pending;
                return current;
            }
        };
    }

    /**
     * Returns the pending sentence: the same one until a translation of it is submitted.
     *
     * @return the sentence; empty if the run is finished
     */
    public Optional<Sentence> sentence() {
        if (pending == null && index < total) {
            try {
                JsonObject response = connection.sentence(id);
                response.integer("index", 0, total - 1);
                setPending(new Sentence(response));
            } catch (RunFinishedError finished) {
                index = total;
            }
        }
        return Optional.ofNullable(pending);
    }

    /**
     * Submits the translation of the pending sentence and returns its score. In a phase whose feedback is post-edits,
     * {@code last()} now has the correct translation of this sentence. If the call fails even after all retries, the
     * sentence stays pending: submit the same translation again.
     *
     * @param translation one non-empty line of text of at most 4,000 characters
     * @return the score, in [0, 1]
     * @throws OrderError if no sentence is pending, or the run is finished
     * @throws InvalidTranslationError if the service would not accept the translation; nothing was sent
     * @throws BanditError.ConflictError if the round is committed with a different translation
     * @throws BanditError.PhaseClosedError if the organiser has closed or frozen the phase
     */
    public double submit(String translation) {
        return submit(translation, OptionalDouble.empty());
    }

    /**
     * Submits a translation that the system drew at random, with its log-probability. The service keeps it with the
     * round, for learners that later learn offline from the log. It does not change the score. Everything else is as in
     * {@link #submit(String)}.
     *
     * @param translation one non-empty line of text of at most 4,000 characters
     * @param logProbability the natural logarithm of the probability with which the system drew this translation: a
     *     finite number of at most 0
     * @return the score, in [0, 1]
     * @throws InvalidLogProbabilityError if the service would not accept the log-probability; nothing was sent
     */
    public double submit(String translation, double logProbability) {
        return submit(translation, OptionalDouble.of(logProbability));
    }

    private double submit(String translation, OptionalDouble logProbability) {
        if (pending == null) {
            throw new OrderError(index >= total
                    ? "this run is finished: there are no sentences left to translate"
                    : "no sentence is pending: ask for one first, and submit exactly one translation for each");
        }
        checkTranslation(translation);
        logProbability.ifPresent(Run::checkLogProbability);
        JsonObject response = connection.translate(id, pending.id(), translation, logProbability);
        double score = response.score();
        // Reading may throw, so it comes before any field changes.
        Sentence following = response.optionalObject("next").map(Sentence::new).orElse(null);
        if (following != null && (following.index() != pending.index() + 1 || following.index() >= total)) {
            throw JsonObject.invalidField("index");
        }
        last = new Round(pending, translation, score, response.optionalString("post_edit"));
        index = pending.index() + 1;
        cumulativeReward = cumulativeReward == null ? null : Double.valueOf(cumulativeReward + score);
        pending = null;
        if (following != null) {
            setPending(following);
        }
        return score;
    }

    /**
     * Returns the last committed round with its feedback. It may have been committed by an earlier process that crashed
     * before it received the feedback.
     *
     * @return the round; empty before the first
     */
    public Optional<Round> last() {
        if (last == null && index > 0) {
            refresh();
        }
        return Optional.ofNullable(last);
    }

    /**
     * Returns the progress of the run.
     *
     * @return the progress
     */
    public Progress progress() {
        if (cumulativeReward == null) {
            refresh();
        }
        return new Progress(index, total, cumulativeReward);
    }

    @Override
    public String toString() {
        return Text.printable(String.format(
                Locale.ROOT, "<Run %s of '%s' in %s: %,d of %,d rounds>", id, system, phase, index, total));
    }

    private void refresh() {
        JsonObject response = connection.run(id);
        Round committed = response.optionalObject("last").map(Round::new).orElse(null);
        double reward = response.number("cumulative_reward", total);
        index = response.integer("index", 0, total);
        cumulativeReward = reward;
        last = committed;
    }

    private void setPending(Sentence sentence) {
        pending = sentence;
        index = sentence.index();
    }

    /** Throws {@link InvalidTranslationError} for what the service would refuse, before it costs a call. */
    private static void checkTranslation(String translation) {
        if (translation == null) {
            throw new InvalidTranslationError("a translation must be a string, not null");
        }
        if (translation.codePoints().allMatch(c -> Character.isWhitespace(c) || Character.isSpaceChar(c))) {
            throw new InvalidTranslationError(
                    "the translation is empty: submit your best guess, such as the source sentence itself");
        }
        if (translation.codePoints().anyMatch(c -> Character.isISOControl(c) || (c >= 0xD800 && c <= 0xDFFF))) {
            throw new InvalidTranslationError("a translation must be one line of text: remove line breaks, tabs, other"
                    + " control characters and lone surrogates");
        }
        int characters = translation.codePointCount(0, translation.length());
        if (characters > MAX_TRANSLATION_CHARACTERS) {
            throw new InvalidTranslationError(String.format(
                    Locale.ROOT,
                    "the translation has %,d characters, and the limit is %,d: check whether the system repeats itself",
                    characters,
                    MAX_TRANSLATION_CHARACTERS));
        }
    }

    /** Throws {@link InvalidLogProbabilityError} for what the service would refuse, before it costs a call. */
    private static void checkLogProbability(double logProbability) {
        if (!(Double.isFinite(logProbability) && logProbability <= 0)) {
            throw new InvalidLogProbabilityError("a log-probability must be a finite number of at most 0, not "
                    + logProbability + ": pass the natural logarithm of the probability with which the translation was"
                    + " drawn, or leave it out");
        }
    }
}
