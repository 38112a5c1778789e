"""Finds and removes non-printing characters."""

import unicodedata

# Control, format, private-use and surrogate characters. Unassigned ones stay: they differ between Python versions.
NON_PRINTING_CATEGORIES = {"Cc", "Cf", "Co", "Cs"}
FORMAT_CATEGORY = "Cf"  # soft hyphens, byte-order marks, joiners


def first_non_printing(text: str) -> str | None:
    """Return the first non-printing character, or None."""
    if text.isprintable():  # fast, and nearly always true
        return None
    return next((character for character in text if unicodedata.category(character) in NON_PRINTING_CATEGORIES), None)


def drop_non_printing(text: str) -> str:
    """Remove format characters, which stand within words; replace all others, which may separate words, by a space."""
    return text if text.isprintable() else "".join(map(_replace_non_printing, text))


def _replace_non_printing(character: str) -> str:
    category = unicodedata.category(character)
    if category not in NON_PRINTING_CATEGORIES:
        return character
    return "" if category == FORMAT_CATEGORY else " "
