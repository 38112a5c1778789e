"""A disk whose flush takes a given time, so that a measurement does not depend on the disk of the machine.

A small library is loaded before the C library of a process. Its ``fsync`` and ``fdatasync`` wait instead of flushing:
SQLite calls them as it would call the real ones, with its locks held and Python's lock released.
"""

import shutil
import subprocess
from pathlib import Path

_SOURCE = """
#include <time.h>
static int wait_instead(void) {
    struct timespec pause = { 0, %d };
    nanosleep(&pause, 0);
    return 0;
}
int fsync(int file) { (void) file; return wait_instead(); }
int fdatasync(int file) { (void) file; return wait_instead(); }
"""


class CompilerMissingError(Exception):
    """There is no C compiler."""


def slow_flush_environment(folder: Path, milliseconds: float) -> dict[str, str]:
    """Return the variable that makes the flushes of a process take this long. The library is written to the folder."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise CompilerMissingError("an injected flush needs a C compiler: install one, or leave out --flush-ms")
    source, library = folder / "slow_flush.c", folder / "slow_flush.so"
    source.write_text(_SOURCE % round(milliseconds * 1e6))
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(source)], check=True)
    return {"LD_PRELOAD": str(library)}
