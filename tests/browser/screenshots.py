"""``make screenshots``: pictures of the page for the documentation, light, dark and on a phone.

They show the boards of ``make demo`` if it has been run, else an invented board. Post-edits, several seeds and an empty
board are always invented, because the demo has none of them.
"""

import argparse
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, Position

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from leaderboard.rows import Board
from simulator.cli.stores import open_existing_store
from simulator.tasks import DEMO_STORE
from tests.browser.board_server import BoardApi, serving
from tests.browser.chromium import launched
from tests.browser.sample_board import sample_board
from tests.leaderboard.boards import empty_board, post_edit_board, seeded_board

BOTTOM_MARGIN = 16  # pixels
ALL_DRAWN = "[...document.querySelectorAll('figure.card:not(.nothing, [hidden])')].every(each => each.dataset.drawn)"
POINTER: Position = {"x": 780, "y": 110}  # in the first chart, so that values are shown


class Picture(NamedTuple):
    """One screenshot."""

    name: str
    width: int
    scheme: Literal["light", "dark"]
    first: str  # selector of the first element shown
    last: str  # selector of the last one
    shows_values: bool = False  # with the pointer on the first chart
    device_scale: float = 1.0  # pixels of the picture per pixel of the page
    opens_run: bool = False  # the page of the best run
    unfolds: bool = False  # the seeds of a system
    has_charts: bool = True


PICTURES = [
    Picture("light", 1280, "light", "header", "#chart-gain"),
    Picture("dark", 1280, "dark", "#charts-section", "#chart-length", shows_values=True),
    Picture("phone", 390, "light", "header", "#chart-gain", device_scale=1.5),
    Picture("run", 1280, "light", "header", "#chart-regret", opens_run=True),
]
POST_EDIT_PICTURES = [
    Picture("post-edit-light", 1280, "light", "header", "#chart-difference"),
    Picture("post-edit-phone", 390, "light", "header", "#chart-difference", device_scale=1.5),
]
SEEDS_PICTURES = [Picture("seeds", 1280, "light", "header", "#board", unfolds=True)]
EMPTY_PICTURES = [Picture("empty", 1280, "light", "header", "#empty", has_charts=False)]


def stored_boards(address: str) -> dict[str, Board]:
    """Return the boards of all phases in a store, as the organiser sees them."""
    store = open_existing_store(address)
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
    """Take a screenshot when all charts are drawn."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": 800},
        color_scheme=picture.scheme,
        device_scale_factor=picture.device_scale,
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(picture.last, timeout=120_000)
    if picture.has_charts:
        page.wait_for_selector("#chart-reward[data-drawn]", timeout=120_000)
    if picture.opens_run:
        page.locator("#leader a").first.click()
        page.wait_for_selector("#run-section")
    if picture.unfolds:
        page.locator(".seeds:visible").first.click()
    page.wait_for_function(ALL_DRAWN)
    top, bottom = edge(page, picture.first, "top"), edge(page, picture.last, "bottom") + BOTTOM_MARGIN
    page.set_viewport_size({"width": picture.width, "height": round(bottom - top)})
    page.evaluate("top => scrollTo(0, top)", top)
    if picture.shows_values:
        page.locator("#chart-gain .plot").hover(position=POINTER)
    page.screenshot(path=path)
    context.close()


def edge(page: Page, selector: str, side: Literal["top", "bottom"]) -> float:
    """Return the position of an element's edge, from the top of the page."""
    box = page.locator(selector).evaluate("each => each.getBoundingClientRect().toJSON()")
    return float(box[side] + page.evaluate("scrollY"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="the store whose boards to show, such as sqlite:PATH")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"), help="where to write the pictures")
    options = parser.parse_args()
    store = options.store or (f"sqlite:{DEMO_STORE}" if DEMO_STORE.is_file() else None)
    print(f"boards of {store}" if store else "an invented board; run `make demo` to show its boards instead")
    boards = stored_boards(store) if store else {"dev": sample_board()}
    if not any(board.rows for board in boards.values()):
        parser.exit(1, f"{store} has no rounds to show\n")
    options.folder.mkdir(parents=True, exist_ok=True)
    with launched() as browser:
        post_edit, empty = {"post-edit": post_edit_board()}, {"dev": empty_board()}
        for shown, pictures in (
            (boards, PICTURES),
            (post_edit, POST_EDIT_PICTURES),
            ({"dev": seeded_board()}, SEEDS_PICTURES),
            (empty, EMPTY_PICTURES),
        ):
            with serving(BoardApi(shown)) as url:
                for picture in pictures:
                    path = options.folder / f"leaderboard-{picture.name}.png"
                    take(browser, url, picture, path)
                    print(f"{path}  {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
