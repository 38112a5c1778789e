"""Compares language codes: ``de`` matches ``DE``, ``de-AT`` and ``de_DE.UTF-8``."""

from collections.abc import Iterable

MAX_LISTED_LANGUAGES = 20
MAX_KNOWN_LANGUAGES = 1_000  # that a file may have before further ones are no longer remembered
MAX_CODE_CHARACTERS = 100


def same_language(wanted: str, given: str) -> bool:
    """Return whether a code matches. One without region matches every region, one with a region only itself."""
    plain = given.split(".")[0].split("@")[0].replace("_", "-").lower()
    wanted = wanted.replace("_", "-").lower()
    return plain == wanted or plain.startswith(f"{wanted}-")


def add_language(known: set[str], code: str) -> None:
    """Add a code to those that a file has, unless it is too long or there are too many: an error only lists some."""
    if len(code) <= MAX_CODE_CHARACTERS and len(known) < MAX_KNOWN_LANGUAGES:
        known.add(code)


def list_languages(codes: Iterable[str]) -> str:
    """Return the codes in order, joined by commas, for an error message."""
    distinct = sorted(set(codes))
    more = [f"and {len(distinct) - MAX_LISTED_LANGUAGES:,} more"] if len(distinct) > MAX_LISTED_LANGUAGES else []
    return ", ".join([*distinct[:MAX_LISTED_LANGUAGES], *more])
