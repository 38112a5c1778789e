package org.banditmt.client;

import java.util.List;

/** How the sentences of a task are written, and how a translation should be written to score well. */
public final class TextConvention extends Value {
    private final String signature;
    private final String description;

    TextConvention(JsonObject response) {
        signature = response.string("signature");
        description = response.string("description");
    }

    /**
     * Returns the convention in short.
     *
     * @return the signature, for programs to compare
     */
    public String signature() {
        return signature;
    }

    /**
     * Returns the convention in words.
     *
     * @return the description
     */
    public String description() {
        return description;
    }

    @Override
    List<?> parts() {
        return List.of(signature, description);
    }
}
