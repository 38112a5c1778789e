"""The leaderboard's page as a visitor uses it, in a real browser."""

import csv
import io
import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from leaderboard.publication import export_page
from leaderboard.table import RowStatus, make_board
from simulator.cloud.http_server import HttpServer, running
from tests.browser.conftest import PHONE
from tests.browser.stage import BoardApi, serving
from tests.browser.static_files import StaticFiles
from tests.browser.visitor import GONE, answered, column, drawn, lines, systems, use_key
from tests.leaderboard import boards

# what is shown


def test_the_table_shows_the_board_in_three_parts(opened, url):
    page = opened(url)
    expect(page.locator("#title")).to_have_text("The dev phase")
    assert systems(page) == ["ELM-domain-adaptation", "BNMT-EL", "BNMT-EL-CV", "SMT-EL-CV-ADAM", "WNMT-EL"]
    assert set(systems(page, "references")) == {"BNMT-oracle", "SMT-oracle", "SMT-static", "BNMT-static", "copy-source"}
    assert systems(page, "unfinished") == ["ELM-reinforce", "CEDAR"]
    assert page.locator("#unfinished .badge").all_inner_texts() == ["running", "abandoned"]
    assert page.locator("#references .badge").all_inner_texts().count("oracle") == 2


def test_numbers_are_those_of_the_board(opened, url, api):
    page = opened(url)
    expect(page.locator("#finished .system")).to_have_count(5)
    rows = [row for row in api.boards["dev"].rows if row.rank]
    assert column(page, "mean_reward") == [f"{row.mean_reward:.4f}" for row in rows]
    assert column(page, "reward") == [f"{row.reward:,.1f}" for row in rows]
    assert column(page, "regret") == [f"{row.regret.value:.4f}" for row in rows]
    assert column(page, "corpus_bleu") == [f"{row.passes[-1].corpus_bleu:.1f}" for row in rows]


def test_the_time_of_the_last_data_is_told(opened, url):
    page = opened(url, timezone_id="UTC")
    expect(page.locator("#status")).to_have_text("live · data of 31 Dec 2025, 23:58:39")


def saved(page, place):
    """The text of a file that a link saves, and its name."""
    with page.expect_download() as download:
        page.click(place)
    return Path(download.value.path()).read_text(encoding="utf-8"), download.value.suggested_filename


def test_files_are_offered(opened, url, api):
    page = opened(url)
    table, name = saved(page, "#csv")
    assert name == "dev.csv"
    assert len(list(csv.DictReader(io.StringIO(table)))) == len(api.boards["dev"].rows)
    data, name = saved(page, "#json")
    assert name == "dev.json"
    assert json.loads(data)["phase"] == "dev"


def test_files_are_those_that_ones_key_shows(opened, url, api):
    page = opened(url)
    use_key(page)
    api.requests.clear()
    table, name = saved(page, "#csv")
    assert name == "dev.csv"
    assert len(list(csv.DictReader(io.StringIO(table)))) == len(api.boards["dev"].rows)
    [asked] = [request for request in api.requests if request.query == "format=csv"]
    assert asked.last_headers["x-api-key"] == "bmt_secret"


def test_a_file_that_cannot_be_had_is_told(opened, contest):
    with serving(BoardApi({"mock": contest, "dev": contest})) as url:
        page = drawn(opened(url, expected=GONE))
        use_key(page)
    page.click("#csv")
    expect(page.locator("#notice")).to_have_text("dev.csv cannot be fetched now; try again later.")
    page.click("#phases >> text=mock")
    expect(page.locator("#notice")).to_be_hidden()


def test_what_could_not_be_had_before_is_not_told_when_it_can(opened, url):
    page = opened(url, expected=["ERR_FAILED"])
    use_key(page)
    page.route("**/*format=csv", lambda route: route.abort())
    page.click("#csv")
    expect(page.locator("#notice")).to_be_visible()
    page.unroute("**/*format=csv")
    saved(page, "#csv")
    expect(page.locator("#notice")).to_be_hidden()


def test_an_empty_board_says_so(opened, served):
    page = opened(served(BoardApi({"dev": boards.empty_board()})))
    expect(page.locator("#empty")).to_contain_text("Nobody has played a round yet")
    expect(page.locator("#board")).to_be_hidden()
    expect(page.locator("#charts-section")).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("no data yet")


