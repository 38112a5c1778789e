"""Tell a user who has to wait what for."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 2.0  # seconds until a user wonders


@contextmanager
def notice_if_slow(notice: str) -> Iterator[None]:
    """Print one line to standard error if what follows takes long."""
    timer = threading.Timer(PATIENCE, print, [notice], {"file": sys.stderr})
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
