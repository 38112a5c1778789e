package org.banditmt.client;

import java.util.List;
import java.util.Optional;

/** What a task says about itself. */
public final class TaskInfo extends Value {
    private final Optional<String> title;
    private final String source;
    private final String target;
    private final TextConvention text;
    private final List<Phase> phases;
    private final Optional<String> licence;
    private final Optional<String> contact;
    private final Optional<OutOfDomainText> outOfDomain;
    private final boolean documents;

    TaskInfo(JsonObject response) {
        title = response.optionalString("title");
        source = response.string("source");
        target = response.string("target");
        text = new TextConvention(response.object("text"));
        phases = Phase.listIn(response);
        licence = response.optionalString("licence");
        contact = response.optionalString("contact");
        outOfDomain = response.optionalObject("out_of_domain").map(OutOfDomainText::new);
        documents = response.optionalBool("documents").orElse(false);
    }

    /**
     * Returns the title.
     *
     * @return the title; empty if the organiser gave none
     */
    public Optional<String> title() {
        return title;
    }

    /**
     * Returns the language to translate from.
     *
     * @return the language, such as {@code "de"}; {@code "und"} if the service does not know it
     */
    public String source() {
        return source;
    }

    /**
     * Returns the language to translate into.
     *
     * @return the language, such as {@code "en"}; {@code "und"} if the service does not know it
     */
    public String target() {
        return target;
    }

    /**
     * Returns how the sentences are written, and the translations should be.
     *
     * @return the text convention
     */
    public TextConvention text() {
        return text;
    }

    /**
     * Returns the phases.
     *
     * @return the phases, as {@link Client#phases} returns them
     */
    public List<Phase> phases() {
        return phases;
    }

    /**
     * Returns the licence of the data.
     *
     * @return the licence; empty if the organiser gave none
     */
    public Optional<String> licence() {
        return licence;
    }

    /**
     * Returns where to ask the organiser.
     *
     * @return the contact; empty if the organiser gave none
     */
    public Optional<String> contact() {
        return contact;
    }

    /**
     * Returns where the out-of-domain text is.
     *
     * @return the out-of-domain text; empty if there is none
     */
    public Optional<OutOfDomainText> outOfDomain() {
        return outOfDomain;
    }

    /**
     * Returns whether the sentences of some phase belong to documents.
     *
     * @return whether there are documents
     */
    public boolean documents() {
        return documents;
    }

    @Override
    List<?> parts() {
        return List.of(title, source, target, text, phases, licence, contact, outOfDomain, documents);
    }
}
