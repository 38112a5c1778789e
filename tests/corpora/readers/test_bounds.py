"""Small hostile files take memory and work in proportion to their size, or are refused in one line."""

import re
import struct
import time
import tracemalloc
from contextlib import contextmanager
from xml.parsers import expat

import pytest

from corpora.entities import decode_entities
from corpora.errors import InputError
from corpora.readers import gettext_catalogues, read_input
from tests.corpora.readers.files import DE_EN, save

MIB = 1 << 20


@contextmanager
def peak_memory_below(limit):
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < limit


def read_all(path):
    """Read a file to its end; return how many pairs it has."""
    return sum(1 for _ in read_input(str(path), DE_EN))


def compiled(strings, *, shared=None):
    """An MO file of pairs of strings, or of so many entries that share one pair."""
    pairs = strings if shared is None else strings * shared
    entries, texts, offsets = len(pairs), b"", {}
    start = 28 + 16 * entries
    for text in {text for pair in pairs for text in pair}:
        offsets[text] = start + len(texts)
        texts += text + b"\0"
    tables = [struct.pack("<2I", len(pair[side]), offsets[pair[side]]) for side in (0, 1) for pair in pairs]
    header = struct.pack("<7I", 0x950412DE, 0, entries, 28, 28 + 8 * entries, 0, 0)
    return header + b"".join(tables) + texts


