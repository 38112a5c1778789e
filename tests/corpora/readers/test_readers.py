"""Every format gives the same pairs, and refuses what is wrong with its place."""

import contextlib
import gzip
import re
from pathlib import Path

import polib
import pytest

from corpora.errors import InputError
from corpora.readers import gettext, read_input
from corpora.readers.languages import same_language
from corpora.task import Pair

DE_EN = ("de", "en")
PAIRS = [Pair("Größe XL", "size XL", "shop"), Pair("rot & blau", "red & blue", "shop")]

TMX = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en"/><body>
<tu tuid="1"><prop type="x-document">shop</prop>
  <tuv xml:lang="EN-US"><seg>size <hi>X<bpt i="1">{{b}}</bpt></hi>L<ept i="1">{{/b}}</ept></seg></tuv>
  <tuv xml:lang="de-DE"><seg>Größe XL</seg></tuv></tu>
<tu tuid="1"><prop type="document">shop</prop>
  <tuv lang="de"><seg>rot &amp; blau</seg></tuv><tuv lang="de"><seg>ignored</seg></tuv>
  <tuv lang="en"><seg>red &amp; blue</seg></tuv></tu>
<tu><tuv lang="de"><seg>allein</seg></tuv></tu>
</body></tmx>
"""
SOURCE_SGM = """<srcset setid="test" srclang="any">
<doc docid="shop" genre="shop">
<p>
<seg id="1">Größe XL</seg>
<seg id="2">rot &amp; blau</seg>
</p>
</doc>
</srcset>
"""
TARGET_SGM = SOURCE_SGM.replace("Größe XL", "size XL").replace("rot &amp; blau", "red & blue").replace("seg", "SEG")
WMT_XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="test">
<doc origlang="de" id="shop">
<src lang="de"><p><seg id="1">Größe XL</seg><seg id="2">rot &amp; blau</seg></p></src>
<hyp system="x"><p><seg id="1">wrong</seg></p></hyp>
<ref lang="fr"><p><seg id="1">taille XL</seg></p></ref>
<ref lang="en" translator="A"><p><seg id="1">size XL</seg></p><p><seg id="2">red &amp; blue</seg></p></ref>
<ref lang="en" translator="B"><p><seg id="1">XL</seg></p></ref>
</doc>
<doc id="unreferenced"><src lang="de"><p><seg id="1">allein</seg></p></src></doc>
</dataset>
"""
PO = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "size XL"
msgstr "Größe XL"

msgid "red & blue"
msgstr "rot & blau"

#, fuzzy
msgid "doubtful"
msgstr "zweifelhaft"

msgid "unfinished"
msgstr ""

