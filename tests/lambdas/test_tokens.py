"""Sentence ids are valid only for their participant and run, hide their contents, and have one spelling."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas.tokens import KeyRing, Position

RING = KeyRing({1: b"\x01" * 32})
START = Position(0, 0, 0)
names = st.text("abcXYZ.-_", min_size=1, max_size=8)
sums = st.integers(0, 2**64 - 1)
links = st.just(b"") | st.binary(min_size=16, max_size=16)
positions = st.builds(Position, st.integers(0, 2**32 - 1), sums, sums, links)


def issue(position=START, participant="acme", run="run", ring=RING, key=1):
    return ring.issue(participant, run, position, key=key)


@given(names, names, positions)
def test_a_token_decrypts_to_its_position(participant, run, position):
    assert RING.decrypt(participant, run, issue(position, participant, run)) == position


def test_a_token_is_deterministic():
    """A repeated response must be equal byte for byte."""
    assert issue() == issue() == "AWr703HpNcr_koyN2-p0t7jMd5FdoLrngGoxt3rYjHGPVSrCog"


def test_a_token_with_a_link_is_longer():
    assert [len(issue(Position(7, 5, 5, link))) for link in (b"", bytes(16))] == [50, 71]


@given(names, names, names, names, positions)
def test_a_token_is_valid_for_its_participant_and_run_only(participant, run, other_participant, other_run, position):
    token = issue(position, participant, run)
    opened = RING.decrypt(other_participant, other_run, token)
    assert (opened == position) == ((participant, run) == (other_participant, other_run))


def test_names_cannot_be_shifted_between_participant_and_run():
    assert RING.decrypt("ac", "merun", issue(participant="acme", run="run")) is None


@given(positions, st.integers(0, 52), st.integers(1, 255))
def test_a_changed_byte_is_detected(position, place, change):
    packed = bytearray(base64.urlsafe_b64decode(issue(position) + "=="))
    packed[place % len(packed)] ^= change
    assert RING.decrypt("acme", "run", base64.urlsafe_b64encode(packed).decode().rstrip("=")) is None


@pytest.mark.parametrize(
    "token",
    ["", "x", "A" * 49, "A" * 50, "A" * 51, "ä" * 50, "*" * 50, "=" * 50, "A" * 48 + "==", "\0" * 50, "\ud800" * 50],
)
def test_text_that_is_not_a_token_is_refused(token):
    assert RING.decrypt("acme", "run", token) is None


def test_a_token_has_one_spelling():
    """The last character has unused bits; a client must not be able to write the same id in several ways."""
    token = issue()
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    accepted = [last for last in letters if RING.decrypt("acme", "run", token[:-1] + last)]
    assert accepted == [token[-1]]


def test_positions_are_hidden():
    """Two rounds that differ in one tick have nothing in common but the key number."""
    one, two = issue(Position(7, 10**12, 5)), issue(Position(7, 10**12, 6))
    same = sum(a == b for a, b in zip(one[2:], two[2:], strict=True))
    assert same < 10
    plain = Position(7, 10**12, 5)
    assert (10**12).to_bytes(8, "big") not in base64.urlsafe_b64decode(one + "==")
    assert RING.decrypt("acme", "run", one) == plain


class TestRotation:
    def test_old_tokens_stay_valid(self):
        rotated = RING.rotated()
        assert rotated.newest == 2
        assert rotated.decrypt("acme", "run", issue()) == START

    def test_a_run_keeps_its_key(self):
        assert issue(ring=RING.rotated(), key=1) == issue()

    def test_a_new_run_uses_the_new_key(self):
        rotated = RING.rotated()
        token = issue(ring=rotated, key=rotated.newest)
        assert RING.decrypt("acme", "run", token) is None
        assert rotated.decrypt("acme", "run", token) == START

    def test_voiding_invalidates_every_old_token(self):
        voided = RING.rotated(keep=False)
        assert voided.decrypt("acme", "run", issue()) is None

    def test_a_run_whose_key_was_voided_continues_with_the_next(self):
        voided = RING.rotated(keep=False)
        token = issue(ring=voided, key=1)
        assert voided.decrypt("acme", "run", token) == START
        assert issue(ring=voided.rotated(), key=1) == token  # and keeps that one

    def test_generated_secrets_are_different(self):
        assert KeyRing.generate().secrets != KeyRing.generate().secrets
        assert len(KeyRing.generate().secrets[1]) == 32

    @pytest.mark.parametrize("secrets", [{}, {0: b"x"}, {256: b"x"}])
    def test_a_ring_needs_keys_numbered_from_1_to_255(self, secrets):
        with pytest.raises(ValueError, match="numbered from 1 to 255"):
            KeyRing(secrets)
