"""The registry of participants, keys, phases and token keys."""

import hashlib

import pytest

from lambdas.errors import BadRequestError
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry, RegistryError, api_key_digest
from lambdas.store import StoreError, documents
from tests.lambdas import tasks


@pytest.fixture
def registry(sqlite):
    return Registry(sqlite, clock=lambda: 1_700_000_000.5)


def everything(store):
    return "\n".join(store._writer.iterdump())


class TestKeys:
    def test_a_key_is_256_random_bits_and_stored_as_its_hash(self, registry, sqlite):
        key = registry.add_participant("acme")
        assert len(key) == len("bmt_") + 43
        assert [kept.digest for kept in registry.keys("acme")] == [hashlib.sha256(key.encode()).hexdigest()]
        assert key not in everything(sqlite)
        assert key[4:] not in everything(sqlite)

    def test_every_key_is_different(self, registry):
        registry.add_participant("acme")
        keys = {registry.add_key("acme") for _ in range(50)}
        assert len(keys) == 50

    @pytest.mark.parametrize("text", ["", "x", "bmt_", "bmt_" + "a" * 42, "bmt_" + "ä" * 43, "bmt_" + "a" * 43 + "\n"])
    def test_text_that_cannot_be_a_key_has_no_digest(self, text):
        assert api_key_digest(text) is None

    def test_revoking_one_of_several(self, registry):
        registry.add_participant("acme")
        registry.add_key("acme")
        first, second = registry.keys("acme")
        assert registry.revoke_keys("acme", first.short_digest) == 1
        assert {key.digest: key.revoked for key in registry.keys("acme")} == {first.digest: True, second.digest: False}

    @pytest.mark.parametrize("short", ["", "x"])
    def test_revoking_one_key_needs_its_digest(self, registry, short):
        registry.add_participant("acme")
        with pytest.raises(RegistryError):
            registry.revoke_keys("acme", short)
        assert not registry.keys("acme")[0].revoked

    def test_revoking_all_keys_counts_those_that_were_valid(self, registry):
        registry.add_participant("acme")
        registry.add_key("acme")
        assert registry.revoke_keys("acme") == 2
        assert registry.revoke_keys("acme") == 0

    def test_keys_of_an_unknown_participant(self, registry):
        for refused in (registry.add_key, registry.revoke_keys):
            with pytest.raises(RegistryError, match="no participant nobody"):
                refused("nobody")


class TestParticipants:
    def test_a_name_is_taken_once(self, registry):
        registry.add_participant("acme")
        with pytest.raises(RegistryError, match="already"):
            registry.add_participant("acme")
        assert len(registry.keys("acme")) == 1

    @pytest.mark.parametrize(
        "name", ["", " ", "a b", "a/b", "../x", "-x", ".x", "x" * 65, "ä", "<script>", "a\n", "a\0"]
    )
    def test_invalid_names_are_refused(self, registry, name):
        with pytest.raises(BadRequestError, match="1 to 64 characters"):
            registry.add_participant(name)
        assert registry.participants() == []

    def test_disabling_and_enabling(self, registry):
        registry.add_participant("acme")
        registry.set_disabled("acme", True)
        assert registry.participant("acme").disabled
        registry.set_disabled("acme", False)
        assert not registry.participant("acme").disabled
        assert registry.participant("acme").created_at == 1_700_000_000_500


class TestPhases:
    def test_a_phase_is_read_as_it_was_loaded(self, registry, sqlite):
        tasks.load(sqlite)
        record = registry.phase("dev")
        assert record.phase == tasks.DEV
        assert record.state is PhaseState.OPEN
        assert [each.phase.name for each in registry.phases()] == ["training", "mock", "dev"]

    def test_opening_freezing_closing(self, registry, sqlite):
        tasks.load(sqlite)
        for state in (PhaseState.FROZEN, PhaseState.CLOSED, PhaseState.OPEN):
            registry.set_phase_state("dev", state)
            assert registry.phase("dev").state is state
        assert registry.set_phase_state("dev", PhaseState.OPEN, runs=7).runs == 7
        assert registry.phase("dev").runs == 7

    def test_a_phase_that_does_not_exist(self, registry, sqlite):
        with pytest.raises(RegistryError, match="none is loaded"):
            registry.set_phase_state("dev", PhaseState.OPEN)
        tasks.load(sqlite)
        with pytest.raises(RegistryError, match=r"no phase test \(training, mock, dev\)"):
            registry.set_phase_state("test", PhaseState.OPEN)


def test_token_keys_are_created_once_and_can_be_rotated(registry):
    with pytest.raises(StoreError, match="load one first"):
        registry.key_ring()
    registry.ensure_key_ring()
    ring = registry.key_ring()
    registry.ensure_key_ring()
    assert registry.key_ring().secrets == ring.secrets
    assert registry.rotate_key_ring(keep=True).secrets.keys() == {1, 2}
    assert registry.key_ring().secrets.keys() == {1, 2}
    assert registry.rotate_key_ring(keep=False).secrets.keys() == {3}


def test_token_keys_end_at_255(registry, sqlite):
    sqlite.replace(documents.KEY_RING, "tokens", {"secrets": {"255": "00" * 32}})
    with pytest.raises(RegistryError, match="255"):
        registry.rotate_key_ring(keep=True)
    assert registry.key_ring().secrets.keys() == {255}


class InterruptedStore:
    """A store in which another organiser makes a change between our read and our write."""

    def __init__(self, store, change):
        self._store, self._change = store, change

    def __getattr__(self, name):
        return getattr(self._store, name)

    def compare_and_swap(self, *arguments):
        change, self._change = self._change, None
        if change:
            change(Registry(self._store))
        return self._store.compare_and_swap(*arguments)


def test_concurrent_changes_of_two_organisers_are_both_kept(sqlite):
    tasks.load(sqlite)
    registry = Registry(sqlite)
    raising = InterruptedStore(sqlite, lambda other: other.set_phase_state("dev", PhaseState.CLOSED))
    Registry(raising).set_phase_state("dev", PhaseState.FROZEN, runs=7)
    assert (registry.require_phase("dev").state, registry.require_phase("dev").runs) == (PhaseState.FROZEN, 7)
    closing = InterruptedStore(sqlite, lambda other: other.set_phase_state("dev", PhaseState.OPEN, runs=9))
    Registry(closing).set_phase_state("dev", PhaseState.CLOSED)
    assert (registry.require_phase("dev").state, registry.require_phase("dev").runs) == (PhaseState.CLOSED, 9)


def test_two_concurrent_rotations_keep_both_token_keys(sqlite):
    tasks.load(sqlite)
    registry = Registry(sqlite)
    first = registry.key_ring().secrets[1]
    Registry(InterruptedStore(sqlite, lambda other: other.rotate_key_ring(keep=True))).rotate_key_ring(keep=True)
    assert sorted(registry.key_ring().secrets) == [1, 2, 3]
    assert registry.key_ring().secrets[1] == first


def test_a_voided_ring_stays_void_under_a_concurrent_rotation(sqlite):
    tasks.load(sqlite)
    Registry(InterruptedStore(sqlite, lambda other: other.rotate_key_ring(keep=False))).rotate_key_ring(keep=True)
    assert sorted(Registry(sqlite).key_ring().secrets) == [2, 3]


def test_a_change_that_always_conflicts_is_given_up(sqlite):
    tasks.load(sqlite)
    registry = Registry(sqlite)
    registry.add_participant("acme")
    sqlite.compare_and_swap = lambda *_: False
    with pytest.raises(RegistryError, match="participant acme was changed or deleted meanwhile"):
        registry.set_disabled("acme", True)
