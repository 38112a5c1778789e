"""What a task says about itself, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime

from banditmt_client.results import Phase, TaskInfo

LINE_CHARACTERS = 100
LABEL_CHARACTERS = 12
PHASE_COLUMNS = ("phase", "state", "rounds", "feedback", "metric", "opens (UTC)", "closes (UTC)", "runs left")


def describe(task: TaskInfo) -> str:
    """Return the description of a task in some lines."""
    facts = {
        "languages": f"{task.source} to {task.target}",
        "text": task.text.description,
        "signature": task.text.signature,
        "documents": "the sentences of a document come together, in order" if task.documents else "none",
        "licence": task.licence,
        "contact": task.contact,
    }
    lines = [_fact(label, text) for label, text in facts.items() if text]
    return "\n".join([task.title or "A task without a title", *lines, "", *_table(task.phases)])


def _fact(label: str, text: str) -> str:
    return textwrap.fill(
        text,
        LINE_CHARACTERS,
        initial_indent=label.ljust(LABEL_CHARACTERS),
        subsequent_indent=" " * LABEL_CHARACTERS,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(phases: Sequence[Phase]) -> list[str]:
    rows = [PHASE_COLUMNS, *map(_row, phases)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(PHASE_COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _row(phase: Phase) -> tuple[str, ...]:
    return (
        phase.name,
        phase.state,
        f"{phase.total:,}",
        phase.feedback,
        phase.metric,
        _time(phase.opens_at),
        _time(phase.closes_at),
        "-" if phase.runs_left is None else f"{phase.runs_left:,}",
    )


def _time(time: datetime | None) -> str:
    return "-" if time is None else f"{time:%Y-%m-%d %H:%M}"
