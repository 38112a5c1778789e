package org.banditmt.client;

import java.util.List;

/** A round that was answered. */
public final class Round extends Value {
    private final String id;
    private final int index;
    private final String source;
    private final String translation;
    private final double score;

    Round(Answer answer) {
        id = answer.text("id");
        index = answer.integer("index");
        source = answer.text("source");
        translation = answer.text("translation");
        score = answer.score();
    }

    Round(Sentence sentence, String translation, double score) {
        id = sentence.id();
        index = sentence.index();
        source = sentence.source();
        this.translation = translation;
        this.score = score;
    }

    /** Of the sentence that was translated. */
    public String id() {
        return id;
    }

    /** Of the round, counted from 0. */
    public int index() {
        return index;
    }

    /** What was to be translated. */
    public String source() {
        return source;
    }

    /** The one translation that was submitted. */
    public String translation() {
        return translation;
    }

    /** What it earned, in [0, 1]. */
    public double score() {
        return score;
    }

    @Override
    List<?> parts() {
        return List.of(id, index, source, translation, score);
    }
}
