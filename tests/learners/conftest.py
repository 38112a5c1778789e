import pytest

from tests.learners import tiny


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A model store with every seed model, tiny; tests must not change it."""
    return tiny.model_store(tmp_path_factory.mktemp("models"))
