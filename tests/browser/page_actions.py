"""What tests read from the page, wait for and do."""

from playwright.sync_api import expect

from tests.browser.conftest import TIMEOUT_MS

SERVER_GONE = (
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
)  # errors of a browser without a server
CHARTS = ["gain", "regret", "reward", "corpus", "sentence", "length"]


CONTESTANTS = "#finished tr.contestant"  # the ranked rows, without those for comparison


def systems(page, rows=CONTESTANTS):
    return page.locator(f"{rows} .system").all_inner_texts()


def column(page, key, rows=CONTESTANTS):
    return page.locator(f"{rows} td.column-{key} .value").all_inner_texts()


def wait_for_charts(page):
    """Wait until all charts are drawn; return the page."""
    for name in CHARTS:
        expect(page.locator(f"#chart-{name}[data-drawn] svg")).to_be_visible()
    return page


def line_colours(page, chart="regret"):
    """Return the colours of the lines in a chart."""
    return page.locator(f"#chart-{chart} svg g.mark-line path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('stroke') || path.style.stroke)"
    )


def wait_for_requests(page, api, count):
    """Wait until the page has sent this many requests to the service."""
    for _ in range(TIMEOUT_MS // 50):
        if len(api.requests) >= count:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"the page sent {len(api.requests)} requests")


def enter_key(page, key="bmt_secret"):
    page.click("#key-button")
    page.fill("#key", key)
    page.keyboard.press("Enter")
    expect(page.locator("#key-dialog")).to_be_hidden()