# sorting, choosing, comparing


def test_headings_sort_best_first_then_the_other_way(opened, url):
    page = opened(url)
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
    assert systems(page, "unfinished") == ["ELM-reinforce", "CEDAR"], "unfinished runs stay below"
    assert page.locator("thead [aria-sort]").count() == 1


def test_a_chosen_run_gets_a_colour_and_a_line(opened, url):
    page = drawn(opened(url))
    before = lines(page)
    page.check("input[aria-label='Compare WNMT-EL']")
    expect(page.locator("#chosen")).to_contain_text("WNMT-EL")
    expect(page.locator("#chart-regret svg g.mark-line path")).to_have_count(len(before) + 1)
    assert len(set(lines(page))) == len(before) + 1, "each its own colour"
    assert set(before) < set(lines(page)), "the others keep theirs"
    page.locator("#chosen button", has_text="WNMT-EL").click()
    expect(page.locator("#chart-regret svg g.mark-line path")).to_have_count(len(before))
    expect(page.locator("input[aria-label='Compare WNMT-EL']")).not_to_be_checked()


def test_a_comparison_can_be_cleared_narrowed_and_sent_to_others(opened, url):
    page = drawn(opened(url))
    page.click("#clear")
    expect(page.locator("#chart-regret figcaption")).to_have_text("No run is chosen: tick some in the table.")
    page.check("input[aria-label='Compare BNMT-EL']")
    page.check("input[aria-label='Compare ELM-reinforce']")
    page.check("#only")
    assert systems(page) + systems(page, "unfinished") == ["BNMT-EL", "ELM-reinforce"]
    assert systems(page, "references") == []
    other = drawn(opened(page.url))
    assert other.locator("#chosen bdi").all_inner_texts() == ["BNMT-EL", "ELM-reinforce"]


def test_more_runs_than_colours_are_refused_with_a_word(opened, url):
    page = opened(url)
    for name in ("WNMT-EL", "ELM-reinforce"):
        page.locator(f"input[aria-label='Compare {name}']").click()
    expect(page.locator("#notice")).to_contain_text("10 runs can be compared at once")
    assert page.locator("#chosen li").count() == 10
    expect(page.locator("input[aria-label='Compare ELM-reinforce']")).not_to_be_checked()


def test_regret_can_be_measured_against_any_oracle(opened, url, api):
    page = opened(url)
    page.select_option("#against", label="SMT-oracle")
    rows = [row for row in api.boards["dev"].rows if row.rank]
    assert column(page, "regret") == [f"{row.regrets['organiser/SMT-oracle/1']:.4f}".replace("-", "−") for row in rows]


# everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, PHONE], ids=["desktop", "phone"])
def test_there_are_no_accessibility_violations(opened, url, axe, scheme, viewport):
    page = drawn(opened(url, color_scheme=scheme, viewport=viewport, reduced_motion="reduce"))
    page.locator("#chart-regret summary").click()
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []


def test_the_theme_follows_the_system_until_it_is_chosen(opened, url):
    page = drawn(opened(url, color_scheme="dark"))
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#theme")
    light = page.evaluate(background)
    assert (dark, light) == ("rgb(15, 18, 23)", "rgb(246, 247, 249)")
    page.reload()
    drawn(page)
    assert page.evaluate(background) == light, "the choice is remembered"


def test_a_phone_shows_all_without_scrolling_sideways(opened, url):
    page = drawn(opened(url, viewport=PHONE, has_touch=True))
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    assert page.locator("#chart-regret svg").bounding_box()["width"] <= PHONE["width"]
    region = page.locator("#board").locator("xpath=..")
    assert region.evaluate("each => each.scrollWidth > each.clientWidth"), "the table scrolls by itself"


