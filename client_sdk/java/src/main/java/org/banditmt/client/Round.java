package org.banditmt.client;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A committed round. */
public final class Round extends Value {
    private final String id;
    private final int index;
    private final String source;
    private final String translation;
    private final double score;
    private final Optional<String> postEdit;
    private final Optional<String> document;
    private final OptionalInt position;

    Round(JsonObject response) {
        id = response.string("id");
        index = response.integer("index");
        source = response.string("source");
        translation = response.string("translation");
        score = response.score();
        postEdit = response.optionalString("post_edit");
        document = response.optionalString("document");
        position = response.optionalInteger("position");
    }

    Round(Sentence sentence, String translation, double score, Optional<String> postEdit) {
        id = sentence.id();
        index = sentence.index();
        source = sentence.source();
        this.translation = translation;
        this.score = score;
        this.postEdit = postEdit;
        document = sentence.document();
        position = sentence.position();
    }

    /**
     * Returns the id of the sentence.
     *
     * @return the id
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
     * Returns the source sentence.
     *
     * @return the source sentence
     */
    public String source() {
        return source;
    }

    /**
     * Returns the translation that was submitted.
     *
     * @return the translation
     */
    public String translation() {
        return translation;
    }

    /**
     * Returns the reward that the translation received.
     *
     * @return the score, in [0, 1]
     */
    public double score() {
        return score;
    }

    /**
     * Returns the correct translation, in a phase whose feedback is post-edits.
     *
     * @return the post-edit; empty in other phases
     */
    public Optional<String> postEdit() {
        return postEdit;
    }

    /**
     * Returns the document of the sentence.
     *
     * @return the document, as in {@link Sentence#document}
     */
    public Optional<String> document() {
        return document;
    }

    /**
     * Returns the position of the sentence in its document.
     *
     * @return the position, as in {@link Sentence#position}
     */
    public OptionalInt position() {
        return position;
    }

    @Override
    List<?> parts() {
        return List.of(id, index, source, translation, score, postEdit, document, position);
    }
}
