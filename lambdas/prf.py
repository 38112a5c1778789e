"""The pseudo-random function under sentence ids and chains: HMAC-SHA256, with each key processed only once."""

import hashlib

_HASH_BLOCK_BYTES = 64  # of SHA-256


class Prf:
    """A pseudo-random function: HMAC-SHA256 under one key, which is processed only once."""

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
