package org.banditmt.client;

import java.util.List;

/** A pending source sentence, which takes exactly one translation. */
public final class Sentence extends Value {
    private final String id;
    private final int index;
    private final int total;
    private final String source;

    Sentence(JsonObject response) {
        id = response.string("id");
        index = response.integer("index");
        total = response.integer("total");
        source = response.string("source");
    }

    /**
     * Returns an opaque token that proves to the service that all earlier rounds are committed.
     *
     * @return the token
     */
    public String id() {
        return id;
    }

    /**
     * Returns the index of the round.
     *
     * @return the index, counted from 0
     */
    public int index() {
        return index;
    }

    /**
     * Returns the number of rounds in the run.
     *
     * @return the number of rounds
     */
    public int total() {
        return total;
    }

    /**
     * Returns the text to translate.
     *
     * @return the source sentence
     */
    public String source() {
        return source;
    }

    @Override
    List<?> parts() {
        return List.of(id, index, total, source);
    }
}
