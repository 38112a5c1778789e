package org.banditmt.client;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Checks of what the JSON reader accepts and rejects, and what the writer writes. Prints their number, or fails. */
final class JsonChecks {
    private static int checks;

    private JsonChecks() {}

    public static void main(String[] arguments) throws Exception {
        values();
        numbers();
        strings();
        rejections();
        depth();
        bytes();
        writing();
        System.out.println(checks + " checks");
    }

    private static void values() throws Exception {
        reads("{}", Map.of());
        reads("[]", List.of());
        reads(" \t\r\n[ ] \n", List.of());
        reads("null", null);
        reads("[true, false , null]", Arrays.asList(true, false, null));
        reads("{\"a\":{\"b\":[1,{}]},\"c\":null}", mapOf("a", Map.of("b", List.of(1L, Map.of())), "c", null));
        Map<?, ?> ordered = (Map<?, ?>) Json.read("{\"z\":1,\"a\":2,\"m\":3}");
        check(List.copyOf(ordered.keySet()).equals(List.of("z", "a", "m")), "members must keep their order");
    }

    private static void numbers() throws Exception {
        reads("0", 0L);
        reads("-0", 0L);
        reads("-17", -17L);
        reads("9223372036854775807", Long.MAX_VALUE);
        reads("-9223372036854775808", Long.MIN_VALUE);
        reads("9223372036854775808", 9.223372036854775808e18);
        reads("0.1", 0.1);
        reads("-0.0", -0.0);
        reads("1e3", 1000.0);
        reads("1E+2", 100.0);
        reads("25e-1", 2.5);
        reads("0.30000000000000004", 0.30000000000000004);
        reads("5e-324", Double.MIN_VALUE);
        reads("1e-999", 0.0);
    }

    private static void strings() throws Exception {
        reads("\"\"", "");
        reads("\"größe 漢字 😀\"", "größe 漢字 😀");
        reads("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
        reads("\"\\u00fc\\u00FC\\u0000\"", "üü\0");
        reads("\"\\ud83d\\ude00\"", "😀");
        reads("\"\u007f\u2028\"", "\u007f\u2028");
    }

    private static void rejections() {
        for (String text : List.of(
                "", " ", "{", "[", "\"", "\"a", "\"\\", "\"\\u00", "tru", "nul", "True", "NaN", "Infinity", "-Infinity",
                "-", "+1", "01", "-01", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "1_000", "1 2", "[1]]", "{}{}", "null,",
                "[1,]", "[,1]", "[1 2]", "[1;2]", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\" 1}", "{a:1}",
                "{1:1}", "{'a':1}", "{\"a\":1]", "[1}", "// no\n1", "\ufeff1", "\u00a01", "1e999", "-1e999",
                "\"\n\"", "\"\t\"", "\"\0\"", "\"\\x41\"", "\"\\'\"", "\"\\u12g4\"", "\"\\u+123\"", "\"\\u１２３４\"",
                "\"\\ud83d\"", "\"\\ude00\"", "\"\\ude00\\ud83d\"", "\"\\ud83d \\ude00\"", "{\"a\":1,\"a\":2}")) {
            rejects(text);
        }
    }

    private static void depth() throws Exception {
        Object nested = Json.read("[".repeat(Json.MAX_DEPTH) + "]".repeat(Json.MAX_DEPTH));
        for (int level = 1; level < Json.MAX_DEPTH; level++) {
            nested = ((List<?>) nested).get(0);
        }
        check(nested.equals(List.of()), "the maximum depth must be accepted");
        rejects("[".repeat(Json.MAX_DEPTH + 1) + "]".repeat(Json.MAX_DEPTH + 1));
        rejects("{\"a\":".repeat(Json.MAX_DEPTH + 1) + "1" + "}".repeat(Json.MAX_DEPTH + 1));
        rejects("[".repeat(1_000_000));
    }

    private static void bytes() throws Exception {
        check("ü".equals(Json.read("\"ü\"".getBytes(StandardCharsets.UTF_8))), "UTF-8 must be read");
        for (int[] wrong : new int[][] {{0xfc}, {0xc3}, {0xc0, 0x80}, {0xed, 0xa0, 0x80}, {0xf5, 0x80, 0x80, 0x80}}) {
            byte[] text = new byte[wrong.length + 2];
            text[0] = text[text.length - 1] = '"';
            for (int index = 0; index < wrong.length; index++) {
                text[index + 1] = (byte) wrong[index];
            }
            try {
                throw new AssertionError("read " + Arrays.toString(wrong) + " as " + Json.read(text));
            } catch (Json.MalformedException expected) {
                check(expected.getMessage().contains("not UTF-8"), expected.getMessage());
            }
        }
    }

    private static void writing() throws Exception {
        writes(Map.of(), "{}");
        writes(Map.of("a", "ü 😀 \u2028"), "{\"a\":\"ü 😀 \u2028\"}");
        writes(Map.of("a", "\"\\/\n\t\0\u001f"), "{\"a\":\"\\\"\\\\/\\u000a\\u0009\\u0000\\u001f\"}");
        writes(Map.of("a", "\ud800x\udfff"), "{\"a\":\"\\ud800x\\udfff\"}");
        Map<String, String> two = new LinkedHashMap<>();
        two.put("b", "1");
        two.put("\"", "");
        writes(two, "{\"b\":\"1\",\"\\\"\":\"\"}");
        writes(Map.of("a", false), "{\"a\":false}");
        for (double number : new double[] {0.0, -0.0, -1.25, -1e-300, -Double.MAX_VALUE, -Double.MIN_VALUE, -1e7}) {
            check(Map.of("a", number).equals(Json.read(Json.write(Map.of("a", number)))), "must read back: " + number);
        }
        StringBuilder everything = new StringBuilder();
        for (int code = 0; code <= Character.MAX_CODE_POINT; code += code < 0x3000 ? 1 : 97) {
            if (code < Character.MIN_SURROGATE || code > Character.MAX_SURROGATE) {
                everything.appendCodePoint(code);
            }
        }
        Map<String, String> all = Map.of("all", everything.toString());
        check(all.equals(Json.read(Json.write(all))), "written JSON must read back");
    }

    private static Map<String, Object> mapOf(String first, Object one, String second, Object two) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put(first, one);
        map.put(second, two);
        return map;
    }

    private static void reads(String text, Object expected) throws Exception {
        Object value = Json.read(text);
        check(Objects.equals(value, expected), text + " was read as " + value);
    }

    private static void rejects(String text) {
        try {
            Object value = Json.read(text);
            throw new AssertionError(text + " was read as " + value);
        } catch (Json.MalformedException expected) {
            check(expected.getMessage().matches(".* at character \\d+ of \\d+"), expected.getMessage());
        }
    }

    private static void writes(Map<String, ?> value, String expected) {
        String text = Json.write(value);
        check(text.equals(expected), value + " was written as " + text);
    }

    private static void check(boolean holds, String message) {
        checks++;
        if (!holds) {
            throw new AssertionError(message);
        }
    }
}
