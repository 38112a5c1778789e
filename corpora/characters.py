"""Which characters cannot be printed, and how text gets rid of them."""

import unicodedata

# Control, format, private-use and surrogate characters. Unassigned ones stay: which they are depends on the Python.
NON_PRINTING = {"Cc", "Cf", "Co", "Cs"}
FORMAT = "Cf"  # soft hyphens, byte-order marks, joiners: nothing is left where they were


def first_non_printing(text: str) -> str | None:
    """The first character that cannot be printed."""
    if text.isprintable():  # nearly always, and fast
        return None
    return next((character for character in text if unicodedata.category(character) in NON_PRINTING), None)


def drop_non_printing(text: str) -> str:
    """Drop format characters, which stand within words, and put a space for all others, which may separate them."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(character: str) -> str:
    category = unicodedata.category(character)
    if category not in NON_PRINTING:
        return character
    return "" if category == FORMAT else " "
