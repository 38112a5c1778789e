"""How a command opens its store, and what it takes from the store's address."""

import pytest

from lambdas.store import StoreError
from simulator.cli.stores import open_existing_store, open_or_create_store, stack_region
from simulator.tasks import DEFAULT_STORE


@pytest.mark.parametrize(
    ("address", "region"),
    [
        ("dynamodb:eu-central-1", "eu-central-1"),
        ("dynamodb:eu-central-1?prefix=banditmt", "eu-central-1"),
        ("dynamodb:http://127.0.0.1:8000", None),
        ("dynamodb:http://127.0.0.1:8000?prefix=banditmt", None),
        ("sqlite:store.db", None),
    ],
)
def test_only_a_deployed_stack_has_a_region(address, region):
    assert stack_region(address) == region


def test_a_mistyped_path_does_not_become_an_empty_store(tmp_path):
    with pytest.raises(StoreError, match=r"there is no store at .*typo.db; look again"):
        open_existing_store(f"sqlite:{tmp_path / 'typo.db'}", "look again")
    assert list(tmp_path.iterdir()) == []


def test_the_default_store_is_created_with_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    open_or_create_store(DEFAULT_STORE).close()
    open_existing_store(DEFAULT_STORE).close()
    assert (tmp_path / ".banditmt" / "store.sqlite").is_file()


def test_any_other_store_is_created_in_a_folder_that_exists(tmp_path):
    open_or_create_store(f"sqlite:{tmp_path / 'store.db'}").close()
    assert (tmp_path / "store.db").is_file()
    with pytest.raises(StoreError, match="the folder of the store does not exist"):
        open_or_create_store(f"sqlite:{tmp_path / 'missing' / 'store.db'}")
