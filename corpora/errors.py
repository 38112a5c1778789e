"""The errors of this package. Each message is one line that says what is wrong, where, and what to do."""

from pathlib import Path


class CorpusError(Exception):
    """An error that the user can fix."""


class InputError(CorpusError):
    """An input file is damaged, misaligned or not in the format of its name."""

    def __init__(self, message: str, path: Path | str, line: int | None = None) -> None:
        super().__init__(f"{path}: {message}" if line is None else f"{path}:{line}: {message}")


class TaskError(CorpusError):
    """A task cannot be written, or a directory is not a valid task."""


class DebianError(CorpusError):
    """Debian packages cannot be found, downloaded or opened."""
