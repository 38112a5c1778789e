import shutil

import pytest

from learners.seed_models.catalogue import OFFLINE_MODELS
from tests.learners import tiny


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """A model store with every seed model, tiny; tests must not change it. Those from logs are copies."""
    store = tiny.model_store(tmp_path_factory.mktemp("models"))
    for model in OFFLINE_MODELS:
        shutil.copy(store.path(model.starts_from), store.path(model))
    return store
