"""The figure of the study of offline learning: reward by the share of out-of-domain text that is selected."""

from collections.abc import Sequence
from pathlib import Path

import altair as alt

from benchmarks.studies.offline_tables import CONTROL, STATIC, TextResults, difference

WIDTH, HEIGHT = 420, 260


def save_selection_figure(texts: Sequence[TextResults], path: Path) -> None:
    """Draw the gain over BNMT-static by share with intervals, and that of BNMT-control as a dashed line."""
    points, controls = [], []
    for text in texts:
        for share, run in sorted(text.shares.items()):
            gain = difference([run], text.later[STATIC])
            points.append({"text": text.text, "share": share, "gain": gain.mean, "low": gain.low, "high": gain.high})
        controls.append({"text": text.text, "gain": difference(text.later[CONTROL], text.later[STATIC]).mean})
    colour = alt.Color("text:N", title=None, scale=alt.Scale(scheme="tableau10"))
    axis = f"mean reward minus {STATIC}"
    y = alt.Y("gain:Q", title=axis)
    base = alt.Chart(alt.InlineData(values=points)).encode(
        x=alt.X("share:Q", title="share of out-of-domain text that is selected", axis=alt.Axis(format="%")),
        color=colour,
    )
    intervals = base.mark_errorbar(ticks=True).encode(y=alt.Y("low:Q", title=axis), y2="high:Q")
    rules = alt.Chart(alt.InlineData(values=controls)).mark_rule(strokeDash=[5, 4]).encode(y=y, color=colour)
    title = f"UMD-domain-adaptation with 95 % intervals; dashed: {CONTROL}"
    layers = alt.layer(intervals, base.mark_line(point=True).encode(y=y), rules)
    layers.properties(width=WIDTH, height=HEIGHT, title=title).save(path, format="svg")
