package org.banditmt.client;

import java.util.List;

/** A part of the task that can be played. */
public final class Phase extends Value {
    private final String name;
    private final String state;
    private final int total;
    private final boolean repeatable;

    Phase(Answer answer) {
        name = answer.text("phase");
        state = answer.text("state");
        total = answer.integer("total");
        repeatable = answer.flag("repeatable");
    }

    /** What to open a run of. */
    public String name() {
        return name;
    }

    /** One of open, closed, frozen. */
    public String state() {
        return state;
    }

    /** Rounds. */
    public int total() {
        return total;
    }

    /** May a system run through it again? */
    public boolean repeatable() {
        return repeatable;
    }

    @Override
    List<?> parts() {
        return List.of(name, state, total, repeatable);
    }
}
