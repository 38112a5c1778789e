"""Random pairs of a task, for reading."""

import random

from corpora.task import Pair, Task


def sample_pairs(task: Task, part: str, number: int, seed: int) -> list[tuple[int, Pair]]:
    """Return random pairs of a part with their line numbers, which start at 1, in the order of the part."""
    lines = task.rounds(part)
    chosen = set(random.Random(seed).sample(range(lines), min(number, lines)))
    return [(index + 1, pair) for index, pair in enumerate(task.pairs(part)) if index in chosen]
