"""Timers that fire at once: tests of notices for users who wait, without waiting."""

import threading

TIMEOUT_SECONDS = 60  # for a thread to get its turn on a busy machine


def wait_for_timers():
    """Return when all timers of this process have fired."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.finished.wait(TIMEOUT_SECONDS)  # it may not even have been started
