"""What a visitor of the page looks at, waits for and does."""

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE

GONE = ("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")  # what a browser says of a server
CHARTS = ["regret", "reward", "corpus", "sentence", "length"]


def systems(page, section="finished"):
    return page.locator(f"#{section} .system").all_inner_texts()


def column(page, key, section="finished"):
    return page.locator(f"#{section} td.column-{key} .value").all_inner_texts()


def drawn(page):
    """Wait for all charts."""
    for name in CHARTS:
        expect(page.locator(f"#chart-{name}[data-drawn] svg")).to_be_visible()
    return page


def lines(page, chart="regret"):
    """The strokes of the lines in a chart."""
    return page.locator(f"#chart-{chart} svg g.mark-line path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('stroke') || path.style.stroke)"
    )


def answered(page, api, count):
    """Wait until the page has asked the service so often."""
    for _ in range(PATIENCE // 50):
        if len(api.requests) >= count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the page asked {len(api.requests)} times")


def use_key(page, key="bmt_secret"):
    page.click("#key-button")
    page.fill("#key", key)
    page.keyboard.press("Enter")
    expect(page.locator("#key-dialog")).to_be_hidden()
