"""``banditmt serve`` in its own process, for tests that call the service over HTTP."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BANDITMT = [sys.executable, "-c", "from simulator.cli import main; main()"]
TIMEOUT_SECONDS = 300  # a process is slow to start and to stop on a busy machine


@contextmanager
def serving(*options: str, stop: signal.Signals = signal.SIGTERM) -> Iterator[dict[str, Any]]:
    """Start the service, yield the JSON that it prints, and stop it with a signal."""
    command = [*BANDITMT, "serve", "--port", "0", "--json", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            pytest.fail(process.communicate()[1])
        try:
            yield json.loads(line)
        finally:
            process.send_signal(stop)
            rest, error = process.communicate(timeout=TIMEOUT_SECONDS)
    assert (process.returncode, rest) == (0, "")
    assert error.endswith("stopped\n")


def call(url: str, api_key: str, body: object = None) -> Any:
    """Send a GET request, or a POST request with a JSON body; return the JSON of the response."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"x-api-key": api_key, "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        return json.load(response)
