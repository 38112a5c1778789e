package org.banditmt.client;

import java.util.List;

/** A committed round. */
public final class Round extends Value {
    private final String id;
    private final int index;
    private final String source;
    private final String translation;
    private final double score;

    Round(JsonObject response) {
        id = response.string("id");
        index = response.integer("index");
        source = response.string("source");
        translation = response.string("translation");
        score = response.score();
    }

    Round(Sentence sentence, String translation, double score) {
        id = sentence.id();
        index = sentence.index();
        source = sentence.source();
        this.translation = translation;
        this.score = score;
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

    @Override
    List<?> parts() {
        return List.of(id, index, source, translation, score);
    }
}
