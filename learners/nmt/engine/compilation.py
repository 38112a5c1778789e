"""Compile the engine once on a machine, in its own process, so that every other process loads the same code.

The compiler may reorder sums, and it links functions that call each other differently in the process that compiles
than in one that loads them from numba's cache: results can differ in the last bit. A run that compiled, was killed and
resumed would no longer be exactly the run that was not interrupted. So no process that runs a learner compiles.
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

ENGINE_FOLDER = Path(__file__).parent
NOTICE = "compiling the learning engine, once on this machine: about half a minute"
COMPILE_PROGRAM = "import sys; sys.path[:] = {path!r}; from learners.nmt.engine.warmup import warm_up; warm_up()"


def fingerprint() -> str:
    """Return a digest that changes with the engine's code and with the machine that it is compiled for."""
    return f"{_code_digest()}-{_machine_digest()}"


def _code_digest() -> str:
    """Return a digest of all files that compiled code comes from.

    Numba's cache checks the file of a function, but not the files of the functions and constants that it uses.
    """
    files = (*sorted(ENGINE_FOLDER.glob("*.py")), ENGINE_FOLDER.parent / "vocabulary.py")  # the ids of its symbols
    return _digest(*(path.read_bytes() for path in files), version("numba").encode())


def _machine_digest() -> str:
    """Return a digest of the processor with its instruction set, and of the Python version."""
    return _digest(repr(cpu_target.target_context.codegen().magic_tuple()).encode(), python_version().encode())


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def ensure_compiled(cache: Path) -> None:
    """Fill numba's cache folder unless it is filled; print a notice if that takes long."""
    ready = cache / f"engine-{fingerprint()}.ready"
    if ready.exists():
        return
    cache.mkdir(parents=True, exist_ok=True)
    with notice_if_slow(NOTICE), FileLock(cache / "engine.lock"):
        if not ready.exists():  # another process may have compiled meanwhile
            _compile_into(cache)
            ready.touch()


def _compile_into(cache: Path) -> None:
    if not any(cache.glob(f"engine-{_code_digest()}-*.ready")):  # otherwise another machine uses this folder, too
        for pattern in ("engine-*.ready", "*.nbi", "*.nbc"):
            for stale in cache.glob(pattern):
                stale.unlink()
    command = [sys.executable, "-c", COMPILE_PROGRAM.format(path=sys.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise LearnerError(f"the learning engine could not be compiled: {reason}")
