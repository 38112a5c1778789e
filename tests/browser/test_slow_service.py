"""The leaderboard's page while the service is slow, refuses a request, or is unreachable."""

import threading

from playwright.sync_api import expect

from lambdas.errors import PhaseNotFoundError
from tests.browser.board_server import BoardApi, serving
from tests.browser.conftest import TIMEOUT_MS
from tests.browser.page_actions import CONTESTANTS, SERVER_GONE, wait_for_charts, wait_for_requests
from tests.leaderboard import boards


class SlowApi(BoardApi):
    """Answers requests for the boards of ``slow`` phases only when ``ready`` is set."""

    def __init__(self, boards, slow=("mock", "dev")):
        super().__init__(boards)
        self.ready, self._slow = threading.Event(), slow

    def leaderboard(self, viewer, phase):
        assert phase not in self._slow or self.ready.wait(2 * TIMEOUT_MS / 1000), "the test should have set it by now"
        return super().leaderboard(viewer, phase)


def test_controls_are_hidden_until_there_are_data(open_page, serve, board):
    api = SlowApi({"dev": board})
    page = open_page(serve(api))
    wait_for_requests(page, api, 1)
    for place in ("#csv", "#json", "#key-button", "#filter", "#board", "#charts", "#clear"):
        expect(page.locator(place)).to_be_hidden()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    api.ready.set()
    for place in ("#csv", "#json", "#key-button", "#filter", "#board", "#charts", "#clear"):
        expect(page.locator(place)).to_be_visible()


def test_skip_link_keeps_the_address_before_settings_arrive(open_page, url):
    held = []
    page = open_page("about:blank")
    page.route("**/page.json", lambda route: held.append(route))
    page.goto(f"{url}/#phase=mock&sort=-reward")
    for _ in range(TIMEOUT_MS // 50):
        if held:
            break
        page.wait_for_timeout(50)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    assert page.url.endswith("#phase=mock&sort=-reward")
    held[0].continue_()
    expect(page.locator("#title")).to_have_text("The mock phase")


def test_previous_phase_is_inert_while_another_loads(open_page, serve, board):
    api = SlowApi({"mock": board, "dev": board})
    api.ready.set()
    page = wait_for_charts(open_page(serve(api)))
    api.ready.clear()
    page.click("#phases >> text=mock")
    expect(page.locator("main > [inert]")).to_have_count(4)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    api.ready.set()
    expect(page.locator("#title")).to_have_text("The mock phase")
    expect(page.locator("main > [inert]")).to_have_count(0)


def test_charts_do_not_wait_for_a_phase_that_was_left(open_page, serve, board):
    api = SlowApi({"mock": board, "dev": board}, slow=["dev"])
    page = open_page(f"{serve(api)}#phase=dev")
    wait_for_requests(page, api, 1)
    page.click("#phases >> text=mock")
    wait_for_charts(page)
    api.ready.set()


class PartlyHiddenApi(BoardApi):
    """Lists a mock phase, but refuses its board."""

    def leaderboard(self, viewer, phase):
        if phase == "mock":
            raise PhaseNotFoundError
        return super().leaderboard(viewer, phase)


def test_refused_phase_shows_nothing_of_another_phase(open_page, serve, board):
    page = wait_for_charts(open_page(serve(PartlyHiddenApi({"mock": board, "dev": board})), expected=["404"]))
    page.click("#phases >> text=mock")
    expect(page.locator("#notice")).to_have_text("the server answered with 404")
    expect(page.locator("#title")).to_have_text("The mock phase")
    for place in ("#tiles > *", "#board", "#csv", "#charts", "#clear"):
        expect(page.locator(place).first).to_be_hidden()
    page.click("#phases >> text=dev")
    expect(page.locator("#title")).to_have_text("The dev phase")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    page.check("#only")
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(4)


def test_unreachable_phase_shows_nothing_of_another_phase(open_page, board):
    with serving(BoardApi({"mock": board, "dev": board})) as url:
        page = wait_for_charts(open_page(url, expected=SERVER_GONE))
    page.click("#phases >> text=mock")
    expect(page.locator("#title")).to_have_text("The mock phase")
    expect(page.locator("#status")).to_contain_text("no connection")
    expect(page.locator("#board")).to_be_hidden()


def test_page_recovers_when_the_server_comes_back(open_page, board):
    api = BoardApi({"dev": board})
    with serving(api) as url:
        page = wait_for_charts(open_page(url, expected=SERVER_GONE))
    expect(page.locator("#status")).to_contain_text("no connection")
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    api.boards["dev"] = boards.empty_board()
    with serving(api, port=int(url.rpartition(":")[2])):
        expect(page.locator("#status")).to_contain_text("live")
        expect(page.locator("#empty")).to_be_visible()


def test_service_without_phases_has_a_message(open_page, serve):
    api = BoardApi({})
    page = open_page(serve(api))
    expect(page.locator("#status")).to_have_text("there are no phases yet")
    expect(page.locator("#board")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('online'))")
    page.reload()
    expect(page.locator("#status")).to_have_text("there are no phases yet")
    assert api.requests == []
