"""The leaderboard's page in a real browser: its transfer size, and the time until it can be used.

Times are compared with an empty page from the same server in the same browser. Needs Chromium; as root on Debian, it is
installed. The exit code is 1 if a limit is exceeded.
"""

import argparse
import random
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from playwright.sync_api import Browser, Page

from leaderboard.rows import Board
from simulator.cloud.http_messages import HttpRequest, HttpResponse
from simulator.cloud.http_server import HttpServer, running
from tests.browser.board_server import BoardApi, serving
from tests.browser.chromium import launched
from tests.browser.sample_board import sample_board
from tests.leaderboard.boards import crowded_board

MAX_BYTES = 400 * 1024  # compressed, with charts
MAX_TIME_RATIO = 30  # until the table can be used, in times of an empty page: well above what is measured


class EmptyPage:
    """An application that serves an empty page."""

    def respond(self, request: HttpRequest) -> HttpResponse:  # noqa: ARG002
        return HttpResponse(
            200, [("Content-Type", "text/html")], b"<!doctype html><title>nothing</title><p id=ready>nothing"
        )

    def reject_early(self, request: HttpRequest) -> HttpResponse | None:
        """Reject no request."""

    def reject(self, reason: Any) -> HttpResponse:
        return HttpResponse(reason.value, [], b"")


def transfer_sizes(browser: Browser, url: str) -> dict[str, int]:
    """Return the bytes transferred for each file, headers included, until all charts are drawn."""
    context = browser.new_context()
    page = context.new_page()
    session = context.new_cdp_session(page)
    names: dict[str, str] = {}
    sizes: dict[str, int] = {}
    session.on("Network.responseReceived", lambda event: names.update({event["requestId"]: event["response"]["url"]}))
    session.on(
        "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])})
    )
    session.send("Network.enable")
    page.goto(url)
    page.wait_for_selector("#chart-length[data-drawn]", timeout=120_000)
    context.close()
    weights: dict[str, int] = {}
    for request, name in names.items():
        short = name.removeprefix(url).removeprefix("/") or "index.html"
        weights[short] = weights.get(short, 0) + sizes.get(request, 0)
    return weights


def seconds_until(browser: Browser, url: str, ready: Callable[[Page], Any], repeats: int) -> float:
    """Return the median time from requesting a page until it is ready, without a cache."""
    times = []
    for _ in range(repeats):
        context = browser.new_context()
        page = context.new_page()
        page.goto(url, wait_until="commit")
        ready(page)
        times.append(page.evaluate("performance.now()") / 1000)
        context.close()
    return statistics.median(times)


def wait_for_table(page: Page) -> None:
    page.wait_for_selector("#finished tr", timeout=120_000)


def wait_for_charts(page: Page) -> None:
    page.wait_for_selector("#chart-length[data-drawn]", timeout=120_000)


def distinct(board: Board) -> Board:
    """Return the board with a different curve for each run: the sample's equal curves would compress too well."""
    rng = random.Random(0)
    curves = [[round(value * rng.uniform(0.98, 1.02), 12) for value in row.curve] for row in board.rows]
    return replace(board, rows=[replace(row, curve=curve) for row, curve in zip(board.rows, curves, strict=True)])


def report(browser: Browser, title: str, board: Board, nothing: float, repeats: int, *, with_data: bool) -> bool:
    """Print sizes and times of a board; return whether they are within the limits."""
    with serving(BoardApi({"dev": board})) as url:
        weights = transfer_sizes(browser, url)
        table, charts = (seconds_until(browser, url, ready, repeats) for ready in (wait_for_table, wait_for_charts))
    total, data = sum(weights.values()), sum(size for name, size in weights.items() if name.startswith("v1/"))
    print(f"{title}: {len(board.rows)} runs, {len(board.checkpoints)} checkpoints")
    for name, size in sorted(weights.items(), key=lambda item: -item[1])[:4]:
        print(f"  {name:28} {size / 1024:7.1f} KB")
    print(f"  {'all but data':28} {(total - data) / 1024:7.1f} KB over the wire")
    print(f"  {'all':28} {total / 1024:7.1f} KB")
    print(f"  table usable after {table:.2f} s, {table / nothing:.1f}x an empty page; charts after {charts:.2f} s")
    weighed = total if with_data else total - data
    bounds = {
        f"{'all' if with_data else 'all but data'} under {MAX_BYTES // 1024} KB": weighed < MAX_BYTES,
        f"usable within {MAX_TIME_RATIO} times an empty page": table < MAX_TIME_RATIO * nothing,
    }
    for bound, is_met in bounds.items():
        print(f"  {'met' if is_met else 'NOT MET'}: {bound}")
    return all(bounds.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="measurements of each time; the median counts")
    repeats = parser.parse_args().repeats
    crowd = distinct(crowded_board(200))
    with launched() as browser:
        with running(HttpServer(("127.0.0.1", 0), EmptyPage())) as server:
            nothing = seconds_until(browser, server.url, lambda page: page.wait_for_selector("#ready"), repeats)
        print(f"an empty page is ready after {nothing:.2f} s")
        # Data grow with the number of runs, so only the usual board must fit with its data.
        usual = report(browser, "a dev phase", sample_board(), nothing, repeats, with_data=True)
        crowded = report(browser, "a crowded phase", crowd, nothing, repeats, with_data=False)
    return 0 if usual and crowded else 1


if __name__ == "__main__":
    sys.exit(main())
