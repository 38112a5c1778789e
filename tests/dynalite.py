"""dynalite, a DynamoDB over HTTP with real conditional writes, for as long as a test session wants it."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests import node_tools

SERVER = (
    "require('dynalite')({createTableMs: 0}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })"
)


@contextmanager
def running() -> Iterator[str]:
    """The address of a fresh server, which stops at the end."""
    if not shutil.which("node"):
        node_tools.missing("dynalite needs node, which is not installed")
    node_tools.install()
    with subprocess.Popen(["node", "-e", SERVER], cwd=node_tools.HERE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.terminate()
