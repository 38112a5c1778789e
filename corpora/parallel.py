"""Work in several processes, with results in order and bounded memory."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, TypeVar

A = TypeVar("A")
B = TypeVar("B")

PENDING_PER_PROCESS = 4  # pieces: enough that no process waits, few enough that memory is bounded


def process_pool(
    processes: int, initialise: Callable[[Any], object] | None = None, shared: Any = None
) -> ProcessPoolExecutor:
    """Return a pool of spawned processes. They are not forked, since a progress bar runs in a thread.

    Each process calls ``initialise`` once with ``shared``.
    """
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(
        processes, mp_context=context, initializer=_initialise_process, initargs=(initialise, shared)
    )


def _initialise_process(initialise: Callable[[Any], object] | None, shared: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent receives Ctrl-C too, and ends the work in order
    if initialise is not None:
        initialise(shared)


def ordered_map(function: Callable[[A], B], pieces: Iterable[A], *, processes: int) -> Iterator[B]:
    """Yield the results in order, like ``map``. The executor's own ``map`` would read all input first."""
    if processes == 1:
        yield from map(function, pieces)
        return
    with process_pool(processes) as workers:
        pending: deque[Future[B]] = deque()
        try:
            for piece in pieces:
                pending.append(workers.submit(function, piece))
                if len(pending) >= processes * PENDING_PER_PROCESS:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