def test_everything_can_be_done_with_the_keyboard(opened, url):
    page = drawn(opened(url))
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    address = page.url
    page.keyboard.press("Enter")
    expect(page.locator("#table-heading")).to_be_focused()
    assert page.url == address, "which tells what is shown"
    page.locator("thead .column-gap_closed button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("thead .column-gap_closed")).to_have_attribute("aria-sort", "descending")
    page.locator("input[aria-label='Compare WNMT-EL']").focus()
    page.keyboard.press("Space")
    expect(page.locator("#chosen")).to_contain_text("WNMT-EL")
    expect(page.locator("input[aria-label='Compare WNMT-EL']")).to_be_focused()


def test_paper_gets_no_controls(opened, url):
    page = drawn(opened(url, color_scheme="dark"))
    page.emulate_media(media="print")
    expect(page.locator("#filter")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()
    expect(page.locator("#board")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('#title')).color") == "rgb(23, 27, 34)", (
        "dark on white"
    )


# a life that goes on


def test_a_run_finishes_while_the_page_is_open(opened, url, api):
    page = drawn(opened(url))
    page.evaluate("document.querySelector('#finished tr:nth-child(2)').marked = true")
    page.locator("input[aria-label='Compare ELM-domain-adaptation']").focus()
    later = boards.dev_summaries()
    finished = boards.summary("ELM-reinforce", participant="elm", start=0.5, end=0.95, seed=11)
    runs = [finished if each.identity.system == "ELM-reinforce" else each for each in later]
    api.boards["dev"] = make_board(boards.dev_phase(), runs, boards.ORGANISER_ROLES, now=boards.NOW)
    expect(page.locator("#finished")).to_contain_text("ELM-reinforce")
    assert systems(page)[0] == "ELM-reinforce"
    expect(page.locator("#announcer")).to_contain_text("ELM-reinforce\u2069 has finished")
    assert page.evaluate("document.querySelector('#finished tr:nth-child(3)').marked"), (
        "rows move, they are not redrawn"
    )
    expect(page.locator("input[aria-label='Compare ELM-domain-adaptation']")).to_be_focused()


def test_nothing_is_sent_or_drawn_again_when_nothing_has_changed(opened, url, api):
    page = drawn(opened(url))
    page.evaluate("""() => {
        window.changes = 0;
        new MutationObserver(records => { changes += records.length; })
            .observe(document.querySelector('main'), {subtree: true, childList: true, attributes: true});
    }""")
    api.requests.clear()
    answered(page, api, 2)
    assert all(request.last_headers.get("if-none-match") for request in api.requests)
    assert page.evaluate("changes") == 0
    expect(page.locator("#status")).to_contain_text("live")


def test_a_key_shows_ones_own_view_and_a_wrong_one_is_forgotten(opened, url, api):
    page = opened(url, expected=["403"])
    use_key(page)
    expect(page.locator("#finished .system")).to_have_count(5)
    answered(page, api, 3)
    assert api.requests[-1].last_headers["x-api-key"] == "bmt_secret"
    assert "bmt_secret" not in page.url
    api.refuses_key = True
    expect(page.locator("#notice")).to_contain_text("does not know this key")
    assert page.evaluate("sessionStorage.length") == 0


# strangers


def test_hostile_names_are_only_text(opened, served):
    page = drawn(opened(served(BoardApi({"dev": boards.hostile_board()}))))
    shown = {each.evaluate("each => each.textContent") for each in page.locator("#finished .system").all()}
    assert shown == set(boards.HOSTILE_NAMES)
    assert page.locator("main script, main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    heights = page.locator("#finished tr:not(.section)").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 1.5 * min(heights), "a long name does not burst its row"
    page.locator("#chart-corpus .plot").hover()
    expect(page.locator("#chart-corpus .tip")).to_be_visible()


def test_two_hundred_runs(opened, served):
    board = boards.crowded_board(200)
    page = drawn(opened(served(BoardApi({"dev": board}))))
    assert page.locator("#board .system").count() == len(board.rows) == 200
    page.fill("#filter", "system-07")
    expect(page.locator("#board .system")).to_have_count(10)
    page.fill("#filter", "team-03")
    assert set(page.locator("#board .participant").all_inner_texts()) == {"team-03"}
    page.fill("#filter", "nobody")
    expect(page.locator("#empty")).to_have_text("No run matches.")


# without the service


def test_an_exported_page_needs_nothing_but_files(opened, tmp_path):
    board = boards.dev_board(state="closed")
    export_page(board, tmp_path)
    assert {row.status for row in board.rows} == {RowStatus.FINISHED, RowStatus.ABANDONED}
    with running(HttpServer(("127.0.0.1", 0), StaticFiles(tmp_path))) as server:
        page = drawn(opened(server.url + "/index.html"))
        assert len(systems(page)) == 5
        expect(page.locator("#status")).to_contain_text("data of ")
        expect(page.locator("#key-button")).to_be_hidden()