#~ msgid "old"
#~ msgstr "alt"
"""


def save(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("gz", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "Größe XL\tsize XL\tshop\nrot & blau\tred & blue\tshop\n"),
        ("a.tsv", "document\ten\tde\nshop\tsize XL\tGröße XL\nshop\tred & blue\trot & blau\n"),
        ("a.jsonl", '{"de": "Größe XL", "en": "size XL", "document": "shop", "id": 1}\n\n'
                    '{"translation": {"en": "red & blue", "de": "rot & blau"}, "document": "shop", "id": 2}\n'),
        ("a.tmx", TMX.format(encoding="utf-8")),
        ("a.xml", WMT_XML),
    ],
)  # fmt: skip
def test_one_file_formats(tmp_path, name, text, gz):
    assert list(read_input(str(save(tmp_path / (name + gz), text)), DE_EN)) == PAIRS


@pytest.mark.parametrize("gz", ["", ".gz"])
def test_line_aligned_text(tmp_path, gz):
    source = save(tmp_path / f"a.de{gz}", "Größe XL\nrot & blau\n")
    target = save(tmp_path / f"a.en{gz}", "size XL\nred & blue\n")
    ids = save(tmp_path / f"a.ids{gz}", "shop\nshop\n")
    assert list(read_input(f"{source},{target},{ids}", DE_EN)) == PAIRS
    assert list(read_input(f"{source},{target}", DE_EN)) == [pair._replace(document="") for pair in PAIRS]


def test_sgm(tmp_path):
    source, target = save(tmp_path / "src.de.sgm", SOURCE_SGM), save(tmp_path / "ref.en.sgm", TARGET_SGM)
    assert list(read_input(f"{source},{target}", DE_EN)) == PAIRS


def test_tmx_in_utf_16_and_in_the_other_direction(tmp_path):
    file = save(tmp_path / "a.tmx", TMX.format(encoding="utf-16"), "utf-16")
    assert [pair[:2] for pair in read_input(str(file), ("en", "de"))] == [(p.target, p.source) for p in PAIRS]


def test_gettext_text_compiled_and_tree_agree(tmp_path):
    expected = [pair[:2] for pair in PAIRS]
    po = save(tmp_path / "po" / "de.po", PO)
    save(tmp_path / "po" / "fr.po", PO.replace("Größe", "taille"))
    mo = tmp_path / "locale" / "de_DE" / "LC_MESSAGES" / "shop.mo"
    mo.parent.mkdir(parents=True)
    polib.pofile(str(po)).save_as_mofile(str(mo))
    for given in (po, save(tmp_path / "x.po.gz", PO), tmp_path / "po"):
        assert [pair[:2] for pair in read_input(str(given), DE_EN)] == expected
    for given in (mo, tmp_path / "locale"):
        assert sorted(pair[:2] for pair in read_input(str(given), DE_EN)) == sorted(expected)
    tree = list(read_input(str(tmp_path / "locale"), ("en", "de")))
    assert {pair.document for pair in tree} == {"de_DE/LC_MESSAGES/shop.mo"}
    assert ("size XL", "Größe XL") in {pair[:2] for pair in tree}


def test_gettext_plurals_pair_up_where_there_are_two(tmp_path):
    text = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\nmsgstr[1] "%d Dateien"\n'
    file = save(tmp_path / "de.po", text)
    assert [pair[:2] for pair in read_input(str(file), DE_EN)] == [("%d Datei", "%d file"), ("%d Dateien", "%d files")]
    three = save(tmp_path / "pl.po", text + 'msgstr[2] "x"\n')
    assert [pair[:2] for pair in read_input(str(three), DE_EN)] == [("%d Datei", "%d file")]


@pytest.mark.parametrize(
    ("english", "foreign", "expected"),
    [
        ("_File", "_Datei", ("File", "Datei")),
        ("Save &As", "Speichern &unter", ("Save As", "Speichern unter")),
        ("~Font size", "Schrift~größe", ("Font size", "Schriftgröße")),
        ("Font _size", "Schrift_größe", ("Font size", "Schriftgröße")),
        ("set file_name", "file_name setzen", ("set file_name", "file_name setzen")),
        ("AT&T", "AT&T", ("AT&T", "AT&T")),
        ("R & D", "F & E", ("R & D", "F & E")),
        ("_a _b", "_c", ("_a _b", "_c")),
    ],
)
def test_shortcut_marks_are_no_text(english, foreign, expected):
    assert gettext.without_shortcuts(english, foreign) == expected


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.tsv", "eins\tone\nzwei\n", r"a\.tsv:2: has 1 columns, but the first line has 2"),
        ("a.tsv", "1\t2\t3\t4\n", r"a\.tsv:1: has 4 columns, but should have source, target"),
        ("a.jsonl", '{"de": "a", "en": "b"}\n{"de": \n', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", "[1]\n", r"a\.jsonl:1: should be a JSON object"),
        ("a.jsonl", '{"de": "a"}\n', r"a\.jsonl:1: has no text under 'en'"),
        ("a.jsonl", '{"de": "a", "en": 3}\n', r"a\.jsonl:1: has no text under 'en'"),
        ("a.jsonl", '{"de": "a", "en": "b", "document": 3}\n', r"a\.jsonl:1: document should be text"),
        ("a.jsonl", '{"de": "a", "en": "b", "id": 1}\n' * 2, r"a\.jsonl:2: id 1 was already used in line 1"),
        ("a.jsonl", "[" * 100_000, r"a\.jsonl:1: not JSON"),
        ("a.jsonl", f'{{"id": {"1" * 5_000}}}', r"a\.jsonl:1: not JSON"),
        ("a.tmx", "<tmx><body>\n<tu>\n</body></tmx>", r"a\.tmx:3: not well-formed XML \(mismatched tag\)"),
        ("a.tmx", "", r"a\.tmx:1: not well-formed XML"),
        ("a.tmx", "<html></html>", r"a\.tmx:1: starts with <html>, so it is no TMX file"),
        ("a.tmx", "<a>" * 101, r"a\.tmx:1: elements are nested more than 100 deep"),
        ("a.xml", "<html></html>", r"a\.xml:1: starts with <html>, so it is no WMT test set"),
        ("a.xml", WMT_XML.replace("unreferenced", "shop"), r"a\.xml:10: document 'shop' comes twice"),
        ("a.xml", WMT_XML.replace('"2">rot', '"1">rot'), r"a\.xml:4: segment '1' comes twice"),
        ("a.xml", WMT_XML.replace('"2">rot', '"3">rot'), r"a\.xml:3: document 'shop': segment '2' is missing on one"),
        ("a.po", "\nnonsense\n", r"a\.po:2: not a sound gettext catalogue"),
        ("a.mo", "nonsense", r"a\.mo: not a sound gettext catalogue \(Invalid mo file"),
        ("a.mo", "", r"a\.mo: not a sound gettext catalogue"),
        ("a.doc", "?", r"a\.doc: cannot tell its format from its name; known are \.tsv"),
    ],
)
def test_bad_files_are_refused_with_their_place(tmp_path, name, text, complaint):
    with pytest.raises(InputError, match=complaint):
        list(read_input(str(save(tmp_path / name, text)), DE_EN))


def test_entity_bombs_are_refused(tmp_path):
    bomb = '<!DOCTYPE tmx [<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;&a;">]>\n<tmx>&b;</tmx>'
    with pytest.raises(InputError, match=r"bomb\.tmx:1: defines the entity 'a'"):
        list(read_input(str(save(tmp_path / "bomb.tmx", bomb)), DE_EN))


def test_endless_text_in_xml_is_refused(tmp_path):
    long = f'<tmx><body><tu><tuv lang="de"><seg>{"x" * ((1 << 20) + 1)}</seg></tuv></tu></body></tmx>'
    with pytest.raises(InputError, match="a text of more than 1,048,576 characters"):
        list(read_input(str(save(tmp_path / "long.tmx", long)), DE_EN))


def test_damaged_compiled_catalogues_never_escape_as_other_errors(tmp_path):
    po = save(tmp_path / "de.po", PO)
    polib.pofile(str(po)).save_as_mofile(str(tmp_path / "a.mo"))
    sound = (tmp_path / "a.mo").read_bytes()
    for position in range(0, len(sound), 3):
        damaged = bytearray(sound)
        damaged[position] ^= 0xFF
        (tmp_path / "b.mo").write_bytes(damaged)
        with contextlib.suppress(InputError):
            list(read_input(str(tmp_path / "b.mo"), DE_EN))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace('id="2"', 'id="3"'), r"ref\.sgm:5: is '3' of 'shop', but should be segment '2'"),
        (lambda text: text.replace('id="2"', 'id="1"'), r"ref\.sgm:5: segment '1' of document 'shop' comes twice"),
        (lambda text: text.replace("blue</SEG>", "blue"), r"ref\.sgm:5: a <seg> that cannot be read, or does not end"),
        (lambda text: text.replace(' docid="shop"', ""), r"ref\.sgm:2: a <doc> without docid"),
        (lambda text: text.replace('<SEG id="2">red & blue</SEG>\n', ""), r"ref\.sgm: lacks segment '2'"),
        (lambda text: text + text, r"ref\.sgm:10: document 'shop' comes twice"),
        (lambda _: "plain text", r"ref\.sgm: has no <doc>"),
    ],
)
def test_bad_sgm_is_refused_with_its_place(tmp_path, change, complaint):
    source, target = save(tmp_path / "src.sgm", SOURCE_SGM), save(tmp_path / "ref.sgm", change(TARGET_SGM))
    with pytest.raises(InputError, match=complaint):
        list(read_input(f"{source},{target}", DE_EN))


BROKEN = {
    "a tag that ends on the next line": ('seg id="2"', 'seg id="2"\n'),
    "a tag with more than attributes": ('seg id="2"', f'seg id="2" {"x" * 501}'),
    "a space within the tag": ('<seg id="2"', '< seg id="2"'),
    "a segment within a segment": ('<seg id="2"', '<seg id="9">a<seg id="2"'),
    "an end too many": ("</doc>", "</seg></doc>"),
    "a document whose id is on the next line": ("<doc ", "<doc\n"),
}


@pytest.mark.parametrize(("old", "new"), BROKEN.values(), ids=BROKEN)
def test_what_cannot_be_read_is_not_left_out_of_both_sides(tmp_path, old, new):
    sides = [re.sub(re.escape(old), lambda _: new, text, flags=re.IGNORECASE) for text in (SOURCE_SGM, TARGET_SGM)]
    assert sides[0] != SOURCE_SGM
    source, target = save(tmp_path / "src.sgm", sides[0]), save(tmp_path / "ref.sgm", sides[1])
    with pytest.raises(
        InputError, match=r"src\.sgm:\d: a <(seg|doc)> that cannot be read, or does not end on its line"
    ):
        list(read_input(f"{source},{target}", DE_EN))


def test_segments_may_share_a_line_and_need_no_ids(tmp_path):
    text = (
        '<doc docid=\'a > b\' x="1>0"><p id="7"><seg>a</seg> <SEG>b < c</SEG ></p><p id="8"><seg id=3>d</seg></p></doc>'
    )
    path = save(tmp_path / "a.sgm", text)
    pairs = list(read_input(f"{path},{path}", DE_EN))
    assert [pair.source for pair in pairs] == ["a", "b < c", "d"]


@pytest.mark.parametrize(
    ("tags", "name"), [("<seg ", "seg"), ("<seg>", "seg"), ("<doc ", "doc"), ("<seg>" + "<a " * 9, "seg")]
)
def test_tags_that_never_end_are_done_with_at_once(tmp_path, tags, name):
    """A megabyte of them: looking for the end of each to the end of the line would take an hour."""
    hostile = save(tmp_path / "src.sgm", SOURCE_SGM + tags * (1_000_000 // len(tags)))
    with pytest.raises(InputError, match=rf"src\.sgm:9: a <{name}> that cannot be read, or does not end on its line"):
        list(read_input(f"{hostile},{save(tmp_path / 'ref.sgm', TARGET_SGM)}", DE_EN))


def test_misaligned_text_is_refused_with_its_line(tmp_path):
    source, target = save(tmp_path / "a.de", "eins\nzwei\n"), save(tmp_path / "a.en", "one\n")
    with pytest.raises(InputError, match=r"a\.en:2: ends before this line, but .*a\.de goes on: not aligned"):
        list(read_input(f"{source},{target}", DE_EN))


def test_missing_files_and_wrong_numbers_of_files_are_refused(tmp_path):
    file = save(tmp_path / "a.de", "eins\n")
    with pytest.raises(InputError, match=r"a\.en: no such file or directory"):
        read_input(f"{file},{tmp_path / 'a.en'}", DE_EN)
    with pytest.raises(InputError, match="but got 4 files"):
        list(read_input(",".join([str(file)] * 4), DE_EN))
    sgm = save(tmp_path / "a.sgm", SOURCE_SGM)
    with pytest.raises(InputError, match="expected a source file and a reference file"):
        list(read_input(f"{sgm},{sgm},{sgm}", DE_EN))


def test_gettext_needs_english_on_one_side(tmp_path):
    file = save(tmp_path / "de.po", PO)
    with pytest.raises(InputError, match="one of de and fr has to be 'en'"):
        list(read_input(str(file), ("de", "fr")))
    with pytest.raises(InputError, match="has no gettext catalogues of the language 'it'"):
        list(read_input(str(tmp_path), ("it", "en")))


@pytest.mark.parametrize(
    ("wanted", "given", "same"),
    [("de", "DE", True), ("de", "de_AT.UTF-8", True), ("pt-BR", "pt_BR@x", True), ("pt-BR", "pt", False),
     ("de", "den", False)],
)  # fmt: skip
def test_languages_match_whatever_the_spelling(wanted, given, same):
    assert same_language(wanted, given) is same
