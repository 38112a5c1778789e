"""``make screenshots``: pictures of the page for the documentation, light, dark and on a phone.

They show what `make demo` left behind; where nobody has run it, a made-up board. ``--store`` names any other store.
"""

import argparse
from pathlib import Path
from typing import Literal, NamedTuple

from playwright.sync_api import Browser, Page, Position

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from leaderboard.table import Board
from simulator.cli.stores import open_existing_store
from simulator.tasks import DEMO_STORE
from tests.browser.chromium import launched
from tests.browser.sample import sample_board
from tests.browser.stage import BoardApi, serving

MARGIN = 16  # pixels below what is shown last
DRAWN = "[...document.querySelectorAll('figure.card:not(.nothing)')].every(each => each.dataset.drawn)"
POINTED: Position = {"x": 780, "y": 110}  # in the first chart, so that values are shown


class Picture(NamedTuple):
    """What is to be seen, and how."""

    name: str
    width: int
    scheme: Literal["light", "dark"]
    begins: str  # with this element
    ends: str  # and with this one
    points: bool = False  # at values in the first chart
    sharpness: float = 1.0  # pixels of the picture per pixel of the page


PICTURES = [
    Picture("light", 1280, "light", "header", "#chart-regret"),
    Picture("dark", 1280, "dark", "#charts-section", "#chart-length", points=True),
    Picture("phone", 390, "light", "header", "#board", sharpness=1.5),
]


def stored_boards(address: str) -> dict[str, Board]:
    """The boards of all phases in a store, as the organiser sees them."""
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
    """One picture, when all is drawn."""
    context = browser.new_context(
        viewport={"width": picture.width, "height": 800},
        color_scheme=picture.scheme,
        device_scale_factor=picture.sharpness,
        timezone_id="UTC",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("#chart-reward[data-drawn]", timeout=120_000)
    page.wait_for_function(DRAWN)
    top, bottom = edge(page, picture.begins, "top"), edge(page, picture.ends, "bottom") + MARGIN
    page.set_viewport_size({"width": picture.width, "height": round(bottom - top)})
    page.evaluate("top => scrollTo(0, top)", top)
    if picture.points:
        page.locator("#chart-regret .plot").hover(position=POINTED)
    page.screenshot(path=path)
    context.close()


def edge(page: Page, selector: str, side: Literal["top", "bottom"]) -> float:
    """Where an element begins or ends, from the top of the page."""
    box = page.locator(selector).evaluate("each => each.getBoundingClientRect().toJSON()")
    return float(box[side] + page.evaluate("scrollY"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", help="whose boards to show, such as sqlite:PATH; else the demo's, or a made-up one")
    parser.add_argument("--folder", type=Path, default=Path("docs/images"))
    options = parser.parse_args()
    store = options.store or (f"sqlite:{DEMO_STORE}" if DEMO_STORE.is_file() else None)
    print(f"the boards of {store}" if store else "a made-up board; after `make demo`, its leaderboard is shown")
    boards = stored_boards(store) if store else {"dev": sample_board()}
    if not any(board.rows for board in boards.values()):
        parser.exit(1, f"nobody has played a round in {store}\n")
    options.folder.mkdir(parents=True, exist_ok=True)
    with serving(BoardApi(boards)) as url, launched() as browser:
        for picture in PICTURES:
            path = options.folder / f"leaderboard-{picture.name}.png"
            take(browser, url, picture, path)
            print(f"{path}  {path.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
