"""What tests of several rooms share."""

import pytest
from hypothesis import settings

from tests import dynalite
from tests.client_sdk.java import compile_sdk

# Machines are noisy: how long an example takes says nothing about the code.
settings.register_profile("banditmt", deadline=None)
settings.load_profile("banditmt")


@pytest.fixture(scope="session")
def dynalite_url():
    with dynalite.running() as url:
        yield url


@pytest.fixture(scope="session")
def java_classes(tmp_path_factory):
    """The class path of the Java SDK and its tests."""
    return compile_sdk(tmp_path_factory.mktemp("java"))
