"""Files and directories that appear whole: written beside their place, flushed to the disk, then renamed.

After a crash or a power cut the old file is there or the new one, never a half-written one. Any number of processes and
threads may write the same path: each writes under its own hidden name, and the last rename wins. An error, or an
interrupt, leaves nothing behind. Only a killed process leaves its hidden file.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600  # the mode of a file that only its owner may read
_PUBLIC = 0o666  # less what the umask takes away


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, or replace the one that is there."""
    with open_staged(path) as file:
        file.write(content)


@contextmanager
def open_staged(path: Path, *, mode: int = _PUBLIC) -> Iterator[BinaryIO]:
    """Open a binary file that takes its place at ``path`` when the ``with`` block ends without an error."""
    with staged_file(path, mode=mode) as staged, staged.open("r+b") as file:
        yield file


@contextmanager
def staged_file(path: Path, *, mode: int = _PUBLIC) -> Iterator[Path]:
    """Yield the path of an empty file that moves to ``path`` when the ``with`` block ends without an error.

    For writers that want a path of their own instead of an open file.
    """
    staged = _staging_path(path)
    staged.unlink(missing_ok=True)  # left by a killed process that had the same number
    try:
        os.close(os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield staged
        _flush(staged)
        _move(staged, path)
    finally:
        staged.unlink(missing_ok=True)


@contextmanager
def staged_directory(path: Path) -> Iterator[Path]:
    """Yield an empty directory that moves to ``path`` when the ``with`` block ends without an error.

    A directory cannot replace a file, nor a directory that is not empty: the rename then raises OSError.
    """
    staged = _staging_path(path)
    shutil.rmtree(staged, ignore_errors=True)
    try:
        staged.mkdir()
        yield staged
        for entry in (*staged.rglob("*"), staged):
            _flush(entry)
        _move(staged, path)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _staging_path(path: Path) -> Path:
    """Return a hidden name in the same directory, and thus the same file system, for this thread alone."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}")


def _move(staged: Path, path: Path) -> None:
    staged.replace(path)
    with suppress(OSError):  # not every file system can flush a directory; the rename has happened all the same
        _flush(path.parent)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
