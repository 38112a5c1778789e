"""Interrupts that wait for a safe moment: the first one sets a flag, a second one takes effect at once."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupts(
    signals: Sequence[signal.Signals] = (signal.SIGINT,), *, on_interrupt: Callable[[], None] | None = None
) -> Iterator[threading.Event]:
    """Yield a flag that the first interrupt sets; a second interrupt raises KeyboardInterrupt.

    The caller looks at the flag between two rounds, so that no round is interrupted in the middle. Only the main
    thread receives signals: in any other thread the flag stays as it is.

    Args:
        signals: What counts as an interrupt; Ctrl-C by default.
        on_interrupt: Called at every interrupt, and in place of the exception: for a process that passes interrupts on
            to its children.
    """
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        repeated = interrupted.is_set()
        interrupted.set()
        if on_interrupt:
            on_interrupt()
        elif repeated:
            raise KeyboardInterrupt

    previous = {number: signal.signal(number, handle) for number in signals}
    try:
        yield interrupted
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
