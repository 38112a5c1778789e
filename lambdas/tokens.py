"""Sentence ids: opaque tokens that prove that every earlier round of the run was committed.

A token contains the position in the run (index and cumulative sums), so that a round can be committed without reading
the previous one. It is encrypted and authenticated as in RFC 5297 (SIV), with HMAC-SHA256 as the pseudo-random
function: the tag authenticates participant, run and position, and is also the nonce under which the position is
encrypted.

The encryption is deterministic, so that a repeated response has the same id. It hides the sums, from which a
participant could compute the true reward when feedback is noisy. A token can neither be guessed nor used in another
run.

    key number (1 byte) | tag (16) | encrypted position (20)        50 characters of base64url

From the second round of a run on, the position includes the link of the round before (``lambdas.chain``), which is 16
bytes more and makes 71 characters. Runs that earlier versions began have no links.
"""

import base64
import binascii
import hmac
import secrets
import struct
from collections.abc import Mapping
from typing import NamedTuple, Self

from lambdas.prf import Prf
from lambdas.store.documents import Document
from task.rounds import LINK_BYTES

MAX_KEYS = 255  # because the key number is one byte

_POSITION = struct.Struct(">IQQ")
_TAG_BYTES = 16
_SECRET_BYTES = 32
_HASH_BYTES = 32  # of SHA-256
_PACKED_BYTES = tuple(1 + _TAG_BYTES + _POSITION.size + link for link in (0, LINK_BYTES))
_TOKEN_CHARACTERS = {-(-size * 8 // 6) for size in _PACKED_BYTES}


class Position(NamedTuple):
    """The position in a run before a round is played."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which no caller needs here
    observed_ticks: int  # the sum of observed rewards before the round
    true_ticks: int  # the sum of true rewards before the round
    link: bytes = b""  # of the round before; empty before the first round, and in runs without links

    def pack(self) -> bytes:
        return _POSITION.pack(self.index, self.observed_ticks, self.true_ticks) + self.link

    @classmethod
    def unpack(cls, packed: bytes) -> "Position":
        index, observed_ticks, true_ticks = _POSITION.unpack_from(packed)
        return cls(index, observed_ticks, true_ticks, packed[_POSITION.size :])


class _Key(NamedTuple):
    """Two independent functions derived from one secret."""

    authenticate: Prf
    encrypt: Prf

    @classmethod
    def derive(cls, secret: bytes) -> "_Key":
        return cls(*(Prf(Prf(secret)(use)) for use in (b"banditmt token sign", b"banditmt token seal")))


class KeyRing:
    """The token keys of a task, numbered from 1 to 255. A run uses the key that was the newest when it was opened."""

    def __init__(self, secrets_by_number: Mapping[int, bytes]) -> None:
        if not secrets_by_number or not all(1 <= number <= MAX_KEYS for number in secrets_by_number):
            raise ValueError("a key ring holds at least one key, numbered from 1 to 255")
        self.secrets = dict(secrets_by_number)
        self.oldest, self.newest = min(self.secrets), max(self.secrets)
        self._keys = {number: _Key.derive(secret) for number, secret in self.secrets.items()}

    @classmethod
    def generate(cls, number: int = 1) -> Self:
        """Return a ring with one new key."""
        return cls({number: secrets.token_bytes(_SECRET_BYTES)})

    @classmethod
    def from_document(cls, document: Document) -> Self:
        return cls({int(number): bytes.fromhex(secret) for number, secret in document["secrets"].items()})

    def as_document(self) -> Document:
        return {"secrets": {str(number): secret.hex() for number, secret in self.secrets.items()}}

    def rotated(self, *, keep: bool = True) -> "KeyRing":
        """Return a ring with one more key. Without ``keep`` it has no other key, so every id issued so far is void."""
        older = self.secrets if keep else {}
        return KeyRing({**older, self.newest + 1: secrets.token_bytes(_SECRET_BYTES)})

    def issue(self, participant: str, run: str, position: Position, *, key: int) -> str:
        """Return the id of a sentence.

        If the run's key was voided, the oldest key takes its place: unlike the newest, it stays the same when keys are
        rotated, and with it the id.
        """
        number = key if key in self._keys else self.oldest
        signing_key = self._keys[number]
        plain = position.pack()
        tag = signing_key.authenticate(_associated_data(number, participant, run) + plain)[:_TAG_BYTES]
        encrypted = _xor_keystream(plain, signing_key.encrypt, tag)
        return _encode(bytes((number,)) + tag + encrypted)

    def decrypt(self, participant: str, run: str, token: str) -> Position | None:
        """Return the position in a token, or None unless a key of this ring issued it for this participant and run."""
        packed = _decode(token)
        key = self._keys.get(packed[0]) if packed else None
        if packed is None or key is None:
            return None
        tag, encrypted = packed[1 : 1 + _TAG_BYTES], packed[1 + _TAG_BYTES :]
        plain = _xor_keystream(encrypted, key.encrypt, tag)
        expected = key.authenticate(_associated_data(packed[0], participant, run) + plain)[:_TAG_BYTES]
        return Position.unpack(plain) if hmac.compare_digest(tag, expected) else None


def _associated_data(number: int, participant: str, run: str) -> bytes:
    """Return what a token is bound to. Names contain no NUL, so different ones never give the same bytes."""
    return f"{number}\0{participant}\0{run}\0".encode()


def _xor_keystream(text: bytes, encrypt: Prf, tag: bytes) -> bytes:
    """Encrypt or decrypt a text by exclusive-or with a keystream, which is different for every tag."""
    stream = encrypt(tag)
    if len(text) > _HASH_BYTES:
        stream += encrypt(tag + b"\1")
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream[: len(text)], "big")).to_bytes(len(text), "big")


def _decode(token: str) -> bytes | None:
    """Return the bytes of a token, or None if ``issue`` cannot have written it."""
    if len(token) not in _TOKEN_CHARACTERS:
        return None
    try:
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):  # ValueError: characters outside ASCII
        return None
    # A token has only one spelling. The decoder skips characters outside the alphabet, and ignores the unused bits of
    # the last character: encoding what it read tells both.
    return packed if _encode(packed) == token and len(packed) in _PACKED_BYTES else None


def _encode(packed: bytes) -> str:
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()
