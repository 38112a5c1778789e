"""What a task says about itself, as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from datetime import datetime

from banditmt_client.results import OutOfDomainText, Phase, TaskInfo
from banditmt_client.text import printable

LINE_CHARACTERS = 100
LABEL_CHARACTERS = 15
PHASE_COLUMNS = ("phase", "state", "rounds", "feedback", "metric", "opens (UTC)", "closes (UTC)", "runs left")


def describe(task: TaskInfo, service: str) -> str:
    """Return the description of a task in some lines. ``service`` is the address of the service."""
    facts = {
        "languages": f"{task.source} to {task.target}",
        "text": task.text.description,
        "signature": task.text.signature,
        "documents": "the sentences of a document come together, in order" if task.documents else "none",
        "licence": task.licence,
        "contact": task.contact,
        "out of domain": task.out_of_domain and _summary(task.out_of_domain),
    }
    lines = [_fact(label, text) for label, text in facts.items() if text]
    if task.out_of_domain is not None:
        lines += [_fact("", url) for url in _addresses(task.out_of_domain, service)]
    return "\n".join([printable(task.title or "A task without a title"), *lines, "", *_table(task.phases)])


def _fact(label: str, text: str) -> str:
    return textwrap.fill(
        printable(text),
        LINE_CHARACTERS,
        initial_indent=label.ljust(LABEL_CHARACTERS),
        subsequent_indent=" " * LABEL_CHARACTERS,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _summary(text: OutOfDomainText) -> str:
    return ", ".join(f"{file.lines:,} sentences of {file.language} ({file.bytes / 1e6:,.1f} MB)" for file in text.files)


def _addresses(text: OutOfDomainText, service: str) -> list[str]:
    files = [service.strip().rstrip("/") + file.url for file in text.files if file.url]
    return [text.url, *files] if text.url else files


def _table(phases: Sequence[Phase]) -> list[str]:
    rows = [PHASE_COLUMNS, *(tuple(map(printable, _row(phase))) for phase in phases)]
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
