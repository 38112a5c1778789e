package org.banditmt.client;

import java.util.List;
import java.util.Optional;

/** One language of the out-of-domain text. */
public final class OutOfDomainFile extends Value {
    private final String language;
    private final long lines;
    private final long bytes;
    private final String sha256;
    private final Optional<String> url;

    OutOfDomainFile(JsonObject response) {
        language = response.string("language");
        lines = response.longInteger("lines");
        bytes = response.longInteger("bytes");
        sha256 = response.string("sha256");
        url = response.optionalString("url");
    }

    /**
     * Returns the language.
     *
     * @return the language, such as {@code "de"}
     */
    public String language() {
        return language;
    }

    /**
     * Returns the number of sentences.
     *
     * @return the number of sentences
     */
    public long lines() {
        return lines;
    }

    /**
     * Returns the size of the text, before compression.
     *
     * @return the number of bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns the digest of the text, before compression.
     *
     * @return the digest in hexadecimal digits
     */
    public String sha256() {
        return sha256;
    }

    /**
     * Returns the path of the gzip file, to append to the address of the service.
     *
     * @return the path; empty if the service does not have the file
     */
    public Optional<String> url() {
        return url;
    }

    @Override
    List<?> parts() {
        return List.of(language, lines, bytes, sha256, url);
    }
}
