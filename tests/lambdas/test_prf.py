"""The pseudo-random function is HMAC-SHA256 for keys of up to one block."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.prf import Prf


@given(st.binary(max_size=64), st.binary(max_size=200))
def test_the_prf_is_hmac(key, message):
    assert Prf(key)(message) == hmac.digest(key, message, "sha256")


def test_the_prf_refuses_keys_that_hmac_would_hash_first():
    with pytest.raises(ValueError, match="at most 64 bytes"):
        Prf(bytes(65))
