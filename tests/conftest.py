"""Fixtures that tests of several packages share."""

import pytest
from hypothesis import settings

from tests import dynalite
from tests.client_sdk.java_sdk import compile_sdk

# No deadline: on a busy machine, the duration of an example says nothing about the code.
settings.register_profile("banditmt", deadline=None)
settings.load_profile("banditmt")


@pytest.fixture(scope="session")
def dynalite_url():
    """The address of a dynalite server."""
    with dynalite.running() as url:
        yield url


@pytest.fixture(scope="session")
def java_classes(tmp_path_factory):
    """The class path of the Java SDK and its tests."""
    return compile_sdk(tmp_path_factory.mktemp("java"))
