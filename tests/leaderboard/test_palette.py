"""The colours of page and figures: distinct for every reader, legible, and the same in both."""

import re
from itertools import combinations

import pytest

from leaderboard import palette
from leaderboard.page import SITE_FOLDER

MIN_DIFFERENCE = 18  # in CIELAB: about eight times what can just be seen side by side
MIN_CONTRAST = 4.5  # of text on its background: WCAG 2.2, criterion 1.4.3

# How colours look with each kind of colour blindness (Machado et al. 2009, severity 1), in linear RGB.
VISION = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
THEMES = {
    "light": (palette.LIGHT_SERIES, palette.LIGHT_REFERENCE, palette.LIGHT_BACKGROUND),
    "dark": (palette.DARK_SERIES, palette.DARK_REFERENCE, palette.DARK_BACKGROUND),
}


def linear(colour):
    shares = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]


def product(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(rgb):
    xyz = product(((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)), rgb)
    shares = [value / white for value, white in zip(xyz, (0.9505, 1, 1.089), strict=True)]
    x, y, z = (share ** (1 / 3) if share > 0.008856 else 7.787 * share + 16 / 116 for share in shares)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour, matrix):
    return lab([min(1.0, max(0.0, value)) for value in product(matrix, linear(colour))])


def luminance(colour):
    return product(((0.2126, 0.7152, 0.0722),), linear(colour))[0]


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", THEMES)
def test_any_two_colours_differ_for_every_reader(theme, vision):
    series, _, _ = THEMES[theme]
    pairs = combinations([seen(colour, VISION[vision]) for colour in series], 2)
    assert min(sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in pairs) > MIN_DIFFERENCE


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_can_be_read_as_text(theme):
    series, reference, background = THEMES[theme]
    paper = luminance(background) + 0.05
    contrasts = [(luminance(colour) + 0.05) / paper for colour in (*series, reference)]
    assert min(max(contrast, 1 / contrast) for contrast in contrasts) > MIN_CONTRAST


def test_the_page_has_the_same_colours():
    style = (SITE_FOLDER / "style.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--(series-\d|reference|card): light-dark\((#\w+, #\w+)\)", style))
    expected = dict(zip(palette.LIGHT_SERIES, palette.DARK_SERIES, strict=True))
    assert [found[f"series-{number + 1}"] for number in range(len(expected))] == [
        f"{light}, {dark}" for light, dark in expected.items()
    ]
    assert found["reference"] == f"{palette.LIGHT_REFERENCE}, {palette.DARK_REFERENCE}"
    assert found["card"] == f"{palette.LIGHT_BACKGROUND}, {palette.DARK_BACKGROUND}"
