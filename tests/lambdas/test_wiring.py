"""How the handlers of a process find their service."""

from lambdas import wiring
from lambdas.store.dynamodb import DynamoDBStore
from tests.lambdas import tasks


def test_the_environment_names_the_store(sqlite, monkeypatch):
    tasks.load(sqlite)
    monkeypatch.setenv("BANDITMT_STORE", f"sqlite:{sqlite.path}")
    wiring.use_service(None)
    assert wiring.service() is wiring.service()
    assert [phase.phase for phase in wiring.service().phases()] == ["training", "mock", "dev"]
    wiring.use_service(None)


def test_in_the_cloud_the_region_is_enough(monkeypatch):
    monkeypatch.delenv("BANDITMT_STORE", raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    wiring.use_service(None)
    store = wiring.service()._store
    assert isinstance(store, DynamoDBStore)
    assert store._client.meta.region_name == "eu-central-1"
    wiring.use_service(None)
