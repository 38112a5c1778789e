"""The folders of seed models and of runs, as options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from simulator.tasks import STATE

DEFAULT_MODELS = STATE / "models"
DEFAULT_RUNS = STATE / "runs"


def _check_folder(path: Path) -> Path:
    """Raise BadParameter for a path that cannot be a folder: the file system's own error would say less."""
    existing = next(parent for parent in (path, *path.parents) if parent.exists())
    if not existing.is_dir():
        raise typer.BadParameter(f"{existing} is a file; name a folder, which is created if it does not exist")
    return path


ModelsOption = Annotated[Path, typer.Option("--models", callback=_check_folder, help="The folder of the seed models.")]
RunsOption = Annotated[
    Path, typer.Option("--runs", callback=_check_folder, help="The folder of the journals and snapshots of runs.")
]
