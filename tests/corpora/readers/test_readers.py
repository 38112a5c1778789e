"""Every format yields the same pairs, and errors name the file and line."""

import pytest

from corpora.errors import InputError
from corpora.readers import read_input
from tests.corpora.readers.files import DE_EN, PAIRS, save

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


UNITS = '<tmx><tu><tuv lang="de"><seg>x</seg></tuv></tu><tu><tuv lang="en"><seg>y</seg></tuv></tu></tmx>'

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


def test_tmx_can_be_utf_16_and_read_in_the_other_direction(tmp_path):
    file = save(tmp_path / "a.tmx", TMX.format(encoding="utf-16"), "utf-16")
    assert [pair[:2] for pair in read_input(str(file), ("en", "de"))] == [(p.target, p.source) for p in PAIRS]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.tsv", "eins\tone\nzwei\n", r"a\.tsv:2: has 1 columns, but the first line has 2"),
        ("a.tsv", "1\t2\t3\t4\n", r"a\.tsv:1: has 4 columns, but should have source, target"),
        ("a.jsonl", '{"de": "a", "en": "b"}\n{"de": \n', r"a\.jsonl:2: is not JSON"),
        ("a.jsonl", "[1]\n", r"a\.jsonl:1: should be a JSON object"),
        ("a.jsonl", '{"de": "a"}\n', r"a\.jsonl:1: has no text under 'en'; it has texts under de$"),
        ("a.jsonl", '{"de": "a", "en": 3}\n', r"a\.jsonl:1: has no text under 'en'; it has texts under de$"),
        ("a.jsonl", '{"id": "a", "translation": 3}\n', r"a\.jsonl:1: has no text under 'de'; it has no texts at all$"),
        ("a.jsonl", '{"de": "a", "en": "b", "document": 3}\n', r"a\.jsonl:1: its document should be a string"),
        ("a.jsonl", '{"de": "a", "en": "b", "id": 1}\n' * 2, r"a\.jsonl:2: repeats the id 1 of line 1"),
        ("a.jsonl", "[" * 100_000, r"a\.jsonl:1: is not JSON"),
        ("a.jsonl", f'{{"id": {"1" * 5_000}}}', r"a\.jsonl:1: is not JSON"),
        ("a.tmx", "<tmx><body>\n<tu>\n</body></tmx>", r"a\.tmx:3: is not well-formed XML \(mismatched tag\)"),
        ("a.tmx", "", r"a\.tmx:1: is not well-formed XML"),
        ("a.tmx", "<tmx>&tm;</tmx>", r"a\.tmx:1: uses the entity 'tm', which neither XML nor HTML defines"),
        ("a.tmx", "<tmx><body></body></tmx>", r"a\.tmx: has no translation units$"),
        ("a.tmx", "<html></html>", r"a\.tmx:1: is not a TMX file: it starts with <html>"),
        ("a.tmx", "<a>" * 101, r"a\.tmx:1: has elements nested more than 100 deep"),
        ("a.xml", "<html></html>", r"a\.xml:1: is not a WMT test set: it starts with <html>"),
        ("a.xml", WMT_XML.replace("unreferenced", "shop"), r"a\.xml:10: repeats the document 'shop'"),
        ("a.xml", WMT_XML.replace('"2">rot', '"1">rot'), r"a\.xml:4: repeats the segment '1'"),
        ("a.xml", WMT_XML.replace('"2">rot', '"3">rot'), r"a\.xml:3: document 'shop': segment '2' is missing on one"),
        ("a.po", "\nnonsense\n", r"a\.po:2: is not a valid gettext catalogue"),
        ("a.mo", "nonsense", r"a\.mo: is not a valid gettext catalogue \(Invalid mo file"),
        ("a.mo", "", r"a\.mo: is not a valid gettext catalogue"),
        ("a.doc", "?", r"a\.doc: its name does not tell its format; supported are \.tsv"),
    ],
)
def test_malformed_files_are_refused_with_file_and_line(tmp_path, name, text, complaint):
    with pytest.raises(InputError, match=complaint):
        list(read_input(str(save(tmp_path / name, text)), DE_EN))


