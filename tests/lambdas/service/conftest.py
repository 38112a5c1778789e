"""A service and a participant."""

import pytest

from tests.lambdas import tasks


@pytest.fixture
def setting(store):
    """A service and a participant, over every engine."""
    return tasks.start_service(store)


@pytest.fixture
def embedded(sqlite):
    """A service and a participant over SQLite only, for tests that do not depend on the engine."""
    service, player = tasks.start_service(sqlite)
    return sqlite, service, player
