package org.banditmt.client;

import java.util.Iterator;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.banditmt.client.BanditError.InvalidTranslationError;
import org.banditmt.client.BanditError.OrderError;
import org.banditmt.client.BanditError.RunFinishedError;

/**
 * One pass of a system over a phase: iterate over it for sentences, and submit one translation for each.
 *
 * <p>A run that was begun by an earlier process goes on where that one stopped. Belongs to one thread at a time.
 */
public final class Run implements Iterable<Sentence> {
    private static final int MAX_CHARACTERS = 4_000; // of a translation: the service takes no more

    private final Connection connection;
    private final String id;
    private final String phase;
    private final String system;
    private final int total;
    private int index;
    private Sentence pending; // served and not yet answered
    private Round last;
    private Double reward; // cumulative; unknown until asked for

    Run(Connection connection, Answer answer) {
        this.connection = connection;
        id = answer.text("run");
        phase = answer.text("phase");
        system = answer.text("system");
        total = answer.integer("total");
        index = answer.integer("index");
    }

    /** With this, {@link Client#getRun} finds the run again. */
    public String id() {
        return id;
    }

    /** What is played. */
    public String phase() {
        return phase;
    }

    /** Who plays. */
    public String system() {
        return system;
    }

    /** Rounds in the run. */
    public int total() {
        return total;
    }

    /** The sentences that are still to be answered, each after the one before has been. */
    @Override
    public Iterator<Sentence> iterator() {
        return new Iterator<>() {
            private Sentence handedOut;

            @Override
            public boolean hasNext() {
                if (handedOut != null && handedOut == pending) {
                    throw new OrderError("round " + handedOut.index()
                            + " has not been answered: submit a translation before going on");
                }
                return sentence().isPresent();
            }

            @Override
            public Sentence next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("this run is finished");
                }
                handedOut = pending;
                return handedOut;
            }
        };
    }

    /** The sentence that waits for a translation, the same one until it is answered; empty when finished. */
    public Optional<Sentence> sentence() {
        if (pending == null && index < total) {
            try {
                await(new Sentence(connection.sentence(id)));
            } catch (RunFinishedError finished) {
                index = total;
            }
        }
        return Optional.ofNullable(pending);
    }

    /**
     * Answer the pending sentence and return its score in [0, 1]. When the network fails for good, the sentence stays
     * pending: submit the same translation again.
     */
    public double submit(String translation) {
        if (pending == null) {
            throw new OrderError(index >= total
                    ? "this run is finished: there is nothing to translate"
                    : "no sentence is waiting for a translation: ask for one first, and submit only once for each");
        }
        check(translation);
        Answer answer = connection.translate(id, pending.id(), translation);
        double score = answer.score();
        Answer next = answer.answerOrNull("next");
        Sentence following = next == null ? null : new Sentence(next); // before anything changes: it may be unusable
        last = new Round(pending, translation, score);
        index = pending.index() + 1;
        reward = reward == null ? null : Double.valueOf(reward + score);
        pending = null;
        if (following != null) {
            await(following);
        }
        return score;
    }

    /** The round that was answered last, here or in an earlier process that crashed before it saw its score. */
    public Optional<Round> last() {
        if (last == null && index > 0) {
            refresh();
        }
        return Optional.ofNullable(last);
    }

    /** How far the run has come. */
    public Progress progress() {
        if (reward == null) {
            refresh();
        }
        return new Progress(index, total, reward);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT, "<Run %s of '%s' in %s: %,d of %,d rounds>", id, system, phase, index, total);
    }

    private void refresh() {
        Answer answer = connection.run(id);
        index = answer.integer("index");
        reward = answer.number("cumulative_reward", total);
        Answer answered = answer.answerOrNull("last");
        last = answered == null ? null : new Round(answered);
    }

    private void await(Sentence sentence) {
        pending = sentence;
        index = sentence.index();
    }

    /** Refuse here what the service would refuse, before it costs a call. */
    private static void check(String translation) {
        if (translation == null) {
            throw new InvalidTranslationError("a translation is a string, not null");
        }
        if (translation.codePoints().allMatch(c -> Character.isWhitespace(c) || Character.isSpaceChar(c))) {
            throw new InvalidTranslationError("a translation may not be empty: send your best guess, for instance the"
                    + " source sentence itself");
        }
        if (translation.codePoints().anyMatch(c -> Character.isISOControl(c) || (c >= 0xD800 && c <= 0xDFFF))) {
            throw new InvalidTranslationError("a translation is one line of text: line breaks, tabs, other controls and"
                    + " lone surrogates are refused");
        }
        int characters = translation.codePointCount(0, translation.length());
        if (characters > MAX_CHARACTERS) {
            throw new InvalidTranslationError(String.format(
                    Locale.ROOT,
                    "a translation has at most %,d characters, and this one has %,d: does the system repeat itself?",
                    MAX_CHARACTERS,
                    characters));
        }
    }
}
