"""HTML, Mallard and DocBook pages as blocks."""

from corpora.debian.markup_pages import markup_blocks
from corpora.debian.page_alignment import HEADING, PageBlock


def test_a_marked_up_page_is_read_as_blocks():
    page = """<html><head><title>Help</title><style>p {}</style></head><body><h1>Fenster &amp; Co</h1>
    <p>Ein <b>fetter</b>
    Absatz.<br/>Weiter.</p><ul><li>Punkt</li><li><p>Noch einer</p></li></ul><pre>code</pre><p></p>Rest</body></html>"""
    assert markup_blocks(page) == [
        PageBlock(HEADING, "Help"),
        PageBlock(HEADING, "Fenster & Co"),
        PageBlock("p", "Ein fetter Absatz.Weiter."),
        PageBlock("li", "Punkt"),
        PageBlock("p", "Noch einer"),
        PageBlock("text", "Rest"),
    ]
