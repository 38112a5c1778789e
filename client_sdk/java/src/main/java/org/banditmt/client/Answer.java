package org.banditmt.client;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.banditmt.client.BanditError.ProtocolError;

/** A JSON object from the service. An answer without the fields asked for does not come from a banditmt service. */
final class Answer {
    private final Map<?, ?> fields;

    Answer(Map<?, ?> fields) {
        this.fields = fields;
    }

    String text(String name) {
        return field(name, String.class);
    }

    int integer(String name) {
        long value = field(name, Long.class);
        if (value != (int) value) {
            throw unusable(name);
        }
        return (int) value;
    }

    /** A number that is not negative and not larger than it can be; one that is none would spoil what is learned. */
    double number(String name, int atMost) {
        double value = field(name, Number.class).doubleValue();
        if (!(0 <= value && value <= atMost)) {
            throw unusable(name);
        }
        return value;
    }

    double score() {
        return number("score", 1);
    }

    boolean flag(String name) {
        return field(name, Boolean.class);
    }

    List<?> list(String name) {
        return field(name, List.class);
    }

    /** A field that is an answer itself, or null. */
    Answer answerOrNull(String name) {
        return fields.get(name) == null ? null : new Answer(field(name, Map.class));
    }

    /** The same field, where it may be missing or of another kind. */
    String textOr(String name, String otherwise) {
        Object value = fields.get(name);
        return value instanceof String && !((String) value).isEmpty() ? (String) value : otherwise;
    }

    @SuppressWarnings("unchecked") // the keys of what Json reads are strings
    Map<String, Object> asMap() {
        return Collections.unmodifiableMap((Map<String, Object>) fields);
    }

    private <T> T field(String name, Class<T> kind) {
        Object value = fields.get(name);
        if (!kind.isInstance(value)) {
            throw unusable(name);
        }
        return kind.cast(value);
    }

    static ProtocolError unusable(String name) {
        return new ProtocolError(
                "the answer of the service has no usable '" + name + "'; is this the address of the service?");
    }
}
