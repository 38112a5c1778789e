"""A recording of a terminal: every line, in its order, in a picture that needs no script."""

import xml.etree.ElementTree as ET

import pytest

from tests.recording.terminal_svg import END_PAUSE, ROWS, WIDTH, Line, appearance_times, to_svg

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [each for each in ET.fromstring(picture).iter(f"{SVG}text") if each.get("class") != "title"]


def test_pauses_are_shortened_and_bursts_can_be_read():
    lines = [Line(0.0, "a"), Line(0.5, "b"), Line(100.0, "c"), Line(100.0, "d")]
    assert appearance_times(lines) == pytest.approx([0.0, 0.5, 1.8, 1.89])


def test_a_line_can_leave_time_to_read_what_precedes_it():
    assert appearance_times([Line(0.0, "a"), Line(0.5, "b", pause=4.0), Line(0.6, "c")]) == pytest.approx([0, 4, 4.1])
    folded = to_svg([Line(0.0, "a"), Line(0.5, "x" * (WIDTH + 1), pause=4.0)], "run")
    assert f'dur="{4.0 + 0.09 + END_PAUSE:.2f}s"' in folded, "only the first piece of a long line waits"


def test_every_line_appears_in_its_order():
    picture = to_svg([Line(0.0, "$ run <it> & more"), Line(1.0, ""), Line(1.0, "done")], "run")
    assert [each.text for each in texts(picture)] == ["$ run <it> & more", "done"]
    command, done = texts(picture)
    assert (command.get("class"), done.get("class")) == ("command", None)
    [moment] = [each.get("keyTimes") for each in done.iter(f"{SVG}animate")]
    total = 1.0 + 0.09 + END_PAUSE
    assert moment == f"0.0000;{1.09 / total:.4f}"


def test_long_lines_are_folded_as_in_a_terminal():
    assert [each.text for each in texts(to_svg([Line(0.0, "x" * (WIDTH + 1))], "run"))] == ["x" * WIDTH, "x"]


def test_a_full_window_scrolls_and_ends_at_the_last_line():
    short, long = (to_svg([Line(0.0, str(number)) for number in range(count)], "run") for count in (ROWS, ROWS + 2))
    assert "animateTransform" not in short
    [scroll] = ET.fromstring(long).iter(f"{SVG}animateTransform")
    assert scroll.get("values") == "0 0;0 -17;0 -34"
    [moved] = [each for each in ET.fromstring(long).iter(f"{SVG}g") if each.get("transform")]
    assert moved.get("transform") == "translate(0 -34)", "without animation, the end is shown"


def test_there_is_no_script_and_nothing_is_loaded():
    picture = to_svg([Line(0.0, "a")], "run")
    assert "<script" not in picture
    assert "href" not in picture
