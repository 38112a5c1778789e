"""An archive of everything, made once."""

import pytest

from lambdas.archive import export
from lambdas.store.sqlite import SQLiteStore
from tests.lambdas.archive import contests


@pytest.fixture(scope="session")
def contest(tmp_path_factory):
    """A store after a contest. Nobody may change it."""
    store = SQLiteStore.open(f"{tmp_path_factory.mktemp('contest') / 'store.db'}?synchronous=normal")
    contests.play(store)
    yield store
    store.close()


@pytest.fixture(scope="session")
def bare(contest, tmp_path_factory):
    """Its archive as it is made by default."""
    path = tmp_path_factory.mktemp("archives") / "bare.jsonl.gz"
    assert export(contest, path) == (6, 4 * 14 + 3)
    return path


@pytest.fixture(scope="session")
def full(contest, tmp_path_factory):
    """Its archive with texts and keys."""
    path = tmp_path_factory.mktemp("archives") / "full.jsonl.gz"
    export(contest, path, texts=True, keys=True)
    return path
