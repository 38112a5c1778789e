"""``make screenshots``: pictures of the page for the documentation, light, dark and on a phone."""

import argparse
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, ViewportSize

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import open_store
from leaderboard.table import Board
from tests.browser.chromium import launched
from tests.browser.sample import sample_board
from tests.browser.stage import BoardApi, serving

LAST_CHART = "#chart-length[data-drawn]"


class Picture(NamedTuple):
    """What is to be seen, and how."""

    name: str
    viewport: ViewportSize
    scheme: Literal["light", "dark"]
    of_charts: bool = False


PICTURES = [
    Picture("light", {"width": 1280, "height": 1130}, "light"),
    Picture("dark", {"width": 1280, "height": 790}, "dark", of_charts=True),
    Picture("phone", {"width": 390, "height": 844}, "light"),
]


def stored_boards(address: str) -> dict[str, Board]:
    """The boards of all phases in a store."""
    store = open_store(address)
    try:
        scoreboard = Scoreboard(store)
        boards = {}
        for record in Registry(store).phases():
            scoreboard.catch_up(record)
            boards[record.phase.name] = scoreboard.board(record)
        return boards
    finally:
        store.close()


def take(browser: Browser, url: str, picture: Picture, path: Path) -> None:
    """One picture, when all is drawn."""
    context = browser.new_context(
        viewport=picture.viewport, color_scheme=picture.scheme, timezone_id="UTC", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(LAST_CHART, timeout=60_000)
    if picture.of_charts:
        page.locator("#charts-section").evaluate("section => window.scrollTo(0, section.offsetTop)")
        page.locator("#chart-regret .plot").hover(position={"x": 780, "y": 120})
    page.screenshot(path=path)
    context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="whose boards to show; without, a made-up one")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    boards = stored_boards(options.store) if options.store else {"dev": sample_board()}
    with serving(BoardApi(boards)) as url, launched() as browser:
        for picture in PICTURES:
            path = options.folder / f"leaderboard-{picture.name}.png"
            take(browser, url, picture, path)
            print(f"{path}  {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
