"""Compares language codes: ``de`` matches ``DE``, ``de-AT`` and ``de_DE.UTF-8``."""


def same_language(wanted: str, given: str) -> bool:
    """Return whether a code matches. One without region matches every region, one with a region only itself."""
    plain = given.split(".")[0].split("@")[0].replace("_", "-").lower()
    wanted = wanted.replace("_", "-").lower()
    return plain == wanted or plain.startswith(f"{wanted}-")
