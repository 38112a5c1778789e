package org.banditmt.client;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A pending source sentence, which takes exactly one translation. */
public final class Sentence extends Value {
    private final String id;
    private final int index;
    private final int total;
    private final String source;
    private final Optional<String> document;
    private final OptionalInt position;

    Sentence(JsonObject response) {
        id = response.string("id");
        index = response.integer("index");
        total = response.integer("total");
        source = response.string("source");
        document = response.optionalString("document");
        position = response.optionalInteger("position");
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

    /**
     * Returns the document that the sentence belongs to. The sentences of a document are served one after the other, in
     * order.
     *
     * @return an opaque id, valid in this run only; empty if the task has no documents
     */
    public Optional<String> document() {
        return document;
    }

    /**
     * Returns the position of the sentence in its document.
     *
     * @return the position, counted from 0; empty if the task has no documents
     */
    public OptionalInt position() {
        return position;
    }

    @Override
    List<?> parts() {
        return List.of(id, index, total, source, document, position);
    }
}
