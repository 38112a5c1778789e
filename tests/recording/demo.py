"""``make recording``: runs the demo in an empty folder, and writes what it prints as an animated picture.

The picture is ``docs/images/demo.svg``. Pauses are shortened, and it ends with the results; everything else is what the
command printed.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from tests.recording.terminal_svg import WIDTH, Line, to_svg

PICTURE = Path("docs/images/demo.svg")
COMMAND = "banditmt demo"
SHOWN_COMMAND = "make demo"
READING_SECONDS = {
    "How to read it": 5.0,
    "This is one run": 4.0,
}  # by the beginning of a line: what precedes can be read
AFTER_RESULTS = "The same results as figures"


def record(folder: Path) -> Iterator[Line]:
    """Run the command in a folder, and yield what it prints with the seconds since its start."""
    start = time.monotonic()
    yield Line(0.0, f"$ {SHOWN_COMMAND}")
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONUNBUFFERED": "1"}
    command = [str(Path(sys.executable).with_name("banditmt")), *COMMAND.split()[1:]]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None, "it is a pipe"
        for text in process.stdout:
            pause = next((seconds for begin, seconds in READING_SECONDS.items() if text.startswith(begin)), 0.0)
            yield Line(time.monotonic() - start, text.rstrip(), pause)
    if process.returncode:
        raise SystemExit(f"{COMMAND} ended with code {process.returncode}; nothing was written")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for line in record(Path(folder)):
            print(line.text, flush=True)
            lines.append(line)
    results = list(takewhile(lambda line: not line.text.startswith(AFTER_RESULTS), lines))
    PICTURE.write_text(to_svg(results, SHOWN_COMMAND), encoding="utf-8")
    print(f"{PICTURE}  {PICTURE.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main()
