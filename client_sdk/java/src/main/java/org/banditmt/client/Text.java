package org.banditmt.client;

import java.util.Locale;

/** Text from servers, made safe to print. */
final class Text {
    private Text() {}

    /** Returns whether a text has no control characters (line breaks and tabs included) and no lone surrogates. */
    static boolean isOneLine(String text) {
        return text.codePoints().noneMatch(c -> Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE);
    }

    /**
     * Returns a text as one line that changes neither the state of a terminal nor the direction of writing. White space
     * becomes spaces. Other characters that are not printable, such as those of escape sequences and marks of
     * direction, are written as <code>&#92;x1b</code> or <code>&#92;u202e</code>.
     */
    static String printable(String text) {
        StringBuilder shown = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (c == ' ' || isJoiner(c) || isPrintable(c)) {
                shown.appendCodePoint(c);
            } else if (Character.isWhitespace(c) || Character.isSpaceChar(c) || c == 0x85) {
                shown.append(' ');
            } else {
                shown.append(String.format(Locale.ROOT, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c));
            }
        });
        return shown.toString();
    }

    private static boolean isJoiner(int codePoint) {
        return codePoint == 0x200c || codePoint == 0x200d; // not printable, but words of many languages need them
    }

    private static boolean isPrintable(int codePoint) {
        switch (Character.getType(codePoint)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.SURROGATE:
            case Character.PRIVATE_USE:
            case Character.UNASSIGNED:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.SPACE_SEPARATOR:
                return false;
            default:
                return true;
        }
    }
}
