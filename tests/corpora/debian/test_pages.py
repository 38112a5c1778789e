"""Pages of manuals as blocks, and their alignment by structure."""

import pytest

from corpora.debian.alignment import HEADING, Block, align
from corpora.debian.collection import page_key, page_reader
from corpora.debian.man import man_blocks
from corpora.debian.markup import markup_blocks

PAGE = r""".\" a comment
.TH LS 1 "2022" "GNU" "Commands"
.SH NAME
ls \- list \fBdirectory\fR contents
.SH "SEE ALSO"
.PP
The
.BR cat (1)
and
.I "dog food"
pages.
.nf
code here
.fi
After code.
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore entries starting with \(aq.\(aq
.IP \(bu 2
an item
.SS Sub
text
"""


def test_man_page_as_blocks():
    assert man_blocks(PAGE) == [
        Block(HEADING, "NAME"),
        Block("text", "ls - list directory contents"),
        Block(HEADING, "SEE ALSO"),
        Block("text", "The cat(1) and dog food pages."),
        Block("text", "After code."),
        Block("tag", "-a, --all"),
        Block("text", "do not ignore entries starting with '.'"),
        Block("item", "an item"),
        Block(HEADING, "Sub"),
        Block("text", "text"),
    ]


def test_mdoc_pages_are_left_alone():
    assert man_blocks(".Dd May 1\n.Sh NAME\n.Nm ls\n") == []


def test_markup_as_blocks():
    page = """<html><head><title>Help</title><style>p {}</style></head><body><h1>Fenster &amp; Co</h1>
    <p>Ein <b>fetter</b>
    Absatz.<br/>Weiter.</p><ul><li>Punkt</li><li><p>Noch einer</p></li></ul><pre>code</pre><p></p>Rest</body></html>"""
    assert markup_blocks(page) == [
        Block(HEADING, "Help"),
        Block(HEADING, "Fenster & Co"),
        Block("p", "Ein fetter Absatz.Weiter."),
        Block("li", "Punkt"),
        Block("p", "Noch einer"),
        Block("text", "Rest"),
    ]


def test_sections_of_the_same_structure_are_aligned_sentence_by_sentence():
    foreign = [Block(HEADING, "NAME"), Block("text", "Eins ist gut. Zwei ist besser."), Block(HEADING, "ÜBERSETZUNG")]
    english = [Block(HEADING, "NAME"), Block("text", "One is good. Two is better.")]
    assert list(align(foreign, english)) == [("Eins ist gut.", "One is good."), ("Zwei ist besser.", "Two is better.")]


def test_sentences_that_do_not_match_in_number_stay_together():
    pair = ("Eins. Zwei.", "One and two.")
    assert list(align([Block("text", pair[0])], [Block("text", pair[1])])) == [pair]


@pytest.mark.parametrize(
    ("foreign", "english"),
    [
        ([Block("text", "Ein Satz.")], [Block("tag", "A sentence.")]),  # another kind
        ([Block("text", "Ein Satz.")], [Block("text", "A sentence."), Block("text", "More.")]),  # another number
        ([Block(HEADING, "A"), Block(HEADING, "B"), Block(HEADING, "C")], [Block(HEADING, "X")]),  # other sections
        ([Block("text", "GNU ls")], [Block("text", "GNU ls")]),  # not translated
        ([Block("text", "ja")], [Block("text", "a sentence that says far more")]),  # too unequal
        ([Block("text", "1 + 2")], [Block("text", "1 + 3")]),  # no words
    ],
)
def test_nothing_is_guessed(foreign, english):
    assert list(align(foreign, english)) == []


@pytest.mark.parametrize(
    ("foreign", "english"),
    [
        ("usr/share/man/de/man1/ls.1.gz", "usr/share/man/man1/ls.1.gz"),
        ("usr/share/help/de/app/a.page", "usr/share/help/C/app/a.page"),
        ("usr/share/libreoffice/help/de/text/x.html", "usr/share/libreoffice/help/en-US/text/x.html"),
        ("usr/share/debian-reference/ch01.de.html", "usr/share/debian-reference/ch01.en.html"),
        ("usr/share/doc/maint-guide-de/html/a.de.html", "usr/share/doc/maint-guide/html/a.en.html"),
        ("usr/share/developers-reference/de/l10n.html", "usr/share/developers-reference/l10n.html"),
        ("usr/share/doc/handbook/html/de-DE/a.html", "usr/share/doc/handbook/html/en-US/a.html"),
    ],
)
def test_a_page_finds_its_counterpart(foreign, english):
    assert page_key(foreign, "de") == (True, page_key(english, "de")[1])
    assert page_key(english, "de")[0] is False
    assert page_reader(foreign, "de") is page_reader(english, "de") is not None


@pytest.mark.parametrize(
    "path",
    ["usr/share/man/fr/man1/ls.1.gz", "usr/share/help/fr/app/a.page", "usr/bin/ls", "usr/share/help/de/app/a.png"],
)
def test_other_files_are_not_read(path):
    assert page_reader(path, "de") is None
