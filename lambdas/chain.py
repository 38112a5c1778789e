"""The chain of a run: every round has a link, a keyed hash of the round and of the link before it.

The last link is the head of the run. Whoever knows a head can tell later whether any round up to it was changed, or any
setting on which they depend: the first link also covers the opening of the run and the settings of its phase. A link
covers neither the participant nor the system, because these may be erased; the id of the run is a hash of them.

Links are computed under two secrets. One is the fingerprint of the phase, a hash of its references: so no participant
can test guesses of a true reward or of a reference against a head. The other is the ledger key, which is kept outside
the store. Without one, an intruder who can write to the store could compute a new chain over changed rounds, and only
heads that were published before would tell.

    key number (1 byte; 0 without a ledger key) | HMAC-SHA256 (15 bytes)
"""

import hashlib
import json
import math
import os
import re
import secrets
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from lambdas.errors import OrganiserError
from lambdas.phase_record import PhaseRecord
from lambdas.prf import Prf
from task.rounds import LINK_BYTES, Round, Run

KEY_VARIABLE = "BANDITMT_LEDGER_KEY"  # the key in hex, or the path of a file that contains it
NO_KEY = 0  # the number of the key in links that were computed without one

_SECRET_BYTES = 32
_SECRET = re.compile(r"[0-9a-f]{64}", re.ASCII)
_MAX_KEY_FILE_BYTES = 1_000
# index, both rewards, both sums, time, log-probability, lengths of statistics, translation and post-edit
_ROUND = struct.Struct(">IddQQQdIII")
# Fields of a phase's document that the organiser may change while it is played.
_CHANGEABLE = ("state", "schedule", "runs")


class LedgerKeyError(OrganiserError):
    """The text or the file does not hold a ledger key."""


class LedgerKey:
    """The key of all chains of a store, or the absence of one."""

    def __init__(self, secret: bytes = b"") -> None:
        self.secret = secret
        self.number = 1 + hashlib.sha256(b"banditmt ledger key\0" + secret).digest()[0] % 255 if secret else NO_KEY
        self._functions: dict[str, Prf] = {}  # by the fingerprint of a phase

    @classmethod
    def generate(cls) -> Self:
        return cls(secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Return the key that ``BANDITMT_LEDGER_KEY`` holds or names; the absence of one if it is not set."""
        return cls.parse(environment.get(KEY_VARIABLE, ""))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return a key from 64 hexadecimal digits, or from a file that holds them; an empty text is no key.

        Raises:
            LedgerKeyError: There is no such file, or it holds something else.
        """
        if not text or _SECRET.fullmatch(text):
            return cls(bytes.fromhex(text))
        try:
            with Path(text).open("rb") as file:
                content = file.read(_MAX_KEY_FILE_BYTES).decode("ascii", errors="replace").strip()
        except (OSError, ValueError):
            raise LedgerKeyError(
                f"the ledger key is 64 hexadecimal digits, or a file that holds them, but there is no file {text!r}"
            ) from None
        if not _SECRET.fullmatch(content):
            raise LedgerKeyError(f"{text} does not hold a ledger key: 64 hexadecimal digits on one line")
        return cls(bytes.fromhex(content))

    def mac(self, message: bytes) -> bytes:
        """Return the keyed hash of a message that belongs to no phase."""
        return Prf(self.secret)(message)

    def link(self, record: PhaseRecord, played: Round, before: bytes) -> bytes:
        """Return the link of a round.

        Args:
            record: The phase of the round.
            played: The round; its own link does not matter.
            before: The link of the round before it; empty for the first one.

        Raises:
            struct.error, OverflowError, TypeError: A round has a value that the service would never have written.
        """
        function = self._function(record.fingerprint)
        start = before or function(_opening(record, played.run))
        return bytes((self.number,)) + function(start + _message(played))[: LINK_BYTES - 1]

    def _function(self, fingerprint: str) -> Prf:
        function = self._functions.get(fingerprint)
        if function is None:
            function = self._functions[fingerprint] = Prf(Prf(self.secret)(f"banditmt chain\0{fingerprint}".encode()))
        return function


def _opening(record: PhaseRecord, run: Run) -> bytes:
    """Return what the first link covers beside its round: the opening of the run, and the settings of its phase."""
    settings = {name: value for name, value in record.as_document().items() if name not in _CHANGEABLE}
    opening = [run.id, run.phase, run.attempt, run.opened_at, run.key]
    return json.dumps([opening, settings], sort_keys=True).encode()


def _message(played: Round) -> bytes:
    """Return all that a link covers of its round, so that no two rounds give the same bytes."""
    translation, post_edit = played.translation.encode(), played.post_edit
    correction = b"" if post_edit is None else post_edit.encode()
    probability = played.log_probability
    numbers = _ROUND.pack(
        played.index,
        played.observed_reward,
        played.true_reward,
        played.observed_ticks,
        played.true_ticks,
        played.committed_at,
        math.nan if probability is None else probability,
        len(played.statistics),
        len(translation),
        0 if post_edit is None else len(correction) + 1,
    )
    return b"".join((numbers, played.run.id.encode(), played.statistics, translation, correction))
