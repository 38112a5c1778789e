"""The leaderboard's page in a real browser: content, interaction, accessibility, live updates, export."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leaderboard.publication import export_page
from leaderboard.rows import RowStatus
from leaderboard.table import make_board
from simulator.cloud.http_server import HttpServer, running
from tests.browser.board_server import BoardApi, serving
from tests.browser.conftest import PHONE
from tests.browser.page_actions import (
    CONTESTANTS,
    SERVER_GONE,
    column,
    enter_key,
    line_colours,
    systems,
    wait_for_charts,
    wait_for_requests,
)
from tests.browser.static_files import StaticFiles
from tests.leaderboard import boards

REFERENCES = "#finished tr.reference"

# Content


def test_table_has_ranked_runs_and_those_for_comparison_in_their_place(open_page, url, api):
    page = open_page(url)
    expect(page.locator("#title")).to_have_text("The dev phase")
    assert systems(page) == ["ELM-domain-adaptation", "BNMT-EL", "BNMT-EL-CV", "SMT-EL-CV-ADAM", "WNMT-EL"]
    finished = [row for row in api.boards["dev"].rows if row.status is RowStatus.FINISHED]
    assert systems(page, "#finished tr") == [row.system for row in finished], "in the order of their rewards"
    references = {"BNMT-oracle", "SMT-oracle", "SMT-static", "BNMT-static", "copy-source"}
    assert set(systems(page, REFERENCES)) == references
    assert systems(page, "#unfinished tr") == ["ELM-reinforce", "CEDAR"]
    assert page.locator("#unfinished .badge").all_inner_texts() == ["running", "abandoned"]
    assert page.locator(f"{REFERENCES} .badge").all_inner_texts().count("oracle") == 2
    ranked = page.locator(CONTESTANTS).first.evaluate("each => each.offsetHeight")
    assert page.locator(REFERENCES).first.evaluate("each => each.offsetHeight") < 0.6 * ranked, "thin rows"


def test_table_shows_the_numbers_of_the_board(open_page, url, api):
    page = open_page(url)
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    rows = [row for row in api.boards["dev"].rows if row.rank]
    assert column(page, "mean_reward") == [f"{row.mean_reward:.4f}" for row in rows]
    assert column(page, "reward") == [f"{row.reward:,.1f}" for row in rows]
    assert column(page, "regret") == [f"{row.regret.value:.4f}" for row in rows]
    assert column(page, "corpus_bleu") == [f"{row.passes[-1].corpus_bleu:.1f}" for row in rows]


def test_table_shows_the_last_quarter_and_single_words(open_page, url, api):
    page = open_page(url)
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    rows = [row for row in api.boards["dev"].rows if row.rank]
    assert column(page, "bleu") == [f"{row.measures['bleu'].value:.1f}" for row in rows]
    assert column(page, "late_bleu") == [f"{row.last_quarter.corpus_bleu:.1f}" for row in rows]
    assert column(page, "late_length_ratio") == [f"{row.last_quarter.length_ratio:.2f}" for row in rows]
    assert column(page, "gap_closed") == [f"{100 * row.gap_closed:.1f} %".replace("-", "−") for row in rows]
    assert column(page, "single_words") == ["0.0 %"] * 5
    expect(page.locator(".warned:visible")).to_have_count(0)


def test_a_run_that_earned_more_with_lower_corpus_bleu_is_marked_in_words(open_page, url, api):
    api.boards["dev"] = boards.marked_board()
    page = open_page(url)
    warned = page.locator(".warned:visible")
    expect(warned).to_have_count(1)
    sentence = (
        "In the last quarter of the rounds, it earned +0.2479 per round compared with X-static, "
        "but −23.4 BLEU (−28.2 to −18.5)"
    )
    expect(warned).to_have_text(f"reward up, BLEU down: {sentence}")
    expect(warned).to_have_attribute("title", sentence)
    expect(page.locator("#finished tr", has=warned).locator(".system")).to_have_text("X-short")


def test_status_shows_the_time_of_the_data(open_page, url):
    page = open_page(url, timezone_id="UTC")
    expect(page.locator("#status")).to_have_text("live · data from 31 Dec 2025, 23:58:39")


def download(page, selector):
    """Click a download link; return the text of the file and its name."""
    with page.expect_download() as pending:
        page.click(selector)
    return Path(pending.value.path()).read_text(encoding="utf-8"), pending.value.suggested_filename


def test_board_can_be_downloaded_as_csv_and_json(open_page, url, api):
    page = open_page(url)
    table, name = download(page, "#csv")
    assert name == "dev.csv"
    assert len(list(csv.DictReader(io.StringIO(table)))) == len(api.boards["dev"].rows)
    data, name = download(page, "#json")
    assert name == "dev.json"
    assert json.loads(data)["phase"] == "dev"


def test_downloads_use_the_api_key(open_page, url, api):
    page = open_page(url)
    enter_key(page)
    api.requests.clear()
    table, name = download(page, "#csv")
    assert name == "dev.csv"
    assert len(list(csv.DictReader(io.StringIO(table)))) == len(api.boards["dev"].rows)
    [sent] = [request for request in api.requests if request.query == "format=csv"]
    assert sent.headers_by_name["x-api-key"] == "bmt_secret"


def test_failed_download_shows_a_notice(open_page, board):
    with serving(BoardApi({"mock": board, "dev": board})) as url:
        page = wait_for_charts(open_page(url, expected=SERVER_GONE))
        enter_key(page)
    page.click("#csv")
    expect(page.locator("#notice")).to_have_text("dev.csv cannot be downloaded now. Try again later.")
    page.click("#phases >> text=mock")
    expect(page.locator("#notice")).to_be_hidden()


def test_successful_download_removes_the_notice(open_page, url):
    page = open_page(url, expected=["ERR_FAILED"])
    enter_key(page)
    page.route("**/*format=csv", lambda route: route.abort())
    page.click("#csv")
    expect(page.locator("#notice")).to_be_visible()
    page.unroute("**/*format=csv")
    download(page, "#csv")
    expect(page.locator("#notice")).to_be_hidden()


def test_empty_board_has_a_message(open_page, serve):
    page = open_page(serve(BoardApi({"dev": boards.empty_board()})))
    expect(page.locator("#empty")).to_contain_text("No rounds have been played yet")
    expect(page.locator("#board")).to_be_hidden()
    expect(page.locator("#charts-section")).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("no data yet")


# Sorting, selecting, comparing


def test_headings_sort_best_first_then_reversed(open_page, url):
    page = open_page(url)
    heading = page.locator("thead .column-regret")
    heading.locator("button").click()
    ascending = [float(text) for text in column(page, "regret")]
    assert ascending == sorted(ascending)
    expect(heading).to_have_attribute("aria-sort", "ascending")
    heading.locator("button").click()
    assert [float(text) for text in column(page, "regret")] == ascending[::-1]
    expect(heading).to_have_attribute("aria-sort", "descending")
    page.click("thead .column-gain button")
    assert systems(page)[0] == "ELM-domain-adaptation"
    assert systems(page, "#unfinished tr") == ["ELM-reinforce", "CEDAR"], "unfinished runs stay below"
    assert page.locator("thead [aria-sort]").count() == 1


def test_selected_run_gets_a_colour_and_a_line(open_page, url):
    page = wait_for_charts(open_page(url))
    before = line_colours(page)
    page.check("input[aria-label='Compare WNMT-EL']")
    expect(page.locator("#selected")).to_contain_text("WNMT-EL")
    expect(page.locator("#chart-regret svg g.mark-line path")).to_have_count(len(before) + 1)
    colours = [colour for colour in line_colours(page) if colour != "var(--reference)"]
    assert len(set(colours)) == len(colours) == 5, "every system has its own colour; only runs for comparison are grey"
    assert set(before) < set(line_colours(page)), "other runs keep their colours"
    page.locator("#selected button", has_text="WNMT-EL").click()
    expect(page.locator("#chart-regret svg g.mark-line path")).to_have_count(len(before))
    expect(page.locator("input[aria-label='Compare WNMT-EL']")).not_to_be_checked()


def test_selection_can_be_cleared_filtered_and_shared_by_address(open_page, url):
    page = wait_for_charts(open_page(url))
    page.click("#clear")
    expect(page.locator("#chart-regret figcaption")).to_have_text("No runs are selected. Select some in the table.")
    page.check("input[aria-label='Compare BNMT-EL']")
    page.check("input[aria-label='Compare ELM-reinforce']")
    page.check("#only")
    assert systems(page) + systems(page, "#unfinished tr") == ["BNMT-EL", "ELM-reinforce"]
    assert systems(page, REFERENCES) == []
    other = wait_for_charts(open_page(page.url))
    assert other.locator("#selected bdi").all_inner_texts() == ["BNMT-EL", "ELM-reinforce"]


def test_selecting_more_systems_than_colours_shows_a_notice(open_page, serve):
    page = open_page(serve(BoardApi({"dev": boards.crowded_board(24)})))
    expect(page.locator("#selected li")).not_to_have_count(0)
    page.click("#clear")
    boxes = page.locator(f"{CONTESTANTS} input")
    for number in range(9):
        boxes.nth(number).click()
    expect(page.locator("#notice")).to_contain_text("You can compare up to 8 systems")
    assert page.locator("#selected li").count() == 8
    expect(boxes.nth(8)).not_to_be_checked()
    page.locator(f"{REFERENCES} input").first.click()
    expect(page.locator("#selected li")).to_have_count(9), "runs for comparison need no colour"


def test_regret_can_be_measured_against_any_oracle(open_page, url, api):
    page = open_page(url)
    page.select_option("#against", label="SMT-oracle")
    rows = [row for row in api.boards["dev"].rows if row.rank]
    assert column(page, "regret") == [f"{row.regrets['organiser/SMT-oracle/1']:.4f}".replace("-", "−") for row in rows]


# Accessibility, themes and devices


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE], ids=["desktop", "phone"])
def test_there_are_no_accessibility_violations(open_page, url, axe, scheme, viewport):
    page = wait_for_charts(open_page(url, color_scheme=scheme, viewport=viewport, reduced_motion="reduce"))
    page.locator("#chart-regret summary").click()
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []


def test_theme_follows_the_system_until_the_visitor_switches(open_page, url):
    page = wait_for_charts(open_page(url, color_scheme="dark"))
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert (dark, light) == ("rgb(15, 18, 23)", "rgb(246, 247, 249)")
    page.reload()
    wait_for_charts(page)
    assert page.evaluate(background) == light, "the theme is remembered"


def test_phone_needs_no_horizontal_scrolling(open_page, url):
    page = wait_for_charts(open_page(url, viewport=PHONE, has_touch=True))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.locator("#chart-regret svg").bounding_box()["width"] <= PHONE["width"]
    region = page.locator("#board").locator("xpath=..")
    assert region.evaluate("each => each.scrollWidth > each.clientWidth"), "the table scrolls by itself"


def test_page_works_with_the_keyboard(open_page, url):
    page = wait_for_charts(open_page(url))
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    address = page.url
    page.keyboard.press("Enter")
    expect(page.locator("#table-heading")).to_be_focused()
    assert page.url == address, "the address holds the state of the page"
    page.locator("thead .column-gap_closed button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("thead .column-gap_closed")).to_have_attribute("aria-sort", "descending")
    page.locator("input[aria-label='Compare WNMT-EL']").focus()
    page.keyboard.press("Space")
    expect(page.locator("#selected")).to_contain_text("WNMT-EL")
    expect(page.locator("input[aria-label='Compare WNMT-EL']")).to_be_focused()


def test_print_has_no_controls(open_page, url):
    page = wait_for_charts(open_page(url, color_scheme="dark"))
    page.emulate_media(media="print")
    expect(page.locator("#filter")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()
    expect(page.locator("#board")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('#title')).color") == "rgb(23, 27, 34)", (
        "dark on white"
    )


# Live updates


def test_a_run_finishes_while_the_page_is_open(open_page, url, api):
    page = wait_for_charts(open_page(url))
    page.evaluate(f"document.querySelector('{CONTESTANTS}').marked = true")
    page.locator("input[aria-label='Compare ELM-domain-adaptation']").focus()
    finished = boards.summary("ELM-reinforce", participant="elm", start=0.5, end=0.95, seed=11)
    runs = [finished if each.identity.system == "ELM-reinforce" else each for each in boards.dev_summaries()]
    api.boards["dev"] = make_board(boards.dev_phase(), runs, boards.ORGANISER_ROLES, now=boards.NOW)
    expect(page.locator("#finished")).to_contain_text("ELM-reinforce")
    assert systems(page)[0] == "ELM-reinforce"
    expect(page.locator("#announcer")).to_contain_text("ELM-reinforce\u2069 has finished")
    assert page.evaluate(f"document.querySelectorAll('{CONTESTANTS}')[1].marked"), "rows move, they are not redrawn"
    expect(page.locator("input[aria-label='Compare ELM-domain-adaptation']")).to_be_focused()


def test_unchanged_data_are_neither_sent_nor_drawn_again(open_page, url, api):
    page = wait_for_charts(open_page(url))
    page.evaluate("""() => {
        window.changes = 0;
        new MutationObserver(records => { changes += records.length; })
            .observe(document.querySelector('main'), {subtree: true, childList: true, attributes: true});
    }""")
    api.requests.clear()
    wait_for_requests(page, api, 2)
    assert all(request.headers_by_name.get("if-none-match") for request in api.requests)
    assert page.evaluate("changes") == 0
    expect(page.locator("#status")).to_contain_text("live")


def test_api_key_is_sent_and_a_wrong_one_is_removed(open_page, url, api):
    page = open_page(url, expected=["403"])
    enter_key(page)
    expect(page.locator(f"{CONTESTANTS} .system")).to_have_count(5)
    wait_for_requests(page, api, 3)
    assert api.requests[-1].headers_by_name["x-api-key"] == "bmt_secret"
    assert "bmt_secret" not in page.url
    api.refuses_key = True
    expect(page.locator("#notice")).to_contain_text("does not accept this API key")
    assert page.evaluate("sessionStorage.length") == 0


# Hostile and large boards


def test_hostile_names_are_shown_as_text(open_page, serve):
    page = wait_for_charts(open_page(serve(BoardApi({"dev": boards.hostile_board()}))))
    shown = {each.evaluate("each => each.textContent") for each in page.locator(f"{CONTESTANTS} .system").all()}
    assert shown == set(boards.HOSTILE_NAMES)
    teams = {each.evaluate("each => each.textContent") for each in page.locator(f"{CONTESTANTS} .participant").all()}
    assert "<script>alert('x')</script> (by <script>alert('x')</script>)" in teams
    protocols = page.locator("#finished .participant a").evaluate_all("links => links.map(link => link.protocol)")
    assert protocols == ["https:"] * (len(boards.HOSTILE_NAMES) - 1)  # all teams but one have a link
    own = page.locator("#finished .system a").evaluate_all("links => links.map(link => link.origin)")
    assert set(own) == {page.evaluate("location.origin")}, "names lead to the page of the run"
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    heights = page.locator(CONTESTANTS).evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 1.5 * min(heights), "a long name does not enlarge its row"
    page.locator("#chart-corpus .plot").hover()
    expect(page.locator("#chart-corpus .tip")).to_be_visible()


def test_two_hundred_runs(open_page, serve):
    board = boards.crowded_board(200)
    page = wait_for_charts(open_page(serve(BoardApi({"dev": board}))))
    assert page.locator("#board .system").count() == len(board.rows) == 200
    page.fill("#filter", "system-07")
    expect(page.locator("#board .system")).to_have_count(10)
    page.fill("#filter", "team-03")
    assert set(page.locator("#board .participant").all_inner_texts()) == {"team-03"}
    page.fill("#filter", "nobody")
    expect(page.locator("#empty")).to_have_text("No systems match. Clear the search, or untick “selected only”.")


# Export


def test_exported_page_needs_only_a_file_server(open_page, tmp_path):
    board = boards.dev_board(state="closed")
    export_page(board, tmp_path)
    assert {row.status for row in board.rows} == {RowStatus.FINISHED, RowStatus.ABANDONED}
    with running(HttpServer(("127.0.0.1", 0), StaticFiles(tmp_path))) as server:
        page = wait_for_charts(open_page(server.url + "/index.html"))
        assert len(systems(page)) == 5
        expect(page.locator("#status")).to_contain_text("data from ")
        expect(page.locator("#key-button")).to_be_hidden()
