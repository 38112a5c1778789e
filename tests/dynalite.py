"""dynalite, an implementation of DynamoDB over HTTP with real conditional writes."""

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
    """Start a server with no tables, yield its address, and stop it at the end."""
    if not shutil.which("node"):
        node_tools.skip_or_fail("dynalite needs node, which is not installed")
    node_tools.install()
    with subprocess.Popen(["node", "-e", SERVER], cwd=node_tools.HERE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.terminate()
