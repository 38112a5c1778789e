"""The service and the page that the handlers of this process use.

Both can be set. Otherwise the service is opened from the environment, and the page from the files in the bundle.
"""

import os
from threading import Lock

from lambdas.chain import LedgerKey
from lambdas.service import Service
from lambdas.store import open_store
from leaderboard.page import Page

STORE_VARIABLE = "BANDITMT_STORE"  # an address for open_store; in the cloud, the region alone is enough

_service: Service | None = None
_page: Page | None = None
_lock = Lock()


def use_service(service: Service | None) -> None:
    """Set the service that the handlers of this process call; None opens it from the environment again."""
    global _service
    with _lock:
        _service = service


def service() -> Service:
    """Return the service of this process, which is opened on first use."""
    global _service
    if _service is not None:  # nearly always; a lock for every request would make threads wait for each other
        return _service
    with _lock:
        if _service is None:
            address = os.environ.get(STORE_VARIABLE) or f"dynamodb:{os.environ['AWS_REGION']}"
            _service = Service(open_store(address), ledger_key=LedgerKey.from_environment(), streamed=True)
        return _service


def use_page(page: Page | None) -> None:
    """Set the page that the handlers of this process serve; None reads the files in the bundle again."""
    global _page
    with _lock:
        _page = page


def page() -> Page:
    """Return the page of this process, which is read on first use."""
    global _page
    with _lock:
        if _page is None:
            _page = Page()
        return _page
