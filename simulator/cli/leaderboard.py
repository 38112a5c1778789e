"""``banditmt leaderboard``: the leaderboard in the terminal, for programs, for papers and as a web page."""

import json
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.withdrawals import Withdrawals
from leaderboard.exports import to_csv, to_latex
from leaderboard.families import RoleKind
from leaderboard.measures import Direction, Estimate
from leaderboard.publication import export_page
from leaderboard.table import Board, Row, RowStatus
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE

SPARKLINE_BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 12  # bars of a curve
HEADINGS = ("#", "system", "participant", "reward", "mean", "95 %", "regret", "gap", "BLEU", "gain", "S", "curve")
ORACLE_HEADINGS, PASS_HEADINGS = ("regret", "gap"), ("BLEU", "gain")  # known where there are oracles, held-out passes
NAME_WIDTH, NARROW_NAME_WIDTH = 32, 12  # characters of a name before it wraps
# Columns that are dropped, in this order, while the table is wider than the terminal with names of this width.
DROPPED_COLUMNS = dict.fromkeys(("participant", "gain", "S", "curve"), NAME_WIDTH)
DROPPED_COLUMNS |= dict.fromkeys(("regret", "95 %", "reward", "BLEU", "gap"), NARROW_NAME_WIDTH)
EXPLANATIONS = {
    "#": "rank; runs with the same letter do not differ significantly from the best of them",
    "95 %": "half the width of the confidence interval of the mean",
    "gap": "share of the gap between baseline and oracle that is closed",
    "BLEU": "corpus BLEU of the last held-out pass",
    "gain": "BLEU of the last held-out pass minus that of the first",
    "S": "percentage of lost reward that is left each time the rounds double; below 100 a system learns",
    "curve": "reward per round",
}
ARROWS = {Direction.HIGHER: "↑", Direction.LOWER: "↓"}


def leaderboard(
    phase: Annotated[str, typer.Option(help="The phase: mock, dev or training.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table, for papers.")] = False,
    figures: Annotated[Path | None, typer.Option(help="Write the figures to this folder, as SVG, PNG and PDF.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the web page with the data of this phase to this folder.")
    ] = None,
) -> None:
    """Show the leaderboard of a phase.

    This is the view of the organiser, which hides nothing.
    """
    if sum((as_json, as_csv, as_latex)) > 1:
        raise typer.BadParameter("--json, --csv and --latex cannot be combined: choose one")
    board = load_board(phase, store)
    if figures is not None:
        _save_figures(board, figures)
    if html is not None:
        export_page(board, html)
        typer.echo(f"{html / 'index.html'} (open it through a web server)", err=True)
        if board.state != "closed":
            typer.echo(
                f"phase {phase} is {board.state}, and the page shows what the organiser sees: "
                "publish it only if everyone may see that",
                err=True,
            )
    if as_json:
        typer.echo(json.dumps(board.as_dict(), ensure_ascii=False))
    elif as_csv:
        typer.echo(to_csv(board), nl=False)
    elif as_latex:
        typer.echo(to_latex(board), nl=False)
    elif figures is None and html is None:
        print_board(board, Console())


def load_board(phase: str, store: str) -> Board:
    """Return the board of a phase, brought up to date with the ledger, and print which runs were withdrawn."""
    opened = open_existing_store(store)
    try:
        record, scoreboard = Registry(opened).require_phase(phase), Scoreboard(opened)
        with Console(stderr=True).status("reading the ledger"):
            scoreboard.catch_up(record)
            board = scoreboard.board(record)
        for decision in Withdrawals(opened).withdrawn(phase).values():
            typer.echo(f"not shown: run {decision.run} was withdrawn ({decision.why})", err=True)
        return board
    finally:
        opened.close()


def _save_figures(board: Board, folder: Path) -> None:
    from leaderboard.figures import save_figures  # altair is slow to import

    written = save_figures(board, folder)
    if not written:
        typer.echo(f"phase {board.phase} has nothing to draw yet", err=True)
    for path in written:
        typer.echo(str(path), err=True)


