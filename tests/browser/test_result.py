"""What a visitor sees first: the task, who leads and by how much; seeds; the page of a run; empty boards."""

from dataclasses import replace
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from leaderboard.profiles import Profiles, SystemProfile, TeamProfile
from leaderboard.rows import HeldOutBlock
from leaderboard.table import make_board
from tests.browser.board_server import BoardApi
from tests.browser.conftest import PHONE
from tests.browser.page_actions import CONTESTANTS, column, wait_for_charts
from tests.leaderboard import boards

SEED_COUNT = 3


@pytest.fixture(scope="module")
def seeded():
    """Return a board on which BNMT-EL was played with three seeds."""
    teams = [TeamProfile("acme", "Team Acme", "Acme University", "https://acme.example/")]
    systems = [SystemProfile("acme", "BNMT-EL", "Expected loss, warm start.", "https://acme.example/paper")]
    return boards.seeded_board(Profiles(teams, systems))


class ScheduledApi(BoardApi):
    """A service whose phases close at a given time."""

    def phases(self):
        return [replace(info, closes_at="2099-01-12T12:00:00Z") for info in super().phases()]


# The first glance


def test_header_has_task_languages_state_and_deadline(open_page, serve, board):
    page = open_page(serve(ScheduledApi({"dev": board})), timezone_id="UTC")
    expect(page.locator("#task")).to_have_text("Shop texts · German → English")
    parts = page.locator("#subtitle span")
    assert parts.all_inner_texts() == ["open", "closes 12 Jan 2099, 12:00:00", "4,000 rounds", "bandit feedback"]


def test_header_says_how_to_take_part(open_page, url):
    page = open_page(url)
    page.click("#part-button")
    dialog = page.locator("#part-dialog")
    expect(dialog).to_contain_text("task@example.org")
    expect(dialog.locator("pre")).to_contain_text(f"BANDITMT_URL={url} ")
    expect(dialog.locator("pre")).to_contain_text("banditmt-play --phase dev --system my-system")
    page.click("#part-close")
    expect(dialog).to_be_hidden()


def test_nobody_can_take_part_in_a_closed_phase(open_page, serve):
    page = open_page(serve(BoardApi({"dev": boards.dev_board(state="closed")})))
    expect(page.locator("#result-heading")).to_have_text("Winner")
    expect(page.locator("#part-button")).to_be_hidden()


@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE], ids=["desktop", "phone"])
def test_first_screen_says_who_leads_and_by_how_much(open_page, url, api, viewport):
    page = open_page(url, viewport=viewport)
    [first, second] = [row for row in api.boards["dev"].rows if row.rank in (1, 2)]
    expect(page.locator("#result-heading")).to_have_text("In the lead")
    expect(page.locator("#leader")).to_contain_text("ELM-domain-adaptation")
    tiles = page.locator("#tiles div").all_inner_texts()
    assert f"{first.mean_reward:.4f}" in tiles[0]
    assert f"+{first.reward_gain.value:.4f}" in tiles[1]
    assert "Gain over \u2068SMT-static\u2069" in tiles[1]
    assert f"+{first.mean_reward - second.mean_reward:.4f}" in tiles[2]
    assert "significant" in tiles[2]
    is_cut = "each => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight"
    assert not any(heading.evaluate(is_cut) for heading in page.locator("#tiles dt").all())
    box = page.locator("#result").bounding_box()
    assert box["y"] + box["height"] <= viewport["height"], "without scrolling"


def test_if_no_run_has_finished_the_page_says_so(open_page, serve):
    running = boards.summary("ELM-reinforce", 2_600, participant="elm", start=0.45, begun=boards.NOW - 600_000)
    board = make_board(boards.dev_phase(), [running], now=boards.NOW)
    page = open_page(serve(BoardApi({"dev": board})))
    expect(page.locator("#result-heading")).to_have_text("No run has finished yet. Ahead so far:")


def test_runs_that_are_hidden_are_not_counted(open_page, serve, board):
    hidden = replace(board, rows=[], visible="own", held_out=HeldOutBlock(0, 0, []))
    page = open_page(serve(BoardApi({"dev": hidden})))
    expect(page.locator("#empty")).to_contain_text("not public yet")
    expect(page.locator("main")).not_to_contain_text("0 runs")
    expect(page.locator("#result")).to_be_hidden()


def test_there_is_no_negative_zero(open_page, serve, board):
    rows = [
        replace(row, gap_closed=-0.0001, reward_gain=row.reward_gain and replace(row.reward_gain, value=-0.00001))
        for row in board.rows
    ]
    page = open_page(serve(BoardApi({"dev": replace(board, rows=rows)})))
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    assert set(column(page, "gap_closed")) == {"0.0 %"}
    assert set(column(page, "reward_gain")) == {"0.0000"}


# Seeds


def test_seeds_are_one_row_that_unfolds(open_page, serve, seeded):
    page = open_page(serve(BoardApi({"dev": seeded})))
    row = page.locator(CONTESTANTS, has=page.locator(".seeds:visible"))
    expect(row.locator(".system")).to_have_text("BNMT-EL")
    expect(page.locator("tr.seed")).to_have_count(0)
    toggle = row.locator(".seeds")
    expect(toggle).to_have_text(f"▸ {SEED_COUNT} seeds")
    toggle.focus()
    page.keyboard.press("Enter")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    assert page.locator("tr.seed .name").all_inner_texts() == ["seed 1", "seed 2", "seed 3"]
    [mean] = [each for each in seeded.rows if each.seeds]
    assert column(page, "mean_reward", "tr.seed") == [f"{seed.mean_reward:.4f}" for seed in mean.seeds]
    expect(toggle).to_be_focused()
    toggle.click()
    expect(page.locator("tr.seed")).to_have_count(0)


