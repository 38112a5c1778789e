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
 * As much JSON (RFC 8259) as the protocol needs, read strictly: objects become maps in their order, arrays lists, whole
 * numbers {@link Long} where they fit, other numbers {@link Double}.
 */
final class Json {
    static final int DEEPEST = 64; // arrays and objects in each other; the protocol has a handful

    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    /** What was read is not JSON, or more than anyone needs. */
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

    /** The value that these bytes of UTF-8 are. */
    static Object read(byte[] bytes) throws MalformedException {
        try {
            return read(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        } catch (CharacterCodingException notText) {
            throw new MalformedException(bytes.length + " bytes that are not UTF-8");
        }
    }

    /** The value that this text is, with nothing but white space around it. */
    static Object read(String text) throws MalformedException {
        Json json = new Json(text);
        Object value = json.value(0);
        if (json.position < text.length()) {
            throw json.malformed("something after the end");
        }
        return value;
    }

    // reading: every method begins at the first character of what it reads, or at white space before it

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
        for (boolean more = !leave('}'); more; more = goesOn('}')) {
            skipSpace();
            String name = string();
            skipSpace();
            expect(':');
            if (members.containsKey(name)) {
                throw malformed("a name that was there already");
            }
            members.put(name, value(depth));
        }
        return members;
    }

    private List<Object> array(int depth) throws MalformedException {
        enter('[', depth);
        List<Object> items = new ArrayList<>();
        for (boolean more = !leave(']'); more; more = goesOn(']')) {
            items.add(value(depth));
        }
        return items;
    }

    private void enter(char bracket, int depth) throws MalformedException {
        if (depth > DEEPEST) {
            throw malformed("more than " + DEEPEST + " levels");
        }
        expect(bracket);
        skipSpace();
    }

    private boolean leave(char bracket) {
        boolean closed = peek() == bracket;
        position += closed ? 1 : 0;
        return closed;
    }

    private boolean goesOn(char bracket) throws MalformedException {
        if (leave(bracket)) {
            return false;
        }
        expect(',');
        return true;
    }

    private Object literal(String word, Object value) throws MalformedException {
        if (!text.startsWith(word, position)) {
            throw malformed("no value");
        }
        position += word.length();
        return value;
    }

    private Number number() throws MalformedException {
        Matcher matcher = NUMBER.matcher(text).region(position, text.length());
        if (!matcher.lookingAt()) {
            throw malformed("no value");
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
            throw malformed("a number beyond all bounds");
        }
        return number;
    }

    private String string() throws MalformedException {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (peek() != '"') {
            char next = take();
            if (next < ' ') {
                throw malformed("a control character in a string");
            }
            string.append(next == '\\' ? escaped() : next);
        }
        position++;
        if (string.codePoints().anyMatch(Json::isSurrogate)) {
            throw malformed("half a character");
        }
        return string.toString();
    }

    private char escaped() throws MalformedException {
        char letter = take();
        if (letter == 'u') {
            int code = 0;
            for (int digits = 0; digits < 4; digits++) {
                char taken = take();
                int digit = taken < 0x80 ? Character.digit(taken, 16) : -1; // not the digits of other scripts
                if (digit < 0) {
                    throw malformed("an escape that is none");
                }
                code = code * 16 + digit;
            }
            return (char) code;
        }
        int which = "\"\\/bfnrt".indexOf(letter);
        if (which < 0) {
            throw malformed("an escape that is none");
        }
        return "\"\\/\b\f\n\r\t".charAt(which);
    }

    private void skipSpace() {
        while (position < text.length() && " \t\n\r".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private void expect(char wanted) throws MalformedException {
        if (take() != wanted) {
            position--;
            throw malformed("no " + wanted);
        }
    }

    private char take() throws MalformedException {
        if (position >= text.length()) {
            throw malformed("the end too early");
        }
        return text.charAt(position++);
    }

    private char peek() {
        return position < text.length() ? text.charAt(position) : '\0'; // which is nowhere allowed
    }

    private MalformedException malformed(String what) {
        return new MalformedException(what + " at character " + position + " of " + text.length());
    }

    private static boolean isSurrogate(int codePoint) {
        return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    }

    /** An object of strings as text. Half a character is escaped, so that it arrives and can be refused. */
    static String write(Map<String, String> members) {
        StringBuilder out = new StringBuilder("{");
        members.forEach((name, value) -> {
            out.append(out.length() > 1 ? "," : "");
            writeString(name, out);
            out.append(':');
            writeString(value, out);
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
