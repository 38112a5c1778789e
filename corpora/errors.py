"""What can go wrong with corpora: each error is one line that says where, and what to do about it."""

from pathlib import Path


class CorpusError(Exception):
    """Anything a user of corpora can cause and mend."""


class InputError(CorpusError):
    """A corpus that was brought in is damaged, misaligned or not what its name says."""

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        super().__init__(f"{path}: {message}" if line is None else f"{path}:{line}: {message}")


class TaskError(CorpusError):
    """A task cannot be written, or a directory is not a sound task."""


class DebianError(CorpusError):
    """Packages cannot be found, fetched or opened on this machine."""
