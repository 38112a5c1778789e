"""The leaderboard's page while the service is slow, refuses to answer, or is gone."""

import threading

from playwright.sync_api import expect

from lambdas.errors import PhaseNotFoundError
from tests.browser.conftest import PATIENCE
from tests.browser.stage import BoardApi, serving
from tests.browser.visitor import GONE, answered, drawn
from tests.leaderboard import boards


class SlowApi(BoardApi):
    """Tells no board of ``slow`` phases before it is ``ready``."""

    def __init__(self, boards, slow=("mock", "dev")):
        super().__init__(boards)
        self.ready, self._slow = threading.Event(), slow

    def leaderboard(self, viewer, phase):
        assert phase not in self._slow or self.ready.wait(2 * PATIENCE / 1000), "nobody else waits as long"
        return super().leaderboard(viewer, phase)


def test_nothing_can_be_pressed_before_there_are_data(opened, served, contest):
    api = SlowApi({"dev": contest})
    page = opened(served(api))
    answered(page, api, 1)
    for place in ("#csv", "#json", "#key-button", "#filter", "#board", "#charts", "#clear"):
        expect(page.locator(place)).to_be_hidden()
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    api.ready.set()
    for place in ("#csv", "#json", "#key-button", "#filter", "#board", "#charts", "#clear"):
        expect(page.locator(place)).to_be_visible()


def test_the_address_is_kept_by_who_skips_before_anything_is_known(opened, url):
    held = []
    page = opened("about:blank")
    page.route("**/page.json", lambda route: held.append(route))
    page.goto(f"{url}/#phase=mock&sort=-reward")
    for _ in range(PATIENCE // 50):
        if held:
            break
        page.wait_for_timeout(50)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    assert page.url.endswith("#phase=mock&sort=-reward")
    held[0].continue_()
    expect(page.locator("#title")).to_have_text("The mock phase")


def test_while_another_phase_is_on_its_way_nothing_acts_on_the_one_before(opened, served, contest):
    api = SlowApi({"mock": contest, "dev": contest})
    api.ready.set()
    page = drawn(opened(served(api)))
    api.ready.clear()
    page.click("#phases >> text=mock")
    expect(page.locator("main > [inert]")).to_have_count(2)
    page.locator("#skip").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_be_focused()
    api.ready.set()
    expect(page.locator("#title")).to_have_text("The mock phase")
    expect(page.locator("main > [inert]")).to_have_count(0)


def test_charts_do_not_wait_for_a_phase_that_was_left(opened, served, contest):
    api = SlowApi({"mock": contest, "dev": contest}, slow=["dev"])
    page = opened(f"{served(api)}#phase=dev")
    answered(page, api, 1)
    page.click("#phases >> text=mock")
    drawn(page)
    api.ready.set()


class PartlyHiddenApi(BoardApi):
    """Knows of a mock phase, but refuses to show it."""

    def leaderboard(self, viewer, phase):
        if phase == "mock":
            raise PhaseNotFoundError
        return super().leaderboard(viewer, phase)


def test_nothing_of_another_phase_stays_beside_one_that_is_refused(opened, served, contest):
    page = drawn(opened(served(PartlyHiddenApi({"mock": contest, "dev": contest})), expected=["404"]))
    page.click("#phases >> text=mock")
    expect(page.locator("#notice")).to_have_text("the server answered with 404")
    expect(page.locator("#title")).to_have_text("The mock phase")
    for place in ("#tiles > *", "#board", "#csv", "#charts", "#clear"):
        expect(page.locator(place).first).to_be_hidden()
    page.click("#phases >> text=dev")
    expect(page.locator("#title")).to_have_text("The dev phase")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#finished .system")).to_have_count(5)
    page.check("#only")
    expect(page.locator("#finished .system")).to_have_count(4)


def test_nothing_of_another_phase_stays_beside_one_that_is_lost(opened, contest):
    with serving(BoardApi({"mock": contest, "dev": contest})) as url:
        page = drawn(opened(url, expected=GONE))
    page.click("#phases >> text=mock")
    expect(page.locator("#title")).to_have_text("The mock phase")
    expect(page.locator("#status")).to_contain_text("no connection")
    expect(page.locator("#board")).to_be_hidden()


def test_a_server_that_goes_away_and_comes_back(opened, contest):
    api = BoardApi({"dev": contest})
    with serving(api) as url:
        page = drawn(opened(url, expected=GONE))
    expect(page.locator("#status")).to_contain_text("no connection")
    expect(page.locator("#finished .system")).to_have_count(5)
    api.boards["dev"] = boards.empty_board()
    with serving(api, port=int(url.rpartition(":")[2])):
        expect(page.locator("#status")).to_contain_text("live")
        expect(page.locator("#empty")).to_be_visible()


def test_a_service_without_phases_says_so(opened, served):
    api = BoardApi({})
    page = opened(served(api))
    expect(page.locator("#status")).to_have_text("there are no phases yet")
    expect(page.locator("#board")).to_be_hidden()
    page.evaluate("dispatchEvent(new Event('online'))")
    page.reload()
    expect(page.locator("#status")).to_have_text("there are no phases yet")
    assert api.requests == []
