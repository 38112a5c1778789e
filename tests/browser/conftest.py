"""Fixtures: a browser for the session, and servers and windows for every test."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import Error, expect

from tests import node_tools
from tests.browser import chromium
from tests.browser.board_server import BoardApi, generate_files, serving
from tests.leaderboard import boards

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
ALLOWED_ADDRESSES = ("http://127.0.0.1:", "blob:http://127.0.0.1:")  # the page loads nothing from elsewhere
TIMEOUT_MS = 30_000  # long, for busy machines
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
def browser():
    generate_files()
    with ExitStack() as stack:
        try:
            launched = stack.enter_context(chromium.launched())
        except (chromium.MissingBrowserError, Error) as failure:
            node_tools.skip_or_fail(str(failure))
        yield launched


@pytest.fixture
def serve():
    """Return a function that serves the page over an API and returns its address.

    Servers stop after the windows are closed, because a page may still be loading when its test ends.
    """
    with ExitStack() as servers:
        yield lambda api: servers.enter_context(serving(api))


@pytest.fixture
def open_page(browser, serve):
    """Return a function that opens an address in a new window.

    Errors and warnings of the browser fail the test, unless they are expected.
    """
    contexts, errors = [], []

    def open_window(url, *, viewport=DESKTOP, expected=(), **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)

        def record(text):
            if not any(each in text for each in expected):
                errors.append(text)

        page.on("console", lambda message: message.type in ("error", "warning") and record(message.text))
        page.on("pageerror", lambda error: record(str(error)))
        page.on("dialog", lambda dialog: (record(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(ALLOWED_ADDRESSES) or record(request.url))
        page.goto(url)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def board():
    return boards.dev_board()


@pytest.fixture
def api(board):
    """Return a stand-in for the service, with a dev phase in progress and an empty mock phase."""
    return BoardApi({"mock": boards.empty_board(), "dev": board})


@pytest.fixture
def url(api, serve):
    return serve(api)


@pytest.fixture(scope="session")
def axe():
    """Return axe-core, the accessibility audit, as a script for a page."""
    node_tools.install()
    return (node_tools.HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
