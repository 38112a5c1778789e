"""Texts that the public reads: what organisers say about a task, and participants about themselves.

Names identify, and are short ASCII. These texts describe, in any script. They are one line of printable characters, and
links lead to the web: a text in a table must not break the table, and a link must not run a script.
"""

from urllib.parse import urlsplit

MAX_TITLE_CHARACTERS = 100  # of a task, and of the display name of a team
MAX_LINE_CHARACTERS = 500  # of a description, an affiliation, a contact or a reason
MAX_URL_CHARACTERS = 500

_JOINERS = "\u200c\u200d"  # not printable by themselves, but words of many languages need them


class PublicTextError(ValueError):
    """A text cannot be shown to the public; the message says which rule it breaks."""


def check_public_text(text: str, name: str, max_characters: int = MAX_LINE_CHARACTERS) -> None:
    """Raise PublicTextError unless a text is one line of printable characters, not too long and not blank.

    Args:
        text: The text.
        name: What the text is, for the message: "the display name".
        max_characters: The most characters that it may have.
    """
    if not text.strip(_JOINERS) or text != text.strip():
        raise PublicTextError(f"{name} is empty, or begins or ends with a space: write it without")
    if len(text) > max_characters:
        raise PublicTextError(f"{name} has {len(text):,} characters, but at most {max_characters:,} are allowed")
    if not all(character.isprintable() or character in _JOINERS for character in text):
        raise PublicTextError(f"{name} is one line of printable characters: remove line breaks, tabs and the like")


def check_url(url: str, name: str) -> None:
    """Raise PublicTextError unless a text is the address of a page on the web, without user name and password."""
    check_public_text(url, name, MAX_URL_CHARACTERS)
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        is_web = False
    if not is_web or " " in url:
        raise PublicTextError(f"{name} is not an address of the web: begin it with https:// or http://")
