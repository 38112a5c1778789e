"""Gettext catalogues, as text, compiled, and in a tree."""

import contextlib

import polib
import pytest

from corpora.errors import InputError
from corpora.readers import gettext, read_input
from tests.corpora.readers.files import DE_EN, PAIRS, save

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


def test_text_compiled_and_tree_have_the_same_pairs(tmp_path):
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


def test_plural_forms_are_paired_if_there_are_two(tmp_path):
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
def test_shortcut_markers_are_removed(english, foreign, expected):
    assert gettext.without_shortcuts(english, foreign) == expected


def test_a_damaged_compiled_catalogue_raises_no_other_error(tmp_path):
    po = save(tmp_path / "de.po", PO)
    polib.pofile(str(po)).save_as_mofile(str(tmp_path / "a.mo"))
    valid = (tmp_path / "a.mo").read_bytes()
    for position in range(0, len(valid), 3):
        damaged = bytearray(valid)
        damaged[position] ^= 0xFF
        (tmp_path / "b.mo").write_bytes(damaged)
        with contextlib.suppress(InputError):
            list(read_input(str(tmp_path / "b.mo"), DE_EN))


def test_one_language_must_be_english(tmp_path):
    file = save(tmp_path / "de.po", PO)
    with pytest.raises(InputError, match="so de or fr must be 'en'"):
        list(read_input(str(file), ("de", "fr")))


def test_a_tree_or_catalogue_without_the_language_names_its_languages(tmp_path):
    save(tmp_path / "po" / "de.po", PO)
    save(tmp_path / "po" / "shop_fr.po", PO)
    save(tmp_path / "locale" / "pt_BR" / "LC_MESSAGES" / "shop.po", PO)
    with pytest.raises(
        InputError, match=r"no gettext catalogue in the language 'it'; it has catalogues in de, fr, pt_BR$"
    ):
        list(read_input(str(tmp_path), ("it", "en")))
    german = save(tmp_path / "x.po", PO.replace("Content-Type", "Language: de_DE\\nContent-Type"))
    with pytest.raises(InputError, match=r"x\.po: is in the language 'de_DE', not in 'it'$"):
        list(read_input(str(german), ("it", "en")))
    assert len(list(read_input(str(german), ("de-AT", "en")))) == 2
    unknown = save(tmp_path / "y.po", PO.replace("Content-Type", "Language: German\\nContent-Type"))
    assert len(list(read_input(str(unknown), ("it", "en")))) == 2


def test_entities_are_not_shortcuts(tmp_path):
    file = save(tmp_path / "de.po", 'msgid "cut &amp; paste"\nmsgstr "ausschneiden &amp; einfügen"\n')
    assert list(read_input(str(file), DE_EN)) == [("ausschneiden & einfügen", "cut & paste", "de.po")]
