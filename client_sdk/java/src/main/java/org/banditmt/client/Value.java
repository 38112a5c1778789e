package org.banditmt.client;

import java.util.List;

/** A result of the service: an immutable value with equality and a string form by its parts. (Records need JDK 16.) */
abstract class Value {
    abstract List<?> parts();

    @Override
    public final boolean equals(Object other) {
        return other != null && getClass() == other.getClass() && parts().equals(((Value) other).parts());
    }

    @Override
    public final int hashCode() {
        return parts().hashCode();
    }

    @Override
    public final String toString() {
        return Text.printable(getClass().getSimpleName() + parts());
    }
}
