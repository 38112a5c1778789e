"""Debian's Chromium, driven by playwright."""

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


class MissingError(Exception):
    """There is no browser here, and it cannot be installed."""


def executable() -> str:
    """Where Chromium is; on a machine that we administer, it is installed if need be."""
    found = shutil.which("chromium")
    if found:
        return found
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise MissingError("chromium is not installed: apt-get install chromium")
    for command in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingError(f"{' '.join(command)} failed: {done.stderr.strip()[-200:]}")
    return shutil.which("chromium") or "/usr/bin/chromium"


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser for as long as the block lasts."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
