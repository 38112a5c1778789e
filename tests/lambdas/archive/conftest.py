"""Archives of one store, written once."""

import pytest

from lambdas.archive import export
from lambdas.store.sqlite import SQLiteStore
from tests.lambdas.archive import competitions


@pytest.fixture(scope="session")
def archived(tmp_path_factory):
    """A store after a competition, shared by all tests: do not change it."""
    store = SQLiteStore.open(f"{tmp_path_factory.mktemp('archived') / 'store.db'}?synchronous=normal")
    competitions.play(store)
    yield store
    store.close()


@pytest.fixture(scope="session")
def bare(archived, tmp_path_factory):
    """The archive of that store, without texts and keys."""
    path = tmp_path_factory.mktemp("archives") / "bare.jsonl.gz"
    assert export(archived, path) == (6, 4 * 14 + 3)
    return path


@pytest.fixture(scope="session")
def full(archived, tmp_path_factory):
    """The archive of that store, with texts and keys."""
    path = tmp_path_factory.mktemp("archives") / "full.jsonl.gz"
    export(archived, path, texts=True, keys=True)
    return path
