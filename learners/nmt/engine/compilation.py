"""Compiles the engine once on a machine, in a process of its own, so that every other process loads the same code.

Sums may be reordered by the compiler, and what a process has just compiled is not to the bit what others then load from
numba's cache: functions that call each other are linked differently. A run that compiled and was killed would go on a
hair's breadth beside itself. So nobody who plays compiles.
"""

import hashlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from platform import python_version

from filelock import FileLock
from numba.core.registry import cpu_target

from learners.errors import LearnerError
from learners.slow_notice import notice_if_slow

HOME = Path(__file__).parent
NOTICE = "compiling the learning engine, once on this machine: about half a minute"
COMPILE = "import sys; sys.path[:] = {path!r}; from learners.nmt.engine.warmup import warm_up; warm_up()"


def fingerprint() -> str:
    """Changes when numba would compile, or should: with the code, and with what it is compiled for."""
    return f"{_of_code()}-{_of_machine()}"


def _of_code() -> str:
    """Numba's cache knows the file of a function, but not the files of what it calls, nor of its constants."""
    files = (*sorted(HOME.glob("*.py")), HOME.parent / "vocabulary.py")  # whose numbers of symbols are compiled in
    return _digest(*(path.read_bytes() for path in files), version("numba").encode())


def _of_machine() -> str:
    """Numba's cache holds code for one processor, with its instructions, and one Python."""
    return _digest(repr(cpu_target.target_context.codegen().magic_tuple()).encode(), python_version().encode())


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def ensure_compiled(cache: Path) -> None:
    """Fill numba's cache, which is this folder, unless it is filled; say so if the user has to wait."""
    ready = cache / f"engine-{fingerprint()}.ready"
    if ready.exists():
        return
    cache.mkdir(parents=True, exist_ok=True)
    with notice_if_slow(NOTICE), FileLock(cache / "engine.lock"):
        if not ready.exists():  # nobody else was faster
            _compile_afresh(cache)
            ready.touch()


def _compile_afresh(cache: Path) -> None:
    if not any(cache.glob(f"engine-{_of_code()}-*.ready")):  # else other machines share the folder, and load from it
        for stale in (
            *cache.glob("engine-*.ready"),
            *(path for kind in ("nbi", "nbc") for path in cache.glob(f"*.{kind}")),
        ):
            stale.unlink()
    command = [sys.executable, "-c", COMPILE.format(path=sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise LearnerError(f"the learning engine could not be compiled: {reason}")
