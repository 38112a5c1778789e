"""A service and a participant to play with."""

import pytest

from tests.lambdas import tasks


@pytest.fixture
def setting(store):
    """A service and a participant, over every engine."""
    return tasks.fresh(store)


@pytest.fixture
def embedded(sqlite):
    """The same over SQLite only, for what does not depend on the engine."""
    service, player = tasks.fresh(sqlite)
    return sqlite, service, player
