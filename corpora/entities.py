"""Character references in text: those of HTML and XML, and those that Moses writes for its own special characters.

Text from web pages and translation memories often has them, and some of it has been escaped more than once.
"""

import re
from html import unescape
from html.entities import html5

from corpora.non_printing import drop_non_printing

# The Moses scripts once wrote these names, and still read them. HTML does not have them.
MOSES_NAMES = {"bar": "|", "bra": "[", "ket": "]"}

MAX_ESCAPES = 100  # times that a text can have been escaped; real text has two

# The semicolon is required: without it, "&copy=1" in an address would be a reference.
_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9a-fA-F]{1,6})|(\w{2,31}));")


def decode_entities(text: str) -> str:
    """Replace the character references of a text until none is left: ``&amp;#39;`` becomes an apostrophe.

    Unknown names stay as they are. Names in other letter case are known if their lowercase form is, so that lowercasing
    creates no reference. A reference to a format character is removed, one to another non-printing character becomes
    a space. What was escaped more than ``MAX_ESCAPES`` times is left as it is then: each time is a pass over the text.
    """
    for _ in range(MAX_ESCAPES):
        if "&" not in text or (decoded := _REFERENCE.sub(_decode_reference, text)) == text:
            break
        text = decoded
    return text


def entity_text(name: str) -> str | None:
    """Return the text of a named reference, or None if neither HTML nor Moses has the name."""
    for known in (name, name.lower()):
        if (found := html5.get(f"{known};", MOSES_NAMES.get(known))) is not None:
            return found
    return None


def _decode_reference(reference: re.Match[str]) -> str:
    decoded = unescape(reference[0]) if reference[1] is None else entity_text(reference[1])
    return reference[0] if decoded is None else drop_non_printing(decoded)
