"""Work spread over processes, with results in order and only a few pieces in memory."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")

PIECES_PER_PROCESS = 4  # in flight: enough that no process waits, few enough that memory is bounded


def pool(processes: int, initialise: Callable[[Any], object] | None = None, shared: Any = None) -> ProcessPoolExecutor:
    """Fresh interpreters rather than forks: whoever draws a progress bar has threads, and forks do not copy them.

    ``initialise`` gets ``shared`` once in every process.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(initialise, shared))


def _begin(initialise: Callable[[Any], object] | None, shared: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C too, and ends the work in order
    if initialise is not None:
        initialise(shared)


def ordered_map(function: Callable[[A], B], pieces: Iterable[A], *, processes: int) -> Iterator[B]:
    """``map`` over processes. The executor's own would read all input before the first result is asked for."""
    if processes == 1:
        yield from map(function, pieces)
        return
    with pool(processes) as workers:
        pending: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                pending.append(workers.submit(function, piece))
                if len(pending) >= processes * PIECES_PER_PROCESS:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
