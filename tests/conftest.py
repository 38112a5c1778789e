"""What tests of several rooms share."""

import pytest
from hypothesis import settings

from tests import dynalite

# Machines are noisy: how long an example takes says nothing about the code.
settings.register_profile("banditmt", deadline=None)
settings.load_profile("banditmt")


@pytest.fixture(scope="session")
def dynalite_url():
    with dynalite.running() as url:
        yield url
