"""``banditmt systems`` and ``pretrain``: list the systems, and train the seed models that they start from.

The learners are imported when a command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from simulator.cli.folders import DEFAULT_MODELS, ModelsOption
from simulator.cli.progress_bars import training_report
from simulator.cli.stores import JsonOption

if TYPE_CHECKING:
    from learners.systems.system import System

UNWRAPPED_WIDTH = 1_000  # columns without a terminal, so that a search of the list finds one line per system


def systems(as_json: JsonOption = False) -> None:
    """List all systems: their origin, their seed models, and the control of those that learn."""
    from learners.systems.registry import SYSTEMS

    if as_json:
        typer.echo(json.dumps([_as_json(system) for system in SYSTEMS.values()], indent=2))
        return
    table = Table("system", "what it is", "from", "seed model", "control")
    for system in SYSTEMS.values():
        seed_models = ", ".join(model.name for model in system.seed_models) or "-"
        table.add_row(system.name, system.description, system.origin, seed_models, system.control or "-")
    console = Console()
    if not console.is_terminal:
        console.width = UNWRAPPED_WIDTH
    console.print(table, highlight=False)


def _as_json(system: "System") -> dict[str, object]:
    return {
        "name": system.name,
        "summary": system.description,
        "source": system.origin,
        "needs": [model.name for model in system.seed_models],
        "stochastic": system.stochastic,
        "oracle": system.needs_references,
        "control": system.control,
        "family": asdict(system.family) if system.family else None,
    }


def pretrain(
    task: Annotated[Path, typer.Option(help="The task whose text to train on.")],
    systems: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SYSTEM]...", help="Train only the seed models of these systems. Default: all.", show_default=False
        ),
    ] = None,
    models: ModelsOption = DEFAULT_MODELS,
    size: Annotated[
        str, typer.Option(help="tiny (for tests), small (for a CPU) or paper (as published; needs a GPU).")
    ] = "small",
    architecture: Annotated[str, typer.Option(help="gru (as in the WMT 2017 task) or transformer.")] = "gru",
    steps: Annotated[
        int | None,
        typer.Option(
            help="The maximum number of training steps per model. Default: none: until it has converged.", min=1
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The random seed; the same seed gives the same models.", min=0)] = 0,
) -> None:
    """Train the seed models that systems start from, until they have converged.

    If it is interrupted, the same command resumes it.
    """
    from learners.seed_models.catalogue import SEED_MODELS, with_requirements
    from learners.seed_models.networks import pretraining_config
    from learners.seed_models.settings import Architecture, BuildSettings, Size
    from learners.seed_models.store import ModelStore
    from simulator.pretraining import needed_models, train_seed_models

    if size not in list(Size):
        raise typer.BadParameter(f"--size is one of {', '.join(Size)}, not {size!r}")
    if architecture not in list(Architecture):
        raise typer.BadParameter(f"--architecture is one of {', '.join(Architecture)}, not {architecture!r}")
    settings = BuildSettings(Size(size), Architecture(architecture))
    pretraining = pretraining_config(settings, max_steps=steps, seed=seed)
    wanted = needed_models(systems) if systems else list(SEED_MODELS)
    with training_report(wanted) as report:
        trained = train_seed_models(task, models, wanted, settings=settings, pretraining=pretraining, report=report)
    store = ModelStore(models)
    kept = [model for model in with_requirements(wanted) if model not in trained and store.has(model)]
    if trained:
        typer.echo(f"{models}: trained {', '.join(map(str, trained))}")
    if kept:
        typer.echo(f"{models}: kept {', '.join(map(str, kept))}, which existed already (--steps and --seed ignored)")
    if not wanted:
        typer.echo(f"{models}: these systems need no seed model")
