"""The names of participants, systems and phases, and the ids of runs."""

import base64
import hashlib
import re

MAX_NAME_CHARACTERS = 64
# in words, for error messages
NAME_RULE = f"1 to {MAX_NAME_CHARACTERS} characters: letters, digits and . _ + - (a letter or digit first)"

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,{MAX_NAME_CHARACTERS - 1}}}", re.ASCII)
_RUN_ID_CHARACTERS = 26  # of base32: 130 bits
_RUN_ID = re.compile(rf"[a-z2-7]{{{_RUN_ID_CHARACTERS}}}", re.ASCII)


def is_name(text: str) -> bool:
    """Return whether a participant, system or phase can have this name.

    Such a name can stand in a file name, a URL and a table.
    """
    return _NAME.fullmatch(text) is not None


def run_id(participant: str, phase: str, system: str, attempt: int) -> str:
    """Return the id of a run.

    The same run has the same id wherever a competition is repeated, and so receives the same feedback noise.
    """
    digest = hashlib.sha256("\0".join((participant, phase, system, str(attempt))).encode()).digest()
    return base64.b32encode(digest)[:_RUN_ID_CHARACTERS].decode().lower()


def is_run_id(text: str) -> bool:
    """Return whether ``run_id`` could have returned this text."""
    return _RUN_ID.fullmatch(text) is not None
