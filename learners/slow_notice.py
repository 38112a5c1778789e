"""A notice for users who have to wait."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

NOTICE_AFTER_SECONDS = 2.0


@contextmanager
def notice_if_slow(notice: str) -> Iterator[None]:
    """Print the notice to standard error if the ``with`` block takes longer than two seconds."""
    timer = threading.Timer(NOTICE_AFTER_SECONDS, print, [notice], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
