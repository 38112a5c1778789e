package org.banditmt.client;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Parallel text from outside the task's domain, on which a system may be trained before it plays. */
public final class OutOfDomainText extends Value {
    private final Optional<String> url;
    private final List<OutOfDomainFile> files;

    OutOfDomainText(JsonObject response) {
        url = response.optionalString("url");
        files = response.objects("files").stream().map(OutOfDomainFile::new).collect(Collectors.toUnmodifiableList());
    }

    /**
     * Returns where the organiser publishes the text.
     *
     * @return the address; empty if the organiser does not say
     */
    public Optional<String> url() {
        return url;
    }

    /**
     * Returns one file per language. Line n of one translates line n of the other.
     *
     * @return the files
     */
    public List<OutOfDomainFile> files() {
        return files;
    }

    @Override
    List<?> parts() {
        return List.of(url, files);
    }
}