@pytest.mark.parametrize(
    ("name", "text", "languages", "complaint"),
    [
        ("a.tmx", UNITS, ("fr", "en"), r"a\.tmx: has no text in 'fr'; its languages are de, en$"),
        ("a.tmx", UNITS, ("fr", "it"), r"a\.tmx: has no text in 'fr' or 'it'; its languages are de, en$"),
        ("a.tmx", UNITS, DE_EN, r"a\.tmx: has no translation unit with both 'de' and 'en'$"),
        ("a.xml", WMT_XML, ("en", "de"), r"a\.xml: has no source in 'en'; its sources are in de$"),
        ("a.xml", WMT_XML, ("de", "it"), r"a\.xml: has no reference in 'it'; its references are in en, fr$"),
        ("a.xml", '<dataset><doc id="a"><src lang="de"/></doc></dataset>', DE_EN,
         r"a\.xml: has no reference in 'en'; it has no references at all$"),
        ("a.tsv", "de\ten\nrot\tred\n", ("fr", "en"),
         r"a\.tsv:1: its header has no column 'fr'; its languages are de, en$"),
        ("a.tsv", "de\ten-GB\tdocument\nrot\tred\tx\n", ("fr", "it"),
         r"a\.tsv:1: its header has no column 'fr' or 'it'; its languages are de, en-GB$"),
        ("a.jsonl", '{"de": "a", "en": "b", "document": "c"}\n', ("de", "fr"),
         r"a\.jsonl:1: has no text under 'fr'; it has texts under de, en$"),
    ],
)  # fmt: skip
def test_a_file_without_the_language_names_its_languages(tmp_path, name, text, languages, complaint):
    with pytest.raises(InputError, match=complaint):
        list(read_input(str(save(tmp_path / name, text)), languages))


def test_a_header_may_name_regions(tmp_path):
    file = save(tmp_path / "a.tsv", "en_US\tde-DE\nred\trot\n")
    assert list(read_input(str(file), DE_EN)) == [("rot", "red", "")]


@pytest.mark.parametrize("first", ["rot\tred", "ok\tok", "Ja\tYes", "an\ton the"])
def test_a_first_line_of_text_is_not_a_header(tmp_path, first):
    file = save(tmp_path / "a.tsv", f"{first}\nblau\tblue\n")
    assert len(list(read_input(str(file), DE_EN))) == 2


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'])
def test_xml_may_use_the_entities_of_html(tmp_path, doctype):
    unit = '<tu><tuv lang="de"><seg>gr&uuml;n&nbsp;5</seg></tuv><tuv lang="en"><seg>&lt;green&#62;</seg></tuv></tu>'
    file = save(tmp_path / "a.tmx", f"{doctype}<tmx>{unit}</tmx>")
    assert list(read_input(str(file), DE_EN)) == [("grün\u00a05", "<green>", "")]


def test_entity_bombs_are_refused(tmp_path):
    bomb = '<!DOCTYPE tmx [<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;&a;">]>\n<tmx>&b;</tmx>'
    with pytest.raises(InputError, match=r"bomb\.tmx:1: defines the entity 'a'"):
        list(read_input(str(save(tmp_path / "bomb.tmx", bomb)), DE_EN))


def test_overlong_text_in_xml_is_refused(tmp_path):
    long = f'<tmx><body><tu><tuv lang="de"><seg>{"x" * ((1 << 20) + 1)}</seg></tuv></tu></body></tmx>'
    with pytest.raises(InputError, match="has a text of more than 1,048,576 characters"):
        list(read_input(str(save(tmp_path / "long.tmx", long)), DE_EN))


def test_misaligned_text_is_refused_with_its_line(tmp_path):
    source, target = save(tmp_path / "a.de", "eins\nzwei\n"), save(tmp_path / "a.en", "one\n")
    with pytest.raises(InputError, match=r"a\.en:2: ends before this line, but .*a\.de has more lines: not aligned"):
        list(read_input(f"{source},{target}", DE_EN))


def test_missing_files_and_wrong_numbers_of_files_are_refused(tmp_path):
    file = save(tmp_path / "a.de", "eins\n")
    with pytest.raises(InputError, match=r"a\.en: no such file or directory"):
        read_input(f"{file},{tmp_path / 'a.en'}", DE_EN)
    with pytest.raises(InputError, match="is one of 4 files; give source, target and optionally document ids"):
        list(read_input(",".join([str(file)] * 4), DE_EN))
