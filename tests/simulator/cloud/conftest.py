"""A small task in a store, and the local cloud over it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lambdas import wiring
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import Store, open_store
from lambdas.task_loader import load_phase
from simulator.cloud.template import Template
from task.layout import Layout
from task.phases import Phase

PAIRS = [("haus", "house"), ("hund", "dog"), ("katze", "cat")]


@dataclass(frozen=True)
class Stage:
    """What a test of the cloud plays with."""

    store: Store
    service: Service
    api_key: str

    def knows_key(self, key: str) -> bool:
        return key == self.api_key


@pytest.fixture(scope="session")
def template() -> Template:
    return Template.load("prod")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """A loaded store with one participant, and the handlers wired to it."""
    store = open_store(f"sqlite:{tmp_path / 'store'}?synchronous=normal")
    load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
    api_key = Registry(store).add_participant("ada")
    service = Service(store)
    wiring.use_service(service)
    yield Stage(store, service, api_key)
    wiring.use_service(None)
    store.close()
