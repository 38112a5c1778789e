package org.banditmt.client;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A strict JSON (RFC 8259) reader, and a writer for the few objects that the protocol sends. Objects are read as maps
 * in their order, arrays as lists, integers as {@link Long} where they fit, and other numbers as {@link Double}.
 */
final class Json {
    static final int MAX_DEPTH = 64; // of nested arrays and objects; the protocol needs a handful

    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    /** The text is not JSON, or nested more deeply than {@code MAX_DEPTH}. */
    @SuppressWarnings("serial")
    static final class MalformedException extends Exception {
        MalformedException(String message) {
            super(message);
        }
    }

    private final String text;
    private int position;

    private Json(String text) {
        this.text = text;
    }

    /** Returns the value of a JSON text in UTF-8. */
    static Object read(byte[] bytes) throws MalformedException {
        try {
            return read(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        } catch (CharacterCodingException notUtf8) {
            throw new MalformedException(bytes.length + " bytes that are not UTF-8");
        }
    }

    /** Returns the value of a JSON text, which may have white space around it and nothing else. */
    static Object read(String text) throws MalformedException {
        Json json = new Json(text);
        Object value = json.value(0);
        if (json.position < text.length()) {
            throw json.malformed("unexpected text after the value");
        }
        return value;
    }

    // Reading: every method starts at the first character of what it reads, or at white space before it.

    private Object value(int depth) throws MalformedException {
        skipSpace();
        Object value;
        switch (peek()) {
            case '{':
                value = object(depth + 1);
                break;
            case '[':
                value = array(depth + 1);
                break;
            case '"':
                value = string();
                break;
            case 't':
                value = literal("true", true);
                break;
            case 'f':
                value = literal("false", false);
                break;
            case 'n':
                value = literal("null", null);
                break;
            default:
                value = number();
        }
        skipSpace();
        return value;
    }

    private Map<String, Object> object(int depth) throws MalformedException {
        enter('{', depth);
        Map<String, Object> members = new LinkedHashMap<>();
        for (boolean more = !leave('}'); more; more = hasMore('}')) {
            skipSpace();
            String name = string();
            skipSpace();
            expect(':');
            if (members.containsKey(name)) {
                throw malformed("duplicate name");
            }
            members.put(name, value(depth));
        }
        return members;
    }

    private List<Object> array(int depth) throws MalformedException {
        enter('[', depth);
        List<Object> items = new ArrayList<>();
        for (boolean more = !leave(']'); more; more = hasMore(']')) {
            items.add(value(depth));
        }
        return items;
    }

    private void enter(char bracket, int depth) throws MalformedException {
        if (depth > MAX_DEPTH) {
            throw malformed("more than " + MAX_DEPTH + " levels of nesting");
        }
        expect(bracket);
        skipSpace();
    }

    private boolean leave(char bracket) {
        boolean closed = peek() == bracket;
        position += closed ? 1 : 0;
        return closed;
    }

    private boolean hasMore(char bracket) throws MalformedException {
        if (leave(bracket)) {
            return false;
        }
        expect(',');
        return true;
    }

    private Object literal(String word, Object value) throws MalformedException {
        if (!text.startsWith(word, position)) {
            throw malformed("expected a value");
        }
        position += word.length();
        return value;
    }

    private Number number() throws MalformedException {
        Matcher matcher = NUMBER.matcher(text).region(position, text.length());
        if (!matcher.lookingAt()) {
            throw malformed("expected a value");
        }
        position = matcher.end();
        if (matcher.group(1) == null && matcher.group(2) == null) {
            try {
                return Long.valueOf(matcher.group());
            } catch (NumberFormatException large) {
                // still a number, though not exactly
            }
        }
        double number = Double.parseDouble(matcher.group());
        if (Double.isInfinite(number)) {
            throw malformed("number out of range");
        }
        return number;
    }

    private String string() throws MalformedException {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char next = take();
            if (next < ' ') {
                throw malformed("control character in a string");
            }
            string.append(next == '\\' ? escaped() : next);
        }
        position++;
        if (string.codePoints().anyMatch(Json::isSurrogate)) {
            throw malformed("lone surrogate in a string");
        }
        return string.toString();
    }

    private char escaped() throws MalformedException {
        char letter = take();
        if (letter == 'u') {
            int code = 0;
            for (int digits = 0; digits < 4; digits++) {
                char taken = take();
                int digit = taken < 0x80 ? Character.digit(taken, 16) : -1; // only ASCII digits
                if (digit < 0) {
                    throw malformed("invalid escape");
                }
                code = code * 16 + digit;
            }
            return (char) code;
        }
        int index = "\"\\/bfnrt".indexOf(letter);
        if (index < 0) {
            throw malformed("invalid escape");
        }
        return "\"\\/\b\f\n\r\t".charAt(index);
    }

    private void skipSpace() {
        while (position < text.length() && " \t\n\r".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private void expect(char expected) throws MalformedException {
        if (take() != expected) {
            position--;
            throw malformed("expected " + expected);
        }
    }

    private char take() throws MalformedException {
        if (position >= text.length()) {
            throw malformed("unexpected end");
        }
        return text.charAt(position++);
    }

    private char peek() {
        return position < text.length() ? text.charAt(position) : '\0'; // allowed nowhere
    }

    private MalformedException malformed(String what) {
        return new MalformedException(what + " at character " + position + " of " + text.length());
    }

    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    /**
     * Returns an object of strings, finite numbers and booleans as JSON. Lone surrogates are escaped, so that the
     * service can refuse them.
     */
    static String write(Map<String, ?> members) {
        StringBuilder out = new StringBuilder("{");
        members.forEach((name, value) -> {
            out.append(out.length() > 1 ? "," : "");
            writeString(name, out);
            out.append(':');
            if (value instanceof String) {
                writeString((String) value, out);
            } else {
                out.append(value);
            }
        });
        return out.append('}').toString();
    }

    private static void writeString(String string, StringBuilder out) {
        out.append('"');
        string.codePoints().forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').append((char) c);
            } else if (c < ' ' || isSurrogate(c)) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        out.append('"');
    }
}
