"""Small tasks for tests."""

from pathlib import Path

from corpora.task import Pair, Task, TaskWriter, in_served_order, write_pairs
from task.description import OUT_OF_DOMAIN, TaskDescription
from task.feedback import FeedbackSpec
from task.languages import LanguagePair
from task.layout import Layout

LAYOUTS = {"mock": Layout.plain(3), "dev": Layout(2, 2, 4), "training": Layout(3, 2, 4)}


def numbered(name: str, count: int) -> list[Pair]:
    return [Pair(f"{name} satz {number}", f"{name} sentence {number}") for number in range(count)]


def description(*, seed: int = 7, generator: str = "test 1", noise: str = "none") -> TaskDescription:
    return TaskDescription(LanguagePair("de", "en"), generator, "CC0-1.0", FeedbackSpec(noise, seed))


def write_task(
    path: Path, out_of_domain: int = 5, *, seed: int = 7, generator: str = "test 1", noise: str = "none"
) -> Task:
    """A valid task with 3 mock, 8 dev and 14 training rounds."""
    with TaskWriter(path, description(seed=seed, generator=generator, noise=noise)) as writer:
        for part, layout in LAYOUTS.items():
            served = in_served_order(numbered(part, layout.distinct), layout, part)
            writer.add(part, write_pairs(writer.directory, part, ("de", "en"), served), layout)
        pairs = numbered("news", out_of_domain)
        writer.add(OUT_OF_DOMAIN, write_pairs(writer.directory, OUT_OF_DOMAIN, ("de", "en"), pairs))
    return Task.open(path)
