"""Small tasks for tests. The layouts are the service's own: tests may know every room."""

from pathlib import Path

from corpora.description import OUT_OF_DOMAIN, Description
from corpora.task import Pair, Task, TaskWriter, in_served_order, write_pairs
from task.feedback import FeedbackSpec
from task.layout import Layout

LAYOUTS = {"mock": Layout.plain(3), "dev": Layout(2, 2, 4), "training": Layout(3, 2, 4)}


def numbered(name: str, count: int) -> list[Pair]:
    return [Pair(f"{name} satz {number}", f"{name} sentence {number}") for number in range(count)]


def description(**changes: object) -> Description:
    values = {
        "source": "de",
        "target": "en",
        "seed": 7,
        "generator": "test 1",
        "licence": "CC0-1.0",
        "perturbation": "none",
        "signature": FeedbackSpec().signature,
        **changes,
    }
    return Description(**values)  # type: ignore[arg-type]


def write_task(path: Path, out_of_domain: int = 5, **changes: object) -> Task:
    """A sound task with 3 mock, 8 dev and 14 training rounds."""
    with TaskWriter(path, description(**changes)) as writer:
        for part, layout in LAYOUTS.items():
            served = in_served_order(numbered(part, layout.distinct), layout, part)
            writer.add(part, write_pairs(writer.directory, part, ("de", "en"), served), layout)
        pairs = numbered("news", out_of_domain)
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), pairs))
    return Task.open(path)
