package org.banditmt.client;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.banditmt.client.BanditError.ProtocolError;

/**
 * A JSON object from a response, with typed access to its fields. A field that is missing, has another type or is out
 * of range, or a string with control characters, means that the response is not that of a banditmt service, so the
 * methods throw a {@link ProtocolError}.
 */
final class JsonObject {
    private final Map<?, ?> fields;

    JsonObject(Map<?, ?> fields) {
        this.fields = fields;
    }

    String string(String name) {
        String text = field(name, String.class);
        if (!Text.isOneLine(text)) {
            throw invalidField(name);
        }
        return text;
    }

    /** Returns an integer of at least 0. */
    long longInteger(String name) {
        return integer(name, 0L, Long.MAX_VALUE);
    }

    /** Returns an integer of at least 0. */
    int integer(String name) {
        return integer(name, 0, Integer.MAX_VALUE);
    }

    int integer(String name, int atLeast, int atMost) {
        return (int) integer(name, (long) atLeast, (long) atMost);
    }

    private long integer(String name, long atLeast, long atMost) {
        long value = field(name, Long.class);
        if (value < atLeast || value > atMost) {
            throw invalidField(name);
        }
        return value;
    }

    /** Returns a number between 0 and {@code atMost}. Any other number, such as NaN, would spoil learning. */
    double number(String name, int atMost) {
        double value = field(name, Number.class).doubleValue();
        if (!(0 <= value && value <= atMost)) {
            throw invalidField(name);
        }
        return value;
    }

    double score() {
        return number("score", 1);
    }

    boolean bool(String name) {
        return field(name, Boolean.class);
    }

    JsonObject object(String name) {
        return new JsonObject(field(name, Map.class));
    }

    List<JsonObject> objects(String name) {
        List<JsonObject> objects = new ArrayList<>();
        for (Object item : field(name, List.class)) {
            if (!(item instanceof Map)) {
                throw invalidField(name);
            }
            objects.add(new JsonObject((Map<?, ?>) item));
        }
        return objects;
    }

    // Optional fields: empty if they are missing or null.

    Optional<String> optionalString(String name) {
        return isAbsent(name) ? Optional.empty() : Optional.of(string(name));
    }

    OptionalInt optionalInteger(String name) {
        return isAbsent(name) ? OptionalInt.empty() : OptionalInt.of(integer(name));
    }

    Optional<Boolean> optionalBool(String name) {
        return isAbsent(name) ? Optional.empty() : Optional.of(bool(name));
    }

    Optional<JsonObject> optionalObject(String name) {
        return isAbsent(name) ? Optional.empty() : Optional.of(object(name));
    }

    /** Returns a time in ISO 8601 with a zone. */
    Optional<Instant> optionalTime(String name) {
        try {
            return optionalString(name).map(text -> OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException notATime) {
            throw invalidField(name);
        }
    }

    /** Returns a string, or the default if it is missing, empty or not a string. */
    String stringOr(String name, String defaultValue) {
        Object value = fields.get(name);
        return value instanceof String && !((String) value).isEmpty() ? (String) value : defaultValue;
    }

    @SuppressWarnings("unchecked") // the keys of what Json reads are strings
    Map<String, Object> asMap() {
        return Collections.unmodifiableMap((Map<String, Object>) fields);
    }

    private boolean isAbsent(String name) {
        return fields.get(name) == null;
    }

    private <T> T field(String name, Class<T> type) {
        Object value = fields.get(name);
        if (!type.isInstance(value)) {
            throw invalidField(name);
        }
        return type.cast(value);
    }

    static ProtocolError invalidField(String name) {
        return new ProtocolError("the response has no valid '" + name
                + "'; check that the address is that of a banditmt service");
    }
}
