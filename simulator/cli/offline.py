"""``banditmt offline``: train a seed model on a log of feedback, without playing.

The learners are imported when the command runs: torch takes seconds to load, and most commands do not need it.
"""

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

from simulator.cli.folders import DEFAULT_MODELS, ModelsOption
from simulator.cli.progress_bars import TrainingLog, progress_bars
from simulator.cli.stores import JsonOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from learners.offline.training import OfflineResult, Validation

STARTS = ("bnmt", "smt")

LogOption = Annotated[
    Path,
    typer.Option("--log", help="The log: .jsonl, .jsonl.gz or .parquet."),
]
LoggedByOption = Annotated[
    list[str] | None,
    typer.Option("--logged-by", help="Use only the rounds that this system logged; repeat it for several."),
]


def offline(
    method: Annotated[str, typer.Argument(help="ips, snips, dpm, dpm-r, osl, dc, c-dc or dr.")],
    log: LogOption,
    logged_by: LoggedByOption = None,
    models: ModelsOption = DEFAULT_MODELS,
    out: Annotated[
        str, typer.Option(help="The name of the new seed model. Default: the one that the OFFLINE system plays.")
    ] = "",
    start: Annotated[str, typer.Option(help="The seed model to start from: bnmt or smt.")] = STARTS[0],
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a setting of the training, such as epochs=3; can be repeated. A wrong name lists all.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The random seed; the same seed gives the same model.", min=0)] = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a seed model on a log of feedback, and keep what the estimator says is best on held-out rounds.

    If it is interrupted, the same command resumes it. The OFFLINE systems play the result.
    """
    from learners.offline.estimators import Method
    from learners.settings import apply_settings, parse_assignments
    from learners.systems.offline import default_model, training_config
    from simulator.feedback_log.reading import read_log
    from simulator.offline import OfflineJob

    if method not in list(Method):
        raise typer.BadParameter(f"METHOD is one of {', '.join(Method)}, not {method!r}")
    if start not in STARTS:
        raise typer.BadParameter(f"--start is one of {', '.join(STARTS)}, not {start!r}")
    model = default_model(Method(method), start)
    config = apply_settings(training_config(model), parse_assignments(assignments or ()))
    job = OfflineJob(model, models, out or model.name, config, seed)
    job.check()
    rounds = read_log(log, logged_by or ())
    with _report(job.name) as watch:
        result = job.run(rounds, watch)
    if as_json:
        typer.echo(json.dumps({"model": str(job.path), **asdict(result)}, indent=2))
    else:
        _print_result(job.path, result)


def _print_result(path: Path, result: "OfflineResult") -> None:
    typer.echo(
        f"{path}: trained on {result.rounds:,} rounds, {result.held_out:,} held out; "
        f"step {result.best_step:,} of {result.steps:,} is the best"
    )
    typer.echo(
        f"{result.method} estimates a reward of {result.value:.4f} per held-out round, "
        f"and {result.seed_value:.4f} before training"
    )
    if result.without_probability:
        typer.echo(f"left out: {result.without_probability:,} rounds without log_probability")
    if result.unreachable:
        typer.echo(f"left out: {result.unreachable:,} rounds whose translation the model cannot produce")
    if result.explained is not None:
        typer.echo(f"the reward model explains {100 * result.explained:.1f} % of the variance of held-out rewards")
    if not result.best_step:
        typer.echo("no step raised the estimate: the new model is a copy of the one that it started from")


@contextmanager
def _report(name: str) -> "Iterator[Callable[[Validation], None]]":
    """Yield a callback that shows each validation: on a terminal as a bar, in a log as a line now and then."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[status]}"), TimeElapsedColumn())
    with progress_bars(*columns) as bars:
        bar = bars.add_task(name, total=None, status="")
        log = TrainingLog(lambda line: bars.console.print(line, markup=False, highlight=False, soft_wrap=True))

        def watch(validation: "Validation") -> None:
            bars.update(bar, total=validation.steps, completed=validation.step, status=validation.status)
            log.update(name, validation.status, quiet=not bars.disable)

        yield watch
