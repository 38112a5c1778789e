"""``banditmt systems`` and ``pretrain``: list the systems, and train the seed models that they start from.

The learners are imported when a command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from banditmt_client.text import printable
from simulator.cli.folders import DEFAULT_MODELS, ModelsOption
from simulator.cli.progress_bars import training_report
from simulator.cli.stores import JsonOption

if TYPE_CHECKING:
    from learners.systems.system import System

WIDE_TERMINAL = 140  # columns that a table of all properties needs
UNWRAPPED_WIDTH = 1_000  # columns without a terminal, so that a search of the list finds one line per system


def systems(
    show: Annotated[
        str | None,
        typer.Option(
            metavar="SYSTEM", help="Print all settings of a system as a file for play --config.", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List all systems: their origin, their seed models, and the control of those that learn."""
    from learners.systems.registry import find_system, installed_systems

    if show is not None:
        _show(find_system(show), as_json=as_json)
        return
    listed, complaints = installed_systems()
    for complaint in complaints:
        typer.echo(f"banditmt: {printable(complaint)}", err=True)
    if as_json:
        typer.echo(json.dumps([_as_json(system) for system in listed], indent=2))
        return
    console = Console()
    if not console.is_terminal:
        console.width = UNWRAPPED_WIDTH
    console.print(_table(listed, is_narrow=console.width < WIDE_TERMINAL), highlight=False)


def _table(listed: Sequence["System"], *, is_narrow: bool) -> Table:
    """Return the table of systems; on a narrow terminal, what a system is and where it is from share a column."""
    if is_narrow:
        table = Table(Column("system", no_wrap=True), "what it is, and what it is from")
        for system in listed:
            table.add_row(system.name, Text.assemble(system.description, (f" ({system.origin})", "dim")))
        table.caption = "--json also lists seed models and controls"
        return table
    table = Table("system", "what it is", "from", "seed model", "control")
    for system in listed:
        seed_models = ", ".join(model.name for model in system.seed_models) or "-"
        table.add_row(system.name, system.description, system.origin, seed_models, system.control or "-")
    return table


def _show(system: "System", *, as_json: bool) -> None:
    """Print the settings of a system, each with its default, what it can be, and why one would change it."""
    from learners.settings import list_settings, to_toml

    settings = list_settings(system.config)
    if as_json:
        described = [{"name": one.name, "default": one.text, "values": one.choices, "why": one.why} for one in settings]
        typer.echo(json.dumps(described, indent=2))
        return
    typer.echo(f"# {system.name}: {system.description}\n# From: {system.origin}")
    if not settings:
        typer.echo("# It has no settings.")
        return
    typer.echo("# Change a setting with --set NAME=VALUE, or in a copy of this file with --config FILE.\n")
    typer.echo(to_toml(system.config))


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
    split: Annotated[
        bool,
        typer.Option(
            "--split/--no-split", help="Let networks read compounds and hyphenated words in parts, as SMT-SPLIT does."
        ),
    ] = False,
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
    settings = BuildSettings(Size(size), Architecture(architecture), split)
    pretraining = pretraining_config(settings, max_steps=steps, seed=seed)
    wanted = needed_models(systems) if systems else [model for model in SEED_MODELS if not model.needs_documents]
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
