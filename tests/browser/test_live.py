"""The page with the real service: played rounds appear."""

import pytest
from playwright.sync_api import expect

from lambdas import wiring
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from simulator.cloud.http_server import running
from simulator.cloud.local_cloud import local_server
from simulator.cloud.template import SamTemplate
from tests.lambdas import tasks


@pytest.fixture
def store(tmp_path):
    store = open_store(f"sqlite:{tmp_path / 'store.db'}?synchronous=normal")
    tasks.load(store)
    yield store
    store.close()


@pytest.fixture
def service(store):
    return Service(store, staleness=0)


@pytest.fixture
def url(service):
    try:
        with running(local_server(SamTemplate.load("local"), service, ("127.0.0.1", 0))) as server:
            yield server.url
    finally:
        wiring.use_service(None)


def test_run_appears_progresses_and_finishes(open_page, url, store, service):
    player = tasks.participant(store, service)
    page = open_page(f"{url}/#phase=dev")
    expect(page.locator("#empty")).to_be_visible()
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run, rounds=7)
    expect(page.locator("#unfinished .column-progress .value")).to_have_text("7")
    expect(page.locator("#unfinished .column-progress .note")).to_have_text("50 %")
    tasks.play(service, player, run)
    expect(page.locator("#finished .system")).to_have_text("copy")
    [row] = [row.as_dict() for row in service.leaderboard(None, "dev").rows]
    expect(page.locator("#finished .column-mean_reward .value")).to_have_text(f"{row['mean_reward']:.4f}")
    expect(page.locator("#announcer")).to_contain_text("copy\u2069 has finished")


def test_api_key_shows_own_runs_of_a_phase_that_is_not_public(open_page, url, store, service):
    api_key = Registry(store).add_participant("acme")
    other = tasks.participant(store, service, "other")
    for player, system in ((service.authenticate(api_key), "mine"), (other, "theirs")):
        tasks.play(service, player, service.open_run(player, "training", system).run)
    page = open_page(f"{url}/#phase=training")
    expect(page.locator("#visibility")).to_contain_text("This phase becomes public when it closes")
    expect(page.locator("#empty")).to_contain_text("The runs of this phase are not public yet.")
    expect(page.locator("#board")).to_be_hidden()
    page.click("#key-button")
    page.fill("#key", api_key)
    page.keyboard.press("Enter")
    expect(page.locator("#finished .system")).to_have_text("mine")
    expect(page.locator("#visibility")).to_contain_text("participants see only their own runs")
    Registry(store).set_phase_state("training", PhaseState.CLOSED)
    expect(page.locator("#finished .system")).to_have_count(2)
