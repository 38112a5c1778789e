"""Debian's Chromium, controlled by playwright."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class MissingBrowserError(Exception):
    """Chromium is missing and cannot be installed."""


def executable() -> str:
    """Return the path of Chromium; as root on Debian, install it if it is missing."""
    found = shutil.which("chromium")
    if found:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingBrowserError("chromium is not installed; run: apt-get install chromium")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingBrowserError(f"{' '.join(command)} failed: {done.stderr.strip()[-200:]}")
    return shutil.which("chromium") or "/usr/bin/chromium"


@contextmanager
def launched() -> Iterator[Browser]:
    """Launch a browser, and close it at the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