class TestCompiledCatalogues:
    def test_entries_that_share_a_long_string_are_refused(self, tmp_path):
        """0.1 MB would become 250 MB of text; with a file of 0.45 MB, it was 3.46 GB."""
        (tmp_path / "a.mo").write_bytes(compiled([(b"x", b"y" * 50_000)], shared=5_000))
        with (
            peak_memory_below(2 * MIB),
            pytest.raises(InputError, match=r"a\.mo: .*\(its strings are more than 2 times as long as the file\)$"),
        ):
            read_all(tmp_path / "a.mo")

    def test_many_small_entries_are_not_kept(self, tmp_path):
        (tmp_path / "a.mo").write_bytes(compiled([(b"x", b"y")], shared=5_000))
        with peak_memory_below(MIB // 2):
            assert read_all(tmp_path / "a.mo") == 5_000

    def test_strings_that_are_written_once_are_read(self, tmp_path):
        header = (b"", b"Content-Type: text/plain; charset=ISO-8859-1\n")
        plural = (b"menu\4%d file\0%d files", b"%d Datei\0%d Dateien")
        (tmp_path / "a.mo").write_bytes(compiled([header, (b"size", "Größe".encode("latin-1")), plural]))
        assert [pair[:2] for pair in read_input(str(tmp_path / "a.mo"), DE_EN)] == [
            ("Größe", "size"),
            ("%d Datei", "%d file"),
            ("%d Dateien", "%d files"),
        ]

    @pytest.mark.parametrize(
        ("position", "value", "reason"),
        [
            (8, 2**31, "Invalid mo file, its 2,147,483,648 entries do not fit into it"),
            (28, 2**31, "Invalid mo file, a string of entry 0 is too long"),
            (32, 2**31, "Invalid mo file, a string of entry 0 is too long"),
            (4, 7 << 16, "Invalid mo file, its major revision is 7"),
        ],
    )
    def test_numbers_that_lead_out_of_the_file_are_refused(self, tmp_path, position, value, reason):
        content = bytearray(compiled([(b"x", b"y")]))
        struct.pack_into("<I", content, position, value)
        (tmp_path / "a.mo").write_bytes(content)
        with pytest.raises(InputError, match=re.escape(reason)):
            read_all(tmp_path / "a.mo")

    @pytest.mark.parametrize("encoding", ["punycode", "idna", "utf-16", "unicode_escape", "utf-7", "base64"])
    def test_an_encoding_that_is_not_one_of_text_is_refused(self, tmp_path, encoding):
        (tmp_path / "a.mo").write_bytes(compiled([(b"", f"charset={encoding}\n".encode()), (b"x", b"y")]))
        po = save(tmp_path / "a.po", f'msgid ""\nmsgstr ""\n"charset={encoding}\\n"\n\nmsgid "x"\nmsgstr "y"\n')
        for path in (tmp_path / "a.mo", po):
            with pytest.raises(InputError, match=rf"the encoding '{encoding}' is not one of text; convert it to UTF-8"):
                read_all(path)


class TestTextCatalogues:
    def test_continuation_lines_are_joined_once(self, tmp_path, monkeypatch):
        """Appending each line to the text before it would copy some gigabytes."""
        joined: list[int] = []
        begin = gettext_catalogues._TextCatalogue._begin

        def count(self):
            joined.append(sum(map(len, getattr(self, "_fields", {}).values())))
            begin(self)

        monkeypatch.setattr(gettext_catalogues._TextCatalogue, "_begin", count)
        lines = '"x"\n' * 100_000
        po = save(tmp_path / "a.po", f'msgid "y"\nmsgstr ""\n{lines}')
        [pair] = read_input(str(po), DE_EN)
        assert (len(pair.source), joined) == (100_000, [0, 100_002])

    def test_a_message_is_bounded(self, tmp_path):
        po = save(tmp_path / "a.po", 'msgid "y"\nmsgstr ""\n' + f'"{"x" * 1_000}"\n' * 1_100)
        with (
            peak_memory_below(4 * MIB),
            pytest.raises(InputError, match=r"a\.po:1051: .*\(the message has more than 1,048,576 characters\)$"),
        ):
            read_all(po)

    @pytest.mark.parametrize("line", ["# comment", "#. comment", "#: file.c:1", "#| msgid 'x'", '#~ msgid "x"'])
    def test_comments_are_not_kept(self, tmp_path, line):
        po = save(tmp_path / "a.po", f"{line}\n" * 20_000 + 'msgid "y"\nmsgstr "x"\n')
        with peak_memory_below(MIB // 4):
            assert read_all(po) == 1

    def test_messages_are_not_kept(self, tmp_path):
        po = save(tmp_path / "a.po", 'msgid "y"\nmsgstr "x"\n' * 5_000)
        with peak_memory_below(MIB // 4):
            assert read_all(po) == 5_000

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ('msgid "a"\nmsgstr "b" "c"\n', r"a\.po:2: .*neither a keyword with a string, nor a string"),
            ('msgid "a"\nmsgstr "b\n', r"a\.po:2: .*neither a keyword with a string, nor a string"),
            ('"a"\n', r"a\.po:1: .*a string without a keyword before it"),
            ('msgstr "a"\n', r"a\.po:1: .*msgstr is out of order"),
            ('msgid "a"\nmsgid "b"\n', r"a\.po:2: .*msgid is out of order"),
            ('msgid "a"\nmsgstr[0] "b"\nmsgstr[0] "c"\n', r"a\.po:3: .*msgstr\[0\] is out of order"),
            ("x" * (MIB + 1), r"a\.po:1: .*the line is longer than 1,048,576 bytes"),
        ],
    )
    def test_malformed_lines_are_refused(self, tmp_path, text, complaint):
        with pytest.raises(InputError, match=complaint):
            read_all(save(tmp_path / "a.po", text))

    def test_escapes_contexts_and_encodings(self, tmp_path):
        text = (
            '# Jörg\nmsgid ""\nmsgstr ""\n"Last-Translator: Jörg\\n"\n"Content-Type: text/plain; charset=latin1\\n"\n\n'
            'msgctxt "menu"\nmsgid "a \\"b\\""\nmsgstr "ä \\"b\\"\\tc"\n\n#, c-format, fuzzy\nmsgid "d"\nmsgstr "e"\n'
        )
        po = save(tmp_path / "a.po", text, "latin-1")
        assert list(read_input(str(po), DE_EN)) == [('ä "b" c', 'a "b"', "a.po")]


class ScannedBytes:
    """Counts the bytes that the parser is given while a token is incomplete: it scans them again with each chunk."""

    def __init__(self, monkeypatch):
        self.total, create = 0, expat.ParserCreate
        counter = self

        class Parser:
            def __init__(self):
                object.__setattr__(self, "parser", create())
                object.__setattr__(self, "given", 0)

            def __getattr__(self, name):
                return getattr(self.parser, name)

            def __setattr__(self, name, value):
                setattr(self.parser, name, value)

            def Parse(self, chunk, is_final):  # noqa: N802 (expat's name)
                pending = self.given - self.parser.CurrentByteIndex if self.given else 0
                counter.total += pending + len(chunk)
                object.__setattr__(self, "given", self.given + len(chunk))
                return self.parser.Parse(chunk, is_final)

        monkeypatch.setattr(expat, "ParserCreate", Parser)


class TestXml:
    @pytest.mark.parametrize(
        ("opening", "filling"),
        [
            ("<!-- ", "x"),
            ("<tu a='", "x"),
            ("<tu ", "a='' "),
            ("<?pi ", "x"),
            ("<!DOCTYPE x SYSTEM '", "x"),
            ("<", "x"),
        ],
        ids=["comment", "attribute", "attributes", "instruction", "doctype", "name"],
    )
    def test_an_endless_token_is_refused(self, tmp_path, monkeypatch, opening, filling):
        root = "" if "DOCTYPE" in opening else "<tmx>"
        path = save(tmp_path / "a.tmx", root + opening + filling * (8 * MIB // len(filling)))
        scanned = ScannedBytes(monkeypatch)
        with (
            peak_memory_below(6 * MIB),
            pytest.raises(InputError, match=r"a\.tmx:1: has a tag, comment or declaration of more than 1,048,576 "),
        ):
            read_all(path)
        assert scanned.total < 12 * MIB  # without a bound, half a gigabyte

    def test_long_comments_and_texts_within_the_bound_are_read(self, tmp_path):
        unit = f'<tu><tuv lang="de"><seg>{"x" * 500_000}</seg></tuv><tuv lang="en"><seg>y</seg></tuv></tu>'
        path = save(tmp_path / "a.tmx", f"<tmx><!-- {'c' * 900_000} -->{unit * 4}</tmx>")
        assert read_all(path) == 4

    def test_defaults_of_attributes_are_refused(self, tmp_path):
        """Every element would have a copy of them: this file of 40 kB would take 300 MB."""
        declared = f'<!DOCTYPE tmx [<!ATTLIST tu note CDATA "{"x" * 10_000}">]>'
        path = save(tmp_path / "a.tmx", f"{declared}<tmx>{'<tu/>' * 6_000}</tmx>")
        with (
            peak_memory_below(2 * MIB),
            pytest.raises(InputError, match=r"a\.tmx:1: defines a default of attribute 'note' of 'tu'; remove it"),
        ):
            read_all(path)

    @pytest.mark.parametrize("encoding", ["utf-32", "gbk", "nonsense", "punycode", "idna", "base64", "undefined"])
    def test_an_encoding_that_cannot_be_read_is_refused_in_one_line(self, tmp_path, encoding):
        path = save(tmp_path / "a.tmx", f'<?xml version="1.0" encoding="{encoding}"?><tmx></tmx>')
        with pytest.raises(InputError, match=r"a\.tmx:1: is in an encoding that cannot be read; convert it to UTF-8"):
            read_all(path)

    def test_languages_are_listed_but_not_without_bound(self, tmp_path):
        units = "".join(f'<tu><tuv lang="x-{n}"><seg>x</seg></tuv></tu>' for n in range(2_000))
        long = f'<tu><tuv lang="{"y" * 500_000}"><seg>x</seg></tuv></tu>'
        with pytest.raises(InputError, match=r"x-0, x-1, x-10, .*, and 980 more$") as refused:
            read_all(save(tmp_path / "a.tmx", f"<tmx>{long}{units}</tmx>"))
        assert len(str(refused.value)) < 500


def seconds(work, text):
    started = time.process_time()
    work(text)
    return time.process_time() - started


def test_spaces_after_an_angle_bracket_are_searched_once(tmp_path):
    """Quadratic, this would take hours."""
    line = f'<doc docid="a"><seg id="1">x < {" " * 500_000} y</seg></doc>\n'
    sides = [save(tmp_path / f"a.{side}.sgm", line) for side in ("de", "en")]
    assert seconds(lambda given: list(read_input(given, DE_EN)), ",".join(map(str, sides))) < 20


def test_text_that_was_escaped_a_hundred_times_is_decoded_no_further():
    assert decode_entities("&" + "amp;" * 100 + "lt;") == "&lt;"
    assert decode_entities("&" + "amp;" * 99 + "lt;") == "<"
    assert decode_entities("&" + "amp;" * 250_000) == "&" + "amp;" * 249_900
