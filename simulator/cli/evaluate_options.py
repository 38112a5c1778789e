"""The options that the commands of ``banditmt evaluate`` share: where texts come from, and how results are printed."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from corpora.line_files import read_lines
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.evaluation import EvaluatedTexts, TextError, read_named_files, read_runs, read_table
from simulator.tasks import DEFAULT_STORE

if TYPE_CHECKING:  # numpy and altair take a moment to load, and only these commands need them
    from leaderboard.evaluation.figures import Figure
    from leaderboard.evaluation.reports import Report

References = Annotated[Path | None, typer.Option(help="File of references.", show_default=False)]


@dataclass(frozen=True, slots=True)
class TableOrRuns:
    """Texts that come from somewhere else than from files of lines."""

    tsv: Annotated[
        Path | None,
        typer.Option(
            "--tsv", help="TSV file whose first line names the columns: reference, source, document, and the systems."
        ),
    ] = None
    runs: Annotated[
        list[str] | None, typer.Option("--run", help="The id of a run in the store; repeat it for several runs.")
    ] = None
    store: StoreOption = DEFAULT_STORE

    def refuse_other_inputs(self, *, files: bool, options: str) -> None:
        """Raise BadParameter unless texts come from exactly one place.

        Args:
            files: Whether the command got files of lines.
            options: The options that name these files.
        """
        if [files, self.tsv is not None, bool(self.runs)].count(True) != 1:
            raise typer.BadParameter(f"give {options}, or --tsv, or --run")

    def read_runs(self) -> EvaluatedTexts:
        """Read all runs, which must be of one phase."""
        with closing(open_existing_store(self.store)) as store:
            return read_runs(store, self.runs or [])

    def read_phases(self) -> dict[str, EvaluatedTexts]:
        """Read runs of different phases, by phase."""
        texts: dict[str, EvaluatedTexts] = {}
        with closing(open_existing_store(self.store)) as store:
            for run in self.runs or []:
                mine = read_runs(store, [run])
                phase = mine.phase or ""
                if phase in texts:
                    raise TextError(f"two of these runs are of phase {phase}: they have the same sources")
                texts[phase] = mine
        return texts


@dataclass(frozen=True, slots=True)
class HypothesisFiles:
    """Files of hypotheses and references."""

    references: References = None
    hypotheses: Annotated[
        list[str] | None,
        typer.Option(
            help="File of hypotheses, or NAME=FILE. Repeat it for several systems; the first is the baseline."
        ),
    ] = None


def read_hypotheses(files: HypothesisFiles, others: TableOrRuns) -> EvaluatedTexts:
    """Read the systems and references from wherever the options say; raise BadParameter if they name several places."""
    others.refuse_other_inputs(
        files=bool(files.references or files.hypotheses), options="--references and --hypotheses"
    )
    if others.runs:
        return others.read_runs()
    if others.tsv:
        texts = read_table(others.tsv)
        if not texts.systems:
            raise TextError(
                f"{others.tsv}: no column but reference, source and document: there is no system to evaluate"
            )
        return texts
    if not files.references or not files.hypotheses:
        raise typer.BadParameter("--references and --hypotheses go together")
    return EvaluatedTexts(read_named_files(files.hypotheses), list(read_lines(files.references)))


@dataclass(frozen=True, slots=True)
class Output:
    """How the results are printed, and the figure that is drawn. Options that cannot be met are refused at once."""

    as_json: JsonOption = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False
    as_latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")] = False
    figure: Annotated[Path | None, typer.Option(help="Write a figure to this file: .svg, .png or .pdf.")] = None

    def __post_init__(self) -> None:
        if [self.as_json, self.as_csv, self.as_latex].count(True) > 1:
            raise typer.BadParameter("--json, --csv and --latex exclude each other")
        if self.figure:
            _check_figure(self.figure)

    def write(self, report: "Report", draw: "Callable[[], Figure]") -> None:
        """Draw the figure if it was asked for, and print the report."""
        if self.figure:
            from leaderboard.evaluation.figures import save_figure

            save_figure(draw(), self.figure)
        if self.as_json:
            typer.echo(json.dumps(report.as_dict(), ensure_ascii=False, indent=2))
        elif self.as_csv:
            typer.echo(report.to_csv(), nl=False)
            for note in report.notes:  # CSV has no place for them
                typer.echo(note, err=True)
        elif self.as_latex:
            typer.echo(report.to_latex(), nl=False)
        else:
            _print_table(report)


def _check_figure(path: Path) -> None:
    """Raise BadParameter for a figure that cannot be written: better now than after minutes of counting."""
    from leaderboard.evaluation.figures import FORMATS

    if path.suffix not in FORMATS:
        raise typer.BadParameter(f"--figure ends with {', '.join(FORMATS)}, but got {path.name}")
    if path.is_dir():
        raise typer.BadParameter(f"--figure {path} is a folder: give the name of a file in it")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"--figure {path}: there is no folder {path.parent}")


def _print_table(report: "Report") -> None:
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column(report.heading, overflow="fold")
    for column in report.columns:
        table.add_column(column + (" (lower is better)" if column in report.lower_is_better else ""), justify="right")
    for name, cells in report.rows:
        table.add_row(name, *(cell.text().replace(" (", "\n(") for cell in cells))
    console = Console()
    console.print(table)
    lines = [*report.notes, *dict.fromkeys(report.signatures.values())]
    if any(cell.interval or cell.difference for _, cells in report.rows for cell in cells):
        lines.insert(0, "[low, high]: 95 % interval; (...): difference from the first row")
    for line in lines:
        console.print(line, style="dim", highlight=False, markup=False, soft_wrap=True)
