"""A browser for the session, and a page of it for every test."""

from contextlib import ExitStack

import pytest
from playwright.sync_api import Error, expect

from tests import node_tools
from tests.browser import chromium
from tests.browser.stage import BoardApi, make_files, serving
from tests.leaderboard import boards

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
OWN = ("http://127.0.0.1:", "blob:http://127.0.0.1:")  # where the page may go
PATIENCE = 30_000  # milliseconds, for machines that are busy with other things
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser():
    make_files()
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(chromium.launched())
        except (chromium.MissingError, Error) as failure:
            node_tools.skip_or_fail(str(failure))
        yield opened


@pytest.fixture
def served():
    """Serves the page over APIs. The servers end after the windows: a page may still load while its test is done."""
    with ExitStack() as servers:
        yield lambda api: servers.enter_context(serving(api))


@pytest.fixture
def opened(browser, served):
    """Opens addresses in fresh windows. What the browser complains about fails the test, unless it is expected."""
    contexts, complaints = [], []

    def open_page(url, *, viewport=DESKTOP, expected=(), **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)

        def complain(text):
            if not any(each in text for each in expected):
                complaints.append(text)

        page.on("console", lambda message: message.type in ("error", "warning") and complain(message.text))
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("dialog", lambda dialog: (complain(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(OWN) or complain(request.url))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def contest():
    return boards.dev_board()


@pytest.fixture
def api(contest):
    """The service's part: a dev phase in its middle, and an empty mock phase."""
    return BoardApi({"mock": boards.empty_board(), "dev": contest})


@pytest.fixture
def url(api, served):
    return served(api)


@pytest.fixture(scope="session")
def axe():
    """The accessibility audit, as a script for a page."""
    node_tools.install()
    return (node_tools.HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
