"""How many references are taken for loops, by mistake, and how long a line takes.

Without ``--task``, of the synthetic text: 20,000 lines of the shop and as many of the newspaper.
"""

import argparse
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from corpora.errors import TaskError
from corpora.synth import CorpusGenerator
from corpora.task import Task
from leaderboard.metrics.loops import is_loop

SYNTHETIC_LINES = 20_000
SYNTHETIC_SEED = 77


def texts(task: Path | None) -> Iterator[tuple[str, Iterable[tuple[str, str]]]]:
    """Yield parts of text by name, as pairs of source and reference."""
    if task is None:
        corpus = CorpusGenerator(SYNTHETIC_SEED)
        yield "shop", corpus.in_domain("dev", SYNTHETIC_LINES)
        yield "news", corpus.out_of_domain(SYNTHETIC_LINES)
        return
    try:
        opened = Task.open(task)
    except TaskError as wrong:
        raise SystemExit(str(wrong)) from None
    for part in opened.parts:
        yield part, ((pair.source, pair.target) for pair in opened.distinct_pairs(part))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", type=Path, help="a task directory, whose distinct pairs are counted")
    for name, lines in texts(parser.parse_args().task):
        pairs = list(lines)
        start = time.perf_counter()
        loops = sum(is_loop(source, reference) for source, reference in pairs)
        seconds = time.perf_counter() - start
        share, microseconds = loops / len(pairs), seconds / len(pairs) * 1e6
        print(f"{name}: {loops} of {len(pairs):,} references are loops ({share:.3%}); {microseconds:.0f} µs per line")


if __name__ == "__main__":
    main()
