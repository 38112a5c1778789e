"""Man pages as blocks."""

from corpora.debian.man_pages import man_blocks
from corpora.debian.page_alignment import HEADING, PageBlock

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


def test_a_man_page_is_read_as_blocks():
    assert man_blocks(PAGE) == [
        PageBlock(HEADING, "NAME"),
        PageBlock("text", "ls - list directory contents"),
        PageBlock(HEADING, "SEE ALSO"),
        PageBlock("text", "The cat(1) and dog food pages."),
        PageBlock("text", "After code."),
        PageBlock("tag", "-a, --all"),
        PageBlock("text", "do not ignore entries starting with '.'"),
        PageBlock("item", "an item"),
        PageBlock(HEADING, "Sub"),
        PageBlock("text", "text"),
    ]


def test_an_mdoc_page_has_no_blocks():
    assert man_blocks(".Dd May 1\n.Sh NAME\n.Nm ls\n") == []
