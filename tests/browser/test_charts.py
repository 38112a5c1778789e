"""The charts of the leaderboard's page, in a real browser."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from leaderboard.table import HeldOutBlock
from tests.browser.stage import BoardApi
from tests.browser.visitor import CHARTS, drawn, lines
from tests.leaderboard import boards


def test_every_chart_has_a_drawing_a_sentence_and_a_table(opened, url):
    page = drawn(opened(url))
    for name in CHARTS:
        figure = page.locator(f"#chart-{name}")
        expect(figure.locator("figcaption")).to_contain_text("after 4,000 rounds")
        figure.locator("summary").click()
        expect(figure.locator("tbody tr").first).to_be_visible()
    table = page.locator("#chart-corpus table")
    assert table.locator("thead th").all_inner_texts() == ["Rounds", "70", "1,380", "2,690", "4,000"]
    assert len(lines(page, "corpus")) == 9
    assert page.locator("#chart-corpus svg g.mark-symbol path").count() == 9 * 4


def test_until_a_phase_is_closed_passes_are_counted(opened, served, contest):
    hidden = replace(contest, held_out=HeldOutBlock(4, 0, []))
    page = drawn(opened(served(BoardApi({"dev": hidden}))))
    expect(page.locator("#visibility")).to_contain_text("Which rounds are held out is told when the phase is closed")
    expect(page.locator("#chart-corpus figcaption")).to_contain_text("the highest held-out corpus BLEU in pass 4")
    page.locator("#chart-corpus summary").click()
    heads = page.locator("#chart-corpus table thead th")
    assert heads.all_inner_texts() == ["Pass", "1", "2", "3", "4"]
    page.locator("#chart-corpus .plot").focus()
    page.keyboard.press("Home")
    expect(page.locator("#chart-corpus .tip")).to_contain_text("pass 1")


REASONS = {
    "under way": (
        {"held_out": HeldOutBlock(4, 0, [])},
        {
            "corpus": "The first of 4 held-out passes is told when a run has played 1/4 of its rounds",
            "regret": "Of 7 runs",
        },
    ),
    "without held-out passes": (
        {"held_out": HeldOutBlock(0, 0, [])},
        {"corpus": "This phase has no held-out passes", "length": "This phase has no held-out passes"},
    ),
    "not public": (
        {"held_out": HeldOutBlock(0, 0, []), "visible": "own"},
        {"corpus": "Not told before this phase is closed", "sentence": "because nobody may know which rounds"},
    ),
}


@pytest.mark.parametrize(("changes", "words"), REASONS.values(), ids=REASONS)
def test_a_chart_without_data_says_why(opened, served, contest, changes, words):
    board = replace(contest, rows=[replace(row, passes=[]) for row in contest.rows], **changes)
    page = opened(served(BoardApi({"dev": board})))
    for chart, text in words.items():
        expect(page.locator(f"#chart-{chart} figcaption")).to_contain_text(text)
    expect(page.locator("#chart-corpus .plot")).to_be_hidden()
    expect(page.locator("#chart-corpus details")).to_be_hidden()


def test_regret_without_an_oracle_says_so(opened, served, contest):
    alone = [replace(row, regret=None, regrets={}) for row in contest.rows if row.role == "contestant"]
    url = served(BoardApi({"dev": replace(contest, rows=alone)}))
    expect(opened(url).locator("#chart-regret figcaption")).to_contain_text("this phase has no oracle yet")


def test_charts_switch_between_absolute_and_relative(opened, url):
    page = drawn(opened(url))
    page.locator("#chart-corpus").get_by_role("button", name="gain").click()
    expect(page.locator("#chart-corpus")).to_have_attribute("data-drawn", "relative_corpus_bleu")
    expect(page.locator("#chart-corpus figcaption")).to_contain_text("gain in corpus BLEU")
    page.locator("#chart-reward").get_by_role("button", name="cumulative").click()
    expect(page.locator("#chart-reward")).to_have_attribute("data-drawn", "reward")


def test_the_pointer_shows_values(opened, url, api):
    page = drawn(opened(url))
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


def test_the_arrow_keys_read_a_chart(opened, url):
    page = drawn(opened(url))
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


SLOWLY = """() => {
    const embed = window.vegaEmbed;
    window.vegaEmbed = async (...all) => {
        document.body.dataset.drawing = "begun";
        await new Promise(resolve => { window.goOn = resolve; });
        return embed(...all);
    };
}"""


def test_nothing_is_pointed_at_while_another_view_is_drawn(opened, url):
    page = drawn(opened(url))
    page.evaluate(SLOWLY)
    chart = page.locator("#chart-corpus")
    chart.get_by_role("button", name="gain").click()
    expect(page.locator("body[data-drawing]")).to_be_attached()
    chart.locator(".plot").hover()
    expect(chart.locator(".tip")).to_be_hidden()
    page.evaluate("goOn()")
    expect(chart).to_have_attribute("data-drawn", "relative_corpus_bleu")
    chart.locator(".plot").hover(position={"x": 200, "y": 90})
    expect(chart.locator(".tip")).to_be_visible()


def test_a_chart_that_was_drawn_out_of_sight_is_drawn_again(opened, served, contest):
    page = drawn(opened(served(BoardApi({"mock": boards.empty_board(), "dev": contest}))))
    page.evaluate(SLOWLY)
    chart = page.locator("#chart-corpus")
    chart.get_by_role("button", name="gain").click()
    expect(page.locator("body[data-drawing]")).to_be_attached()
    page.click("#phases >> text=mock")
    expect(chart).to_be_hidden()
    page.evaluate("goOn()")
    expect(chart).to_have_attribute("data-drawn", "relative_corpus_bleu")
    assert chart.locator("svg").evaluate("each => each.width.baseVal.value") == 0
    page.evaluate("delete document.body.dataset.drawing")
    page.click("#phases >> text=dev")
    expect(page.locator("body[data-drawing]")).to_be_attached()
    page.evaluate("goOn()")
    expect(chart.locator("svg")).to_be_visible()
    assert chart.locator("svg").bounding_box()["width"] > 400


def test_charts_are_as_wide_as_a_window_that_changed_while_they_were_out_of_sight(opened, url):
    page = drawn(opened(url))
    page.click("#clear")
    expect(page.locator("#chart-corpus .plot")).to_be_hidden()
    page.set_viewport_size({"width": 1000, "height": 900})
    page.check("input[aria-label='Compare BNMT-EL']")
    expect(page.locator("#chart-corpus svg")).to_be_visible()
    assert page.locator("#chart-corpus svg").bounding_box()["width"] > 300
