"""A recording of a terminal as an animated SVG: no script, so that it also plays as an image in a README.

Lines appear as they were printed, and scroll up when the window is full. A viewer without animation sees the end.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH = 80  # characters of a line
ROWS = 34  # lines of the window
LINE_HEIGHT, CHARACTER_WIDTH, MARGIN, TITLE_HEIGHT = 17, 7.83, 14, 30  # pixels
MIN_PAUSE, MAX_PAUSE = 0.09, 1.3  # seconds between two lines
END_PAUSE = 6.0  # seconds in which the last screen can be read

STYLES = {"$ ": "command", "- ": "result"}  # by the beginning of a line


class Line(NamedTuple):
    """What was printed, and when."""

    seconds: float
    text: str
    pause: float = 0.0  # seconds in which the lines before it can be read


def appearance_times(lines: Sequence[Line]) -> list[float]:
    """Return when each line appears in the picture: in the same order, but with shortened pauses."""
    times = [0.0]
    for before, after in pairwise(lines):
        waited = min(MAX_PAUSE, max(MIN_PAUSE, after.seconds - before.seconds))
        times.append(times[-1] + max(after.pause, waited))
    return times


def to_svg(lines: Sequence[Line], title: str) -> str:
    """Return the picture of these lines."""
    folded = [piece for line in lines for piece in _fold(line)]
    times = appearance_times(folded)
    total = times[-1] + END_PAUSE
    width = round(WIDTH * CHARACTER_WIDTH + 2 * MARGIN)
    height = TITLE_HEIGHT + ROWS * LINE_HEIGHT + MARGIN
    final_place = -LINE_HEIGHT * max(0, len(folded) - ROWS)
    texts = [
        _text(line.text, number, moment / total, total)
        for number, (line, moment) in enumerate(zip(folded, times, strict=True))
    ]
    label = f'role="img" aria-label="{escape(title)}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {label}>
<style>
text {{ font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #e6e9ef; white-space: pre; }}
.command {{ fill: #93c4ff; font-weight: 700; }} .result {{ fill: #2affae; }} .title {{ fill: #9da7b8; }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#171b22"/>
<g fill="#434c5b"><circle cx="18" cy="15" r="5"/><circle cx="36" cy="15" r="5"/><circle cx="54" cy="15" r="5"/></g>
<text class="title" x="{width / 2}" y="20" text-anchor="middle">{escape(title)} (shortened)</text>
<svg y="{TITLE_HEIGHT}" width="{width}" height="{ROWS * LINE_HEIGHT}">
<g transform="translate(0 {final_place})">{_scrolling(times, total)}
{chr(10).join(texts)}
</g></svg>
</svg>
"""


def _fold(line: Line) -> list[Line]:
    """Return a line as a terminal shows it: in pieces of its width."""
    first, *others = (line.text[start : start + WIDTH] for start in range(0, max(1, len(line.text)), WIDTH))
    return [line._replace(text=first), *(Line(line.seconds, text) for text in others)]


def _text(text: str, number: int, share: float, total: float) -> str:
    style = next((name for start, name in STYLES.items() if text.lstrip().startswith(start)), "")
    kind = f' class="{style}"' if style else ""
    place = f'x="{MARGIN}" y="{number * LINE_HEIGHT + LINE_HEIGHT - 4}"'
    hidden_before = _animation("animate", 'attributeName="opacity"', ["0", "1"], [0.0, share], total) if share else ""
    return f'<text {place}{kind} xml:space="preserve">{escape(text)}{hidden_before}</text>' if text else ""


def _scrolling(times: Sequence[float], total: float) -> str:
    """Return the movement of all lines: one line up whenever a line appears below the window."""
    hidden = len(times) - ROWS
    if hidden <= 0:
        return ""
    values = [f"0 {-LINE_HEIGHT * number}" for number in range(hidden + 1)]
    moments = [0.0, *(moment / total for moment in times[ROWS:])]
    return _animation("animateTransform", 'attributeName="transform" type="translate"', values, moments, total)


def _animation(element: str, what: str, values: Sequence[str], moments: Sequence[float], total: float) -> str:
    key_times = ";".join(f"{moment:.4f}" for moment in moments)
    return (
        f'<{element} {what} calcMode="discrete" values="{";".join(values)}" keyTimes="{key_times}" '
        f'dur="{total:.2f}s" repeatCount="indefinite"/>'
    )
