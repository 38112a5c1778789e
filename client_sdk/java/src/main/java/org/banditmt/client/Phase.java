package org.banditmt.client;

import java.util.List;

/** A phase of the task. */
public final class Phase extends Value {
    private final String name;
    private final String state;
    private final int total;
    private final boolean repeatable;

    Phase(JsonObject response) {
        name = response.string("phase");
        state = response.string("state");
        total = response.integer("total");
        repeatable = response.bool("repeatable");
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

    @Override
    List<?> parts() {
        return List.of(name, state, total, repeatable);
    }
}
