"""``banditmt evaluate contrastive``: accuracy on test sets of consistency."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simulator.cli.evaluate_options import Output
from simulator.cli.option_groups import expand_option_groups
from simulator.evaluation import TextError, split_name

if TYPE_CHECKING:  # numpy takes a moment to load, and only these commands need it
    from leaderboard.evaluation.contrastive import ContrastiveSet


Sets = Annotated[
    list[Path],
    typer.Option("--set", help="Test set (.json or .jsonl), or a folder of them. Repeat it for several sets."),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(help="File with a loss for each candidate, or NAME=FILE. Repeat it for several systems."),
]
Programs = Annotated[
    list[str] | None,
    typer.Option(
        "--program",
        help="Program that reads source TAB target on each line and writes a loss for each, or NAME=PROGRAM.",
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option("--model", help="Model that banditmt pretrain wrote (MODELS/NAME.model), or NAME=FILE."),
]
HigherIsBetter = Annotated[
    bool, typer.Option("--higher-is-better", help="The scores are log-probabilities, not losses.")
]


@expand_option_groups
def contrastive(
    *,
    sets: Sets,
    scores: Scores = None,
    programs: Programs = None,
    models: Models = None,
    higher_is_better: HigherIsBetter = False,
    lines: Annotated[
        Path | None,
        typer.Option(
            help="Write the candidates to PREFIX.src and PREFIX.dst for another toolkit, and stop.", metavar="PREFIX"
        ),
    ] = None,
    output: Output,
) -> None:
    """Measure whether systems prefer translations that agree with their context.

    Prints the percentage of groups in which the true candidate has the lowest loss of all. One set is reported in total
    and by the distance of the sentence that decides, several sets in total.
    """
    from leaderboard.evaluation.contrastive import contrastive_report
    from leaderboard.evaluation.figures import contrastive_figure
    from simulator.contrastive_sets import read_sets, write_lines

    found = read_sets(sets)
    if lines:
        if scores or programs or models:
            raise typer.BadParameter("--lines writes what is to be scored: give it without scores, programs and models")
        source, target = write_lines(found, lines)
        typer.echo(f"wrote {sum(each.candidates for each in found):,} lines to {source} and to {target}")
        return
    losses = losses_of_systems(found, scores, programs, models, higher_is_better=higher_is_better)
    if not losses:
        raise typer.BadParameter("give --scores, --program or --model, or --lines to write what is to be scored")
    report = contrastive_report(found, losses)
    output.write(report, lambda: contrastive_figure(report))


def losses_of_systems(
    sets: "list[ContrastiveSet]",
    scores: list[str] | None,
    programs: list[str] | None,
    models: list[str] | None,
    *,
    higher_is_better: bool,
) -> dict[str, list[list[float]]]:
    """Return the losses of all systems that the options name, by system and by set."""
    losses = _losses(sets, scores or [], programs or [], sign=-1 if higher_is_better else 1)
    return losses | _model_losses(sets, models or [], losses)


def _losses(
    sets: "list[ContrastiveSet]", scores: list[str], programs: list[str], *, sign: int
) -> dict[str, list[list[float]]]:
    """Return the losses of each system on each set."""
    from simulator.contrastive_sets import read_scores, score_with_program

    losses: dict[str, list[list[float]]] = {}
    systems: list[tuple[str, Path | str]] = [split_name(argument) for argument in scores]
    for name, where in [*systems, *map(_split_program, programs)]:
        if name in losses:
            raise TextError(f"two systems are called {name}; give them names: NAME=...")
        found = read_scores(where, sets) if isinstance(where, Path) else score_with_program(where, sets)
        losses[name] = [[sign * score for score in part] for part in found]
    return losses


def _model_losses(
    sets: "list[ContrastiveSet]", models: list[str], others: Collection[str]
) -> dict[str, list[list[float]]]:
    """Return the losses of models of ours on each set."""
    if not models:
        return {}
    from learners.context.model_files import read_translator  # torch takes seconds to load

    losses: dict[str, list[list[float]]] = {}
    for name, path in map(split_name, models):
        if name in losses or name in others:
            raise TextError(f"two systems are called {name}; give them names: NAME=...")
        translator = read_translator(path)
        losses[name] = [translator.group_losses(each.groups) for each in sets]
    return losses


def _split_program(argument: str) -> tuple[str, str]:
    """Return the name and the command of NAME=COMMAND; without a name, it is that of the program."""
    name, separator, command = argument.partition("=")
    if separator and name and not any(character in name for character in "/ "):
        return name, command
    return Path(argument.split(maxsplit=1)[0]).name if argument.strip() else argument, argument
