"""API keys: which participant they name, and which runs that participant reaches."""

import pytest

from lambdas import errors
from lambdas.registry import Registry
from lambdas.service import Service
from tests.lambdas import tasks


class TestKeys:
    def test_a_valid_key_names_its_participant(self, embedded):
        store, service, _ = embedded
        key = Registry(store).add_participant("beta")
        assert service.authenticate(key).name == "beta"

    @pytest.mark.parametrize("key", [None, "", "x", "bmt_" + "a" * 43, "ä" * 47, "\ud800", "x" * 1_000_000])
    def test_an_invalid_key_is_refused(self, embedded, key):
        _, service, _ = embedded
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(key)

    def test_a_revoked_key_is_refused(self, embedded):
        store, service, _ = embedded
        registry = Registry(store)
        old = registry.add_participant("beta")
        registry.revoke_keys("beta")
        new = registry.add_key("beta")
        assert service.authenticate(new).name == "beta"
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(old)

    def test_a_disabled_participant_is_refused(self, embedded):
        store, service, _ = embedded
        key = Registry(store).add_participant("beta")
        Registry(store).set_disabled("beta", True)
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(key)

    def test_all_refused_keys_get_the_same_error(self, embedded):
        """The error does not reveal whether a key exists."""
        store, service, _ = embedded
        registry = Registry(store)
        revoked, disabled = registry.add_participant("beta"), registry.add_participant("gamma")
        registry.revoke_keys("beta")
        registry.set_disabled("gamma", True)
        messages = set()
        for key in (None, "", "bmt_" + "a" * 43, revoked, disabled):
            with pytest.raises(errors.InvalidKeyError) as refusal:
                service.authenticate(key)
            messages.add(refusal.value.message)
        assert len(messages) == 1

    def test_a_revoked_key_works_until_the_cache_expires(self, sqlite):
        tasks.load(sqlite)
        registry = Registry(sqlite)
        key = registry.add_participant("beta")
        service, strict = Service(sqlite, staleness=1_000), Service(sqlite, staleness=0)
        assert service.authenticate(key) == strict.authenticate(key)
        registry.revoke_keys("beta")
        assert service.authenticate(key).name == "beta"
        with pytest.raises(errors.InvalidKeyError):
            strict.authenticate(key)

    def test_runs_of_other_participants_are_not_found(self, embedded):
        store, service, player = embedded
        other = tasks.participant(store, service, "other")
        run = service.open_run(player, "mock", "copy").run
        token = service.sentence(player, run).id
        messages = set()
        for name in (run, "a" * 26, "", "x" * 3_000, "\ud800", "../x"):
            for call in (
                lambda name=name: service.run(other, name),
                lambda name=name: service.sentence(other, name),
                lambda name=name: service.translate(other, name, token, "rot"),
            ):
                with pytest.raises(errors.RunNotFoundError) as refusal:
                    call()
                messages.add(refusal.value.message)
        assert len(messages) == 1
