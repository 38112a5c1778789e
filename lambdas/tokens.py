"""Sentence ids: opaque tokens that prove that every earlier round of the run was committed.

A token carries the position in the run (index and cumulative sums), so that a round can be committed without reading
the previous one. It is sealed in the manner of RFC 5297's SIV with HMAC-SHA256 as the pseudo-random function: the tag
authenticates participant, run and position, and is at the same time the nonce under which the position is encrypted.
That is deterministic, so that a replayed answer carries the same id; it hides the sums, which under perturbed feedback
would give the clean score away; and nothing in it can be guessed or carried to another run.

    key number (1 byte) | tag (16) | sealed position (20)        50 characters of base64url
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

MAX_KEYS = 255  # the number of a key is one byte of an id

_POSITION = struct.Struct(">IQQ")
_TAG_BYTES = 16
_TOKEN_BYTES = 1 + _TAG_BYTES + _POSITION.size
_TOKEN_CHARACTERS = -(-_TOKEN_BYTES * 8 // 6)
_SECRET_BYTES = 32
_HASH_BLOCK_BYTES = 64  # of SHA-256


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands before a round is played."""

    index: int
    observed_ticks: int  # the sum of observed rewards before the round
    true_ticks: int  # the sum of true rewards before the round


class Prf:
    """HMAC-SHA256 under one key, with the key's share of the work done once."""

    def __init__(self, key: bytes) -> None:
        padded = key.ljust(_HASH_BLOCK_BYTES, b"\0")
        if len(padded) > _HASH_BLOCK_BYTES:
            raise ValueError(f"a key has at most {_HASH_BLOCK_BYTES} bytes")
        self._inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded))
        self._outer = hashlib.sha256(bytes(byte ^ 0x5C for byte in padded))

    def __call__(self, message: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message)
        outer.update(inner.digest())
        return outer.digest()


class _Key(NamedTuple):
    """Two independent functions from one secret: one authenticates, the other encrypts."""

    sign: Prf
    seal: Prf

    @classmethod
    def derive(cls, secret: bytes) -> "_Key":
        return cls(*(Prf(Prf(secret)(use)) for use in (b"banditmt token sign", b"banditmt token seal")))


class KeyRing:
    """The token keys of a task by number, 1 to 255. A run keeps the key that was the newest when it was opened."""

    def __init__(self, secrets_by_number: Mapping[int, bytes]) -> None:
        if not secrets_by_number or not all(1 <= number <= MAX_KEYS for number in secrets_by_number):
            raise ValueError("a key ring holds at least one key, numbered from 1 to 255")
        self.secrets = dict(secrets_by_number)
        self.oldest, self.newest = min(self.secrets), max(self.secrets)
        self._keys = {number: _Key.derive(secret) for number, secret in self.secrets.items()}

    @classmethod
    def fresh(cls, number: int = 1) -> Self:
        return cls({number: secrets.token_bytes(_SECRET_BYTES)})

    def rotated(self, *, keep: bool = True) -> "KeyRing":
        """A ring with one more key. Without ``keep``, every id issued so far is void."""
        older = self.secrets if keep else {}
        return KeyRing({**older, self.newest + 1: secrets.token_bytes(_SECRET_BYTES)})

    def issue(self, participant: str, run: str, position: Position, *, key: int) -> str:
        """The id of a sentence. A key that has left the ring is replaced by the oldest: rotation does not change it."""
        number = key if key in self._keys else self.oldest
        sign, seal = self._keys[number]
        plain = _POSITION.pack(position.index, position.observed_ticks, position.true_ticks)
        tag = sign(_bound(number, participant, run) + plain)[:_TAG_BYTES]
        return base64.urlsafe_b64encode(bytes((number,)) + tag + _mask(plain, seal, tag)).rstrip(b"=").decode()

    def read(self, participant: str, run: str, token: str) -> Position | None:
        """What a token says, or None if it was not issued for this participant and run by a key of this ring."""
        packed = _decode(token)
        key = self._keys.get(packed[0]) if packed else None
        if packed is None or key is None:
            return None
        tag, sealed = packed[1 : 1 + _TAG_BYTES], packed[1 + _TAG_BYTES :]
        plain = _mask(sealed, key.seal, tag)
        expected = key.sign(_bound(packed[0], participant, run) + plain)[:_TAG_BYTES]
        return Position(*_POSITION.unpack(plain)) if hmac.compare_digest(tag, expected) else None


def _bound(number: int, participant: str, run: str) -> bytes:
    """What a token is bound to. Names hold no NUL, so no two pairs look alike."""
    return f"{number}\0{participant}\0{run}\0".encode()


def _mask(text: bytes, seal: Prf, tag: bytes) -> bytes:
    """Encrypt or decrypt: exclusive-or with a stream that never repeats, because the tag is different each time."""
    stream = seal(tag)[: len(text)]
    return (int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")).to_bytes(len(text), "big")


def _decode(token: str) -> bytes | None:
    """The bytes of a token, if it is exactly what ``issue`` could have written."""
    if len(token) != _TOKEN_CHARACTERS:
        return None
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):  # ValueError: characters beyond ASCII
        return None
    # the spare bits of the last character must be zero: one token, one spelling
    canonical = base64.urlsafe_b64encode(packed).rstrip(b"=").decode() == token
    return packed if canonical else None
