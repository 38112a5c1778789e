package org.banditmt.client;

import java.util.List;

/** A source sentence that waits for its one translation. */
public final class Sentence extends Value {
    private final String id;
    private final int index;
    private final int total;
    private final String source;

    Sentence(Answer answer) {
        id = answer.text("id");
        index = answer.integer("index");
        total = answer.integer("total");
        source = answer.text("source");
    }

    /** Opaque: proves to the service that all rounds before were answered. */
    public String id() {
        return id;
    }

    /** Of the round, counted from 0. */
    public int index() {
        return index;
    }

    /** Rounds in the run. */
    public int total() {
        return total;
    }

    /** What is to be translated. */
    public String source() {
        return source;
    }

    @Override
    List<?> parts() {
        return List.of(id, index, total, source);
    }
}
