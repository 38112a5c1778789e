package org.banditmt.client;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/** A phase of the task. */
public final class Phase extends Value {
    private final String name;
    private final String state;
    private final int total;
    private final boolean repeatable;
    private final String feedback;
    private final String metric;
    private final String signature;
    private final Optional<Instant> opensAt;
    private final Optional<Instant> closesAt;
    private final OptionalInt runsLeft;

    Phase(JsonObject response) {
        name = response.string("phase");
        state = response.string("state");
        total = response.integer("total");
        repeatable = response.bool("repeatable");
        feedback = response.optionalString("feedback").orElse("bandit");
        metric = response.optionalString("metric").orElse("sentence-bleu");
        signature = response.optionalString("signature").orElse("");
        opensAt = response.optionalTime("opens_at");
        closesAt = response.optionalTime("closes_at");
        runsLeft = response.optionalInteger("runs_left");
    }

    /** Returns the phases in the field {@code phases}. */
    static List<Phase> listIn(JsonObject response) {
        return response.objects("phases").stream().map(Phase::new).collect(Collectors.toUnmodifiableList());
    }

    /**
     * Returns the name.
     *
     * @return the name, to pass to {@link Client#openRun}
     */
    public String name() {
        return name;
    }

    /**
     * Returns the state.
     *
     * @return {@code "open"}, {@code "closed"} or {@code "frozen"}
     */
    public String state() {
        return state;
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
     * Returns whether a system may play the phase more than once.
     *
     * @return whether the phase is repeatable
     */
    public boolean repeatable() {
        return repeatable;
    }

    /**
     * Returns what a translation receives.
     *
     * @return {@code "bandit"} for a score, {@code "post-edit"} for a score and the correct translation
     */
    public String feedback() {
        return feedback;
    }

    /**
     * Returns the metric of the score.
     *
     * @return the metric, such as {@code "sentence-bleu"} or {@code "chrf"}
     */
    public String metric() {
        return metric;
    }

    /**
     * Returns the metric with all its settings, and the noise that is added.
     *
     * @return the signature; an empty string if the service does not say
     */
    public String signature() {
        return signature;
    }

    /**
     * Returns when the phase opens.
     *
     * @return the time; empty if no time is set
     */
    public Optional<Instant> opensAt() {
        return opensAt;
    }

    /**
     * Returns when the phase closes.
     *
     * @return the time; empty if no time is set
     */
    public Optional<Instant> closesAt() {
        return closesAt;
    }

    /**
     * Returns how many more runs the participant may open.
     *
     * @return the number of runs; empty if the service does not say
     */
    public OptionalInt runsLeft() {
        return runsLeft;
    }

    @Override
    List<?> parts() {
        return List.of(
                name, state, total, repeatable, feedback, metric, signature, opensAt, closesAt, runsLeft);
    }
}
