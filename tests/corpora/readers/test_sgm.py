"""The SGML format of WMT test sets."""

import re

import pytest

from corpora.errors import InputError
from corpora.readers import read_input
from tests.corpora.readers.files import DE_EN, PAIRS, save

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


def test_source_and_reference_are_paired(tmp_path):
    source, target = save(tmp_path / "src.de.sgm", SOURCE_SGM), save(tmp_path / "ref.en.sgm", TARGET_SGM)
    assert list(read_input(f"{source},{target}", DE_EN)) == PAIRS


def test_a_file_in_another_language_is_refused(tmp_path):
    source = save(tmp_path / "src.sgm", SOURCE_SGM.replace("any", "de"))
    target = save(tmp_path / "ref.sgm", TARGET_SGM.replace("srcset", "refset").replace('"any"', '"any" trglang="en"'))
    assert list(read_input(f"{source},{target}", ("de-AT", "en"))) == PAIRS
    with pytest.raises(InputError, match=r"src\.sgm: its language is 'de', not 'fr'$"):
        list(read_input(f"{source},{target}", ("fr", "en")))
    with pytest.raises(InputError, match=r"ref\.sgm: its language is 'en', not 'fr'$"):
        list(read_input(f"{source},{target}", ("de", "fr")))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace('id="2"', 'id="3"'), r"ref\.sgm:5: is '3' of 'shop', but should be segment '2'"),
        (lambda text: text.replace('id="2"', 'id="1"'), r"ref\.sgm:5: repeats segment '1' of document 'shop'"),
        (lambda text: text.replace("blue</SEG>", "blue"), r"ref\.sgm:5: has a <seg> that is malformed or does not end"),
        (lambda text: text.replace(' docid="shop"', ""), r"ref\.sgm:2: has a <doc> without docid"),
        (lambda text: text.replace('<SEG id="2">red & blue</SEG>\n', ""), r"ref\.sgm: lacks segment '2'"),
        (lambda text: text + text, r"ref\.sgm:10: repeats the document 'shop'"),
        (lambda _: "plain text", r"ref\.sgm: is not a WMT test set: it has no <doc>"),
    ],
)
def test_malformed_files_are_refused_with_file_and_line(tmp_path, change, complaint):
    source, target = save(tmp_path / "src.sgm", SOURCE_SGM), save(tmp_path / "ref.sgm", change(TARGET_SGM))
    with pytest.raises(InputError, match=complaint):
        list(read_input(f"{source},{target}", DE_EN))


MALFORMED = {
    "a tag that ends on the next line": ('seg id="2"', 'seg id="2"\n'),
    "a tag with more than attributes": ('seg id="2"', f'seg id="2" {"x" * 501}'),
    "a space within the tag": ('<seg id="2"', '< seg id="2"'),
    "a segment within a segment": ('<seg id="2"', '<seg id="9">a<seg id="2"'),
    "an end too many": ("</doc>", "</seg></doc>"),
    "a document whose id is on the next line": ("<doc ", "<doc\n"),
}


@pytest.mark.parametrize(("old", "new"), MALFORMED.values(), ids=MALFORMED)
def test_the_same_malformed_element_on_both_sides_is_refused(tmp_path, old, new):
    sides = [re.sub(re.escape(old), lambda _: new, text, flags=re.IGNORECASE) for text in (SOURCE_SGM, TARGET_SGM)]
    assert sides[0] != SOURCE_SGM
    source, target = save(tmp_path / "src.sgm", sides[0]), save(tmp_path / "ref.sgm", sides[1])
    with pytest.raises(
        InputError, match=r"src\.sgm:\d: has a <(seg|doc)> that is malformed or does not end on its line"
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
def test_tags_that_never_end_are_refused_quickly(tmp_path, tags, name):
    """With a megabyte of them, searching for the end of each to the end of the line would take an hour."""
    hostile = save(tmp_path / "src.sgm", SOURCE_SGM + tags * (1_000_000 // len(tags)))
    with pytest.raises(InputError, match=rf"src\.sgm:9: has a <{name}> that is malformed or does not end on its line"):
        list(read_input(f"{hostile},{save(tmp_path / 'ref.sgm', TARGET_SGM)}", DE_EN))


def test_a_wrong_number_of_files_is_refused(tmp_path):
    sgm = save(tmp_path / "a.sgm", SOURCE_SGM)
    with pytest.raises(InputError, match="needs a source file and a reference file"):
        list(read_input(f"{sgm},{sgm},{sgm}", DE_EN))
