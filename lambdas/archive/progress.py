"""Progress reports of exports and imports."""

from collections.abc import Callable, Iterable, Iterator

from task.rounds import Round

ROUNDS_PER_REPORT = 1_000


def report_rounds(rounds: Iterable[Round], progress: Callable[[int], None]) -> Iterator[Round]:
    """Yield rounds, and call ``progress`` with the number of rounds since its last call, by the thousand."""
    count = 0
    for count, played in enumerate(rounds, start=1):
        yield played
        if count % ROUNDS_PER_REPORT == 0:
            progress(ROUNDS_PER_REPORT)
    progress(count % ROUNDS_PER_REPORT)
