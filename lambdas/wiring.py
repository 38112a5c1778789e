"""Which service the handlers of this process talk to: the one it was given, or the one its environment names.

And which page they show: the one that was given, or the files that the bundle carries.
"""

import os
from threading import Lock

from lambdas.service import Service
from lambdas.store import open_store
from leaderboard.page import Page

STORE_VARIABLE = "BANDITMT_STORE"  # an address as open_store reads it; in the cloud the region is enough

_service: Service | None = None
_page: Page | None = None
_lock = Lock()


def use(service: Service | None) -> None:
    """Let the handlers of this process talk to this service; None to read the environment again."""
    global _service
    with _lock:
        _service = service


def service() -> Service:
    """The service of this process, made on first use."""
    global _service
    if _service is not None:  # as nearly always: a lock for every request would make threads wait for each other
        return _service
    with _lock:
        if _service is None:
            address = os.environ.get(STORE_VARIABLE) or f"dynamodb:{os.environ['AWS_REGION']}"
            _service = Service(open_store(address), streamed=True)
        return _service


def show(page: Page | None) -> None:
    """Let the handlers of this process show this page; None for the files that lie there."""
    global _page
    with _lock:
        _page = page


def page() -> Page:
    """The page of this process, read on first use."""
    global _page
    with _lock:
        if _page is None:
            _page = Page()
        return _page