def print_board(board: Board, console: Console) -> None:
    """Print the table with small curves, and explain its columns."""
    curves = {row.run: _mean_rewards(row, board.checkpoints) for row in board.rows}
    scale = max((value for curve in curves.values() for value in curve), default=0.0)
    rows = [({**_cells(row), "curve": sparkline(curves[row.run], scale)}, _style(row)) for row in board.rows]
    headings = _headings(board)
    unlimited = console.options.update(max_width=sys.maxsize)
    for heading, name_width in DROPPED_COLUMNS.items():
        is_wide = console.measure(_table(headings, rows, name_width), options=unlimited).maximum > console.width
        if is_wide and heading in headings:
            headings.remove(heading)
    console.print(f"phase {board.phase} ({board.state}), {board.total:,} rounds", style="bold", highlight=False)
    if board.rows:
        console.print(_table(headings, rows, NAME_WIDTH))
        for heading in headings:
            if heading in EXPLANATIONS:
                console.print(f"{heading}: {EXPLANATIONS[heading]}", style="dim", highlight=False)
        if board.shows_post_edits:
            _print_measures(board, console)
    else:
        console.print("no rounds have been played yet")
    for name, signature in board.signatures.items():
        console.print(f"{name}: {signature}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _headings(board: Board) -> list[str]:
    """Return the columns of the first table. What a post-edit phase measures stands in a table of its own."""
    if not board.shows_post_edits:
        return list(HEADINGS)
    missing = {*PASS_HEADINGS, "S", *(() if any(row.regret for row in board.rows) else ORACLE_HEADINGS)}
    return [heading for heading in HEADINGS if heading not in missing]


def _print_measures(board: Board, console: Console) -> None:
    """Print a table of measures with half the widths of their intervals, or without where these do not fit."""
    labels = {f"{measure.label} {ARROWS[measure.better]}": measure for measure in board.measures}

    def table(*, intervals: bool) -> Table:
        rows: list[tuple[dict[str, str | Text], str | None]] = []
        for row in board.rows:
            estimates = row.measures
            measured = {label: _measure(estimates[each.name], intervals=intervals) for label, each in labels.items()}
            rows.append(({"system": _system(row), **measured}, _style(row)))
        return _table(["system", *labels], rows, NAME_WIDTH)

    unlimited = console.options.update(max_width=sys.maxsize)
    is_wide = console.measure(table(intervals=True), options=unlimited).maximum > console.width
    console.print()
    console.print(table(intervals=not is_wide))
    console.print("↑ higher is better, ↓ lower is better", style="dim", highlight=False)
    for label, measure in labels.items():
        console.print(f"{label}: {measure.meaning}", style="dim", highlight=False)


def _measure(estimate: Estimate | None, *, intervals: bool) -> str:
    if estimate is None:
        return ""
    half = f" ±{(estimate.interval[1] - estimate.interval[0]) / 2:.1f}" if intervals and estimate.interval else ""
    return f"{estimate.value:.1f}{half}"


def _table(
    headings: Sequence[str], rows: Sequence[tuple[Mapping[str, str | Text], str | None]], name_width: int
) -> Table:
    """Return a table of rows, which are cells and a style; names wrap after ``name_width`` characters."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    for heading in headings:
        if heading in ("system", "participant"):
            table.add_column(heading, max_width=name_width, overflow="fold")
        else:
            table.add_column(heading, justify="left" if heading == "curve" else "right", no_wrap=True)
    for cells, style in rows:
        table.add_row(*(cells[heading] for heading in headings), style=style)
    return table


def _style(row: Row) -> str | None:
    if row.status is not RowStatus.FINISHED:
        return "dim"
    return {RoleKind.ORACLE: "cyan", RoleKind.BASELINE: "yellow"}.get(row.role)


def _cells(row: Row) -> dict[str, str | Text]:
    last = row.passes[-1] if row.passes else None
    rank = str(row.rank) + _group_letter(row.group) if row.rank else "" if row.status is RowStatus.FINISHED else "…"
    half = "" if row.interval is None else f"±{(row.interval[1] - row.interval[0]) / 2:.4f}"
    return {
        "#": rank,
        "system": _system(row),
        "participant": Text(_printable(row.participant + (f" ({row.display_name})" if row.display_name else ""))),
        "reward": f"{row.reward:,.1f}",
        "mean": f"{row.mean_reward:.4f}",
        "95 %": half,
        "regret": "" if row.regret is None else f"{row.regret.value:.4f}",
        "gap": "" if row.gap_closed is None else f"{row.gap_closed:.0%}",
        "BLEU": "" if last is None else f"{last.corpus_bleu:.1f}",
        "gain": "" if last is None else f"{last.relative_corpus_bleu:+.1f}",
        "S": _measure(row.measures["slope"], intervals=False),
    }


def _system(row: Row) -> Text:
    """Return the name of a system, with its role and how far it has come."""
    marks = [row.role.value] if row.role is not RoleKind.CONTESTANT else []
    if row.status is not RowStatus.FINISHED:
        marks.append(f"{row.status.value} at {row.progress:.0%}")
    return Text(_printable(row.system) + (f" ({', '.join(marks)})" if marks else ""))


def _group_letter(group: int | None) -> str:
    """Return the letter of a group, or nothing after the 26th."""
    return chr(ord("a") + group - 1) if group is not None and group <= 26 else ""


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


def _mean_rewards(row: Row, checkpoints: Sequence[int]) -> list[float]:
    """Return the reward per round in equal sections of the run."""
    known = checkpoints[: len(row.curve)]
    ends, means = [round(row.rounds * (part + 1) / CURVE_WIDTH) for part in range(CURVE_WIDTH)], []
    start, reward_before = 0, 0.0
    for end in ends:
        index = bisect_right(known, end) - 1
        if index >= 0 and known[index] > start:
            means.append((row.curve[index] - reward_before) / (known[index] - start))
            start, reward_before = known[index], row.curve[index]
    return means


def sparkline(values: Sequence[float], scale: float) -> str:
    """Return values between 0 and ``scale`` as a string of small bars."""
    top = len(SPARKLINE_BARS) - 1
    return "".join(
        SPARKLINE_BARS[min(top, round(top * value / scale))] if scale > 0 else SPARKLINE_BARS[0] for value in values
    )
