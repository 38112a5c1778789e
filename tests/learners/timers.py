"""Timers that ring at once, waited for: what a user is told who waits, without waiting."""

import threading

PATIENCE = 60  # seconds for a thread to get its turn on a busy machine


def let_ring():
    """Come back when everybody who was to be told something has been told."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.finished.wait(PATIENCE)  # it may not even have been started
