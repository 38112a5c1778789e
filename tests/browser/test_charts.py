"""The charts of the leaderboard's page, in a real browser."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from leaderboard.rows import HeldOutBlock
from tests.browser.board_server import BoardApi
from tests.browser.page_actions import CHARTS, CONTESTANTS, line_colours, wait_for_charts
from tests.leaderboard import boards


def test_every_chart_has_a_drawing_a_sentence_and_a_table(open_page, url):
    page = wait_for_charts(open_page(url))
    for name in CHARTS:
        figure = page.locator(f"#chart-{name}")
        expect(figure.locator("figcaption")).to_contain_text("after 4,000 rounds")
        figure.locator("summary").click()
        expect(figure.locator("tbody tr").first).to_be_visible()
    table = page.locator("#chart-corpus table")
    assert table.locator("thead th").all_inner_texts() == ["Rounds", "70", "1,380", "2,690", "4,000"]
    assert len(line_colours(page, "corpus")) == 8
    assert page.locator("#chart-corpus svg g.mark-symbol path").count() == 8 * 4


def test_until_a_phase_closes_passes_are_only_numbered(open_page, serve, board):
    hidden = replace(board, held_out=HeldOutBlock(4, 0, []))
    page = wait_for_charts(open_page(serve(BoardApi({"dev": hidden}))))
    expect(page.locator("#visibility")).to_contain_text(
        "The positions of the held-out passes are revealed when the phase closes"
    )
    expect(page.locator("#chart-corpus figcaption")).to_contain_text("the highest held-out corpus BLEU in pass 4")
    page.locator("#chart-corpus summary").click()
    heads = page.locator("#chart-corpus table thead th")
    assert heads.all_inner_texts() == ["Pass", "1", "2", "3", "4"]
    page.locator("#chart-corpus .plot").focus()
    page.keyboard.press("Home")
    expect(page.locator("#chart-corpus .tip")).to_contain_text("pass 1")


EMPTY_CHARTS = {
    "running": (
        {"held_out": HeldOutBlock(4, 0, [])},
        {
            "corpus": "The first of 4 held-out passes is shown when a run has played 1/4 of its rounds",
            "regret": "Of 6 runs",
        },
    ),
    "without held-out passes": (
        {"held_out": HeldOutBlock(0, 0, [])},
        {"corpus": "This phase has no held-out passes", "length": "This phase has no held-out passes"},
    ),
    "not public": (
        {"held_out": HeldOutBlock(0, 0, []), "visible": "own"},
        {"corpus": "Hidden until this phase closes", "sentence": "because participants must not learn which rounds"},
    ),
}


@pytest.mark.parametrize(("changes", "words"), EMPTY_CHARTS.values(), ids=EMPTY_CHARTS)
def test_chart_without_data_explains_why(open_page, serve, board, changes, words):
    board = replace(board, rows=[replace(row, passes=[]) for row in board.rows], **changes)
    page = open_page(serve(BoardApi({"dev": board})))
    for chart, text in words.items():
        expect(page.locator(f"#chart-{chart} figcaption")).to_contain_text(text)
    expect(page.locator("#chart-corpus .plot")).to_be_hidden()
    expect(page.locator("#chart-corpus details")).to_be_hidden()


def test_regret_without_an_oracle_explains_why(open_page, serve, board):
    alone = [replace(row, regret=None, regrets={}) for row in board.rows if row.role == "contestant"]
    url = serve(BoardApi({"dev": replace(board, rows=alone)}))
    expect(open_page(url).locator("#chart-regret figcaption")).to_contain_text("this phase has no oracle yet")


def test_charts_switch_between_absolute_and_relative(open_page, url):
    page = wait_for_charts(open_page(url))
    page.locator("#chart-corpus").get_by_role("button", name="gain").click()
    expect(page.locator("#chart-corpus")).to_have_attribute("data-drawn", "relative_corpus_bleu")
    expect(page.locator("#chart-corpus figcaption")).to_contain_text("gain in corpus BLEU")
    page.locator("#chart-reward").get_by_role("button", name="cumulative").click()
    expect(page.locator("#chart-reward")).to_have_attribute("data-drawn", "reward")


def test_pointer_shows_values(open_page, url, api):
    page = wait_for_charts(open_page(url))
    plot = page.locator("#chart-corpus .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 100)
    tip = page.locator("#chart-corpus .tip")
    expect(tip).to_contain_text("4,000 rounds")
    [best] = [row for row in api.boards["dev"].rows if row.system == "BNMT-oracle"]
    assert tip.locator("bdi").first.inner_text() == "BNMT-oracle"
    assert tip.locator("b").first.inner_text() == f"{best.passes[-1].corpus_bleu:.1f}"
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()


def test_arrow_keys_read_a_chart(open_page, url):
    page = wait_for_charts(open_page(url))
    slider = page.get_by_role("slider", name="Held-out corpus BLEU")
    slider.focus()
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext").startswith("70 rounds: ")
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext").startswith("1,380 rounds: \u2068BNMT-oracle\u2069 ")
    page.keyboard.press("End")
    expect(page.locator("#chart-corpus .tip")).to_contain_text("4,000 rounds")
    page.keyboard.press("Escape")
    expect(page.locator("#chart-corpus .tip")).to_be_hidden()


DELAY_DRAWING = """() => {
    const embed = window.vegaEmbed;
    window.vegaEmbed = async (...all) => {
        document.body.dataset.drawing = "begun";
        await new Promise(resolve => { window.continueDrawing = resolve; });
        return embed(...all);
    };
}"""


def test_no_values_are_shown_while_another_view_is_drawn(open_page, url):
    page = wait_for_charts(open_page(url))
    page.evaluate(DELAY_DRAWING)
    chart = page.locator("#chart-corpus")
    chart.get_by_role("button", name="gain").click()
    expect(page.locator("body[data-drawing]")).to_be_attached()
    chart.locator(".plot").hover()
    expect(chart.locator(".tip")).to_be_hidden()
    page.evaluate("continueDrawing()")
    expect(chart).to_have_attribute("data-drawn", "relative_corpus_bleu")
    chart.locator(".plot").hover(position={"x": 200, "y": 90})
    expect(chart.locator(".tip")).to_be_visible()


def test_chart_drawn_while_hidden_is_drawn_again(open_page, serve, board):
    page = wait_for_charts(open_page(serve(BoardApi({"mock": boards.empty_board(), "dev": board}))))
    page.evaluate(DELAY_DRAWING)
    chart = page.locator("#chart-corpus")
    chart.get_by_role("button", name="gain").click()
    expect(page.locator("body[data-drawing]")).to_be_attached()
    page.click("#phases >> text=mock")
    expect(chart).to_be_hidden()
    page.evaluate("continueDrawing()")
    expect(chart).to_have_attribute("data-drawn", "relative_corpus_bleu")
    assert chart.locator("svg").evaluate("each => each.width.baseVal.value") == 0
    page.evaluate("delete document.body.dataset.drawing")
    page.click("#phases >> text=dev")
    expect(page.locator("body[data-drawing]")).to_be_attached()
    page.evaluate("continueDrawing()")
    expect(chart.locator("svg")).to_be_visible()
    assert chart.locator("svg").bounding_box()["width"] > 400


def test_charts_fit_a_window_that_was_resized_while_they_were_hidden(open_page, url):
    page = wait_for_charts(open_page(url))
    page.click("#clear")
    expect(page.locator("#chart-corpus .plot")).to_be_hidden()
    page.set_viewport_size({"width": 1000, "height": 900})
    page.check("input[aria-label='Compare BNMT-EL']")
    expect(page.locator("#chart-corpus svg")).to_be_visible()
    assert page.locator("#chart-corpus svg").bounding_box()["width"] > 300


class TestPostEditPhase:
    @pytest.fixture
    def page(self, open_page, serve):
        page = open_page(serve(BoardApi({"mock": boards.empty_board(), "dev": boards.post_edit_board()})))
        for name in ("difference", "ter", "reward"):
            expect(page.locator(f"#chart-{name}[data-drawn] svg")).to_be_visible()
        return page

    def test_columns_and_charts_are_those_of_the_phase(self, page):
        labels = [text.split()[0] for text in page.locator("#headings button").all_inner_texts()]
        assert labels[2:12] == ["Mean", "Gain", "BLEU", "SBLEU", "TER", "R0", "R1", "R0+1", "S", "S"]
        assert page.locator(f"{CONTESTANTS} td.column-ter .value").all_inner_texts() == ["25.6", "31.7", "35.2", "51.7"]
        for name in ("regret", "corpus", "sentence", "length"):
            expect(page.locator(f"#chart-{name}")).to_be_hidden()

    def test_another_phase_has_its_own_columns(self, page):
        page.click("#phases >> text=mock")
        expect(page.locator("#title")).to_have_text("The mock phase")
        expect(page.locator("#headings .column-ter")).to_have_count(0)
        expect(page.locator("#headings .column-slope")).to_have_count(1)

    def test_charts_switch_between_measures(self, page):
        page.locator("#chart-difference").get_by_role("button", name="BLEU").click()
        expect(page.locator("#chart-difference")).to_have_attribute("data-drawn", "difference_bleu")
        page.locator("#chart-ter").get_by_role("button", name="incremental").click()
        expect(page.locator("#chart-ter")).to_have_attribute("data-drawn", "incremental_ter")
        expect(page.locator("#chart-ter figcaption")).to_contain_text("the lowest TER so far")

    def test_arrow_keys_read_a_difference(self, page):
        slider = page.get_by_role("slider", name="Difference from the baseline")
        slider.focus()
        page.keyboard.press("End")
        assert slider.get_attribute("aria-valuetext").startswith("1,000 rounds: \u2068BNMT-full\u2069 +15.7")

    def test_there_are_no_accessibility_violations(self, page, axe):
        page.evaluate(axe)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [each["id"] for each in found["violations"]] == []
