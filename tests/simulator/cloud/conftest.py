"""Fixtures for tests of the local cloud: the template, and a service with a small task."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lambdas import wiring
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import Store, open_store
from lambdas.task_loader import load_phase
from simulator.cloud.template import SamTemplate
from task.layout import Layout
from task.phases import Phase

PAIRS = [("haus", "house"), ("hund", "dog"), ("katze", "cat")]


@dataclass(frozen=True)
class LoadedService:
    """A service with a task and one participant."""

    store: Store
    service: Service
    api_key: str

    def is_known_key(self, key: str) -> bool:
        return key == self.api_key


@pytest.fixture(scope="session")
def template() -> SamTemplate:
    return SamTemplate.load("prod")


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[LoadedService]:
    """A service with a task and one participant, which the handlers of this process use."""
    store = open_store(f"sqlite:{tmp_path / 'store'}?synchronous=normal")
    load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
    api_key = Registry(store).add_participant("ada")
    service = Service(store)
    wiring.use_service(service)
    yield LoadedService(store, service, api_key)
    wiring.use_service(None)
    store.close()