def test_intervals_say_what_they_cover(open_page, serve, seeded):
    page = open_page(serve(BoardApi({"dev": seeded})))
    row = page.locator(CONTESTANTS, has=page.locator(".seeds:visible"))
    both = "95 % interval; it covers chance in sentences and in seeds"
    expect(row.locator("td.column-mean_reward .note")).to_have_attribute("title", both)
    expect(row.locator("td.column-bleu .note")).to_have_attribute("title", "95 % interval; it covers chance in seeds")
    single = page.locator(CONTESTANTS).first.locator("td.column-mean_reward .note")
    expect(single).to_have_attribute("title", "95 % interval; it covers chance in sentences")


# Charts


def test_gain_is_the_first_chart_with_bands_and_names_at_the_ends_of_lines(open_page, url):
    page = wait_for_charts(open_page(url))
    assert page.locator("#charts figure").first.get_attribute("id") == "chart-gain"
    expect(page.locator("#chart-gain figcaption")).to_contain_text("highest gain over the seed model")
    expect(page.locator("#chart-gain svg g.mark-area path")).to_have_count(4)
    ends = page.locator("#chart-gain .end")
    learners = {"ELM-domain-adaptation", "BNMT-EL", "BNMT-EL-CV", "SMT-EL-CV-ADAM"}
    assert set(ends.all_inner_texts()) == {*learners, "seed model"}, "the line at zero has a name, too"
    tops = sorted(box["y"] for box in (each.bounding_box() for each in ends.all()))
    assert min(b - a for a, b in pairwise(tops)) >= 14, "names do not overlap"


def test_names_follow_the_lines_when_the_window_changes(open_page, url):
    page = wait_for_charts(open_page(url))
    before = page.locator("#chart-gain .end").first.bounding_box()["x"]
    page.set_viewport_size({"width": 1000, "height": 900})
    page.wait_for_function(f"document.querySelector('#chart-gain .end').getBoundingClientRect().x < {before - 100}")


# The page of a run


def test_a_run_has_a_page_of_its_own(open_page, serve, seeded):
    page = wait_for_charts(open_page(serve(BoardApi({"dev": seeded}))))
    page.locator(f"{CONTESTANTS} .system a", has_text="BNMT-EL").first.click()
    title = page.locator("#run-title")
    expect(title).to_have_text("BNMT-EL")
    expect(title).to_be_focused()
    expect(page.locator("#run-team")).to_have_text("Team Acme (acme), Acme University")
    expect(page.locator("#run-about")).to_contain_text("Expected loss, warm start.")
    expect(page.locator("#run-about a")).to_have_attribute("href", "https://acme.example/paper")
    [mean] = [each for each in seeded.rows if each.seeds]
    expect(page.locator("#run-facts")).to_contain_text(f"{mean.mean_reward:.4f}")
    assert page.locator("#run-seeds-table tbody tr").count() == SEED_COUNT
    expect(page.locator("#run-deviation")).to_contain_text(f"between seeds: {mean.seed_deviation:.4f}")
    assert page.locator("#run-passes-table tbody tr").count() == 4
    names = set(page.locator("#chart-reward .end").all_inner_texts())
    assert names == {"BNMT-EL", "BNMT-static", "BNMT-oracle"}
    expect(page.locator("#table-section")).to_be_hidden()
    other = open_page(page.url)
    expect(other.locator("#run-title")).to_have_text("BNMT-EL")
    page.go_back()
    expect(page.locator("#table-section")).to_be_visible()
    expect(page.locator("#run-section")).to_be_hidden()


def test_the_page_of_a_run_leads_back_to_the_table(open_page, url):
    page = open_page(f"{url}#phase=dev&sort=-reward&run=elm%2FELM-domain-adaptation%2F1")
    expect(page.locator("#run-about")).to_contain_text("The team has not described this system.")
    page.click("#run-back")
    expect(page.locator("thead .column-reward")).to_have_attribute("aria-sort", "descending")


def test_an_unknown_run_shows_the_table(open_page, url):
    page = open_page(f"{url}#phase=dev&run=nobody")
    expect(page.locator("#table-section")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_run_has_no_accessibility_violations(open_page, serve, seeded, axe, scheme):
    url = serve(BoardApi({"dev": seeded}))
    page = wait_for_charts(open_page(url, color_scheme=scheme, reduced_motion="reduce"))
    page.locator(".seeds:visible").click()
    page.evaluate(axe)
    audit = "axe.run(document, {resultTypes: ['violations']})"
    assert [each["id"] for each in page.evaluate(audit)["violations"]] == []
    page.locator(f"{CONTESTANTS} .system a", has_text="BNMT-EL").first.click()
    expect(page.locator("#run-title")).to_be_visible()
    assert [each["id"] for each in page.evaluate(audit)["violations"]] == []


# Empty boards


def test_an_empty_board_says_how_to_play(open_page, serve):
    page = open_page(serve(BoardApi({"dev": boards.empty_board()})))
    expect(page.locator("#empty")).to_contain_text("No rounds have been played yet. Be the first")
    expect(page.locator("#empty pre")).to_contain_text("banditmt-play --phase dev")


def test_a_service_without_a_task_says_how_to_load_one(open_page, serve):
    page = open_page(serve(BoardApi({})))
    expect(page.locator("#empty")).to_contain_text("This service has no task yet")
    expect(page.locator("#empty pre")).to_contain_text("banditmt serve --task task")
