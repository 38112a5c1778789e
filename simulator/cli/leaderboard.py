"""``banditmt leaderboard``: who leads, in the terminal, for programs, and for papers."""

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
from leaderboard.exports import to_csv, to_latex
from leaderboard.families import RoleKind
from leaderboard.publication import export_page
from leaderboard.table import Board, Row, RowStatus
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE

BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 12
HEADINGS = ("#", "system", "participant", "reward", "mean", "95 %", "regret", "gap", "BLEU", "gain", "curve")
LONG, SHORT = 32, 12  # characters of a name before it is broken
# What is spared in this order, where a terminal has no room for all beside names of so many characters.
SPARED = dict.fromkeys(("participant", "gain", "curve"), LONG)
SPARED |= dict.fromkeys(("regret", "95 %", "reward", "BLEU", "gap"), SHORT)
MEANINGS = {
    "#": "runs with the same letter do not differ significantly from the best of them",
    "95 %": "the mean's interval is so much below and above it",
    "gap": "share of the way from baseline to oracle",
    "BLEU": "of the last held-out pass",
    "gain": "how much BLEU is above that of the first pass",
    "curve": "reward per round",
}


def leaderboard(
    phase: Annotated[str, typer.Option(help="Which phase: mock, dev or training.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV for a spreadsheet.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table for a paper.")] = False,
    figures: Annotated[Path | None, typer.Option(help="Draw the figures into this folder: SVG, PNG and PDF.")] = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the page with this phase's data into this folder, for any web server.")
    ] = None,
) -> None:
    """Who leads: all runs of a phase, as the organiser sees them."""
    if sum((as_json, as_csv, as_latex)) > 1:
        raise typer.BadParameter("--json, --csv and --latex exclude each other")
    board = judged_board(phase, store)
    if figures is not None:
        _draw(board, figures)
    if html is not None:
        export_page(board, html)
        typer.echo(f"{html / 'index.html'} (to be opened through a web server)", err=True)
        if board.state != "closed":
            typer.echo(
                f"phase {phase} is {board.state}: publish this only if all may see what the organiser sees", err=True
            )
    if as_json:
        typer.echo(json.dumps(board.as_dict(), ensure_ascii=False))
    elif as_csv:
        typer.echo(to_csv(board), nl=False)
    elif as_latex:
        typer.echo(to_latex(board), nl=False)
    elif figures is None and html is None:
        print_board(board, Console())


def judged_board(phase: str, store: str) -> Board:
    """The board of a phase, up to date with the ledger."""
    opened = open_existing_store(store)
    try:
        record, scoreboard = Registry(opened).require_phase(phase), Scoreboard(opened)
        with Console(stderr=True).status("reading the ledger"):
            scoreboard.catch_up(record)
            return scoreboard.board(record)
    finally:
        opened.close()


def _draw(board: Board, folder: Path) -> None:
    from leaderboard.figures import save_figures  # the drawing library takes a moment to load

    written = save_figures(board, folder)
    if not written:
        typer.echo(f"there is nothing to draw in phase {board.phase} yet", err=True)
    for path in written:
        typer.echo(str(path), err=True)


def print_board(board: Board, console: Console) -> None:
    """The table with small curves, and what its numbers mean."""
    paces = {row.run: _pace(row, board.checkpoints) for row in board.rows}
    scale = max((value for pace in paces.values() for value in pace), default=0.0)
    rows = [({**_cells(row), "curve": sparkline(paces[row.run], scale)}, _style(row)) for row in board.rows]
    headings = list(HEADINGS)
    anywhere = console.options.update(max_width=sys.maxsize)
    for spared, longest in SPARED.items():
        if console.measure(_table(headings, rows, longest), options=anywhere).maximum > console.width:
            headings.remove(spared)
    console.print(f"phase {board.phase} ({board.state}), {board.total:,} rounds", style="bold", highlight=False)
    if board.rows:
        console.print(_table(headings, rows, LONG))
        for heading in headings:
            if heading in MEANINGS:
                console.print(f"{heading}: {MEANINGS[heading]}", style="dim", highlight=False)
    else:
        console.print("nobody has played a round yet")
    for name, signature in board.signatures.items():
        console.print(f"{name}: {signature}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _table(headings: Sequence[str], rows: Sequence[tuple[Mapping[str, str | Text], str | None]], longest: int) -> Table:
    """Rows of cells and styles; names are broken after so many characters."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    for heading in headings:
        if heading in ("system", "participant"):
            table.add_column(heading, max_width=longest, overflow="fold")
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
    place = str(row.rank) + _letter(row.group) if row.rank else "" if row.status is RowStatus.FINISHED else "…"
    marks = [row.role.value] if row.role is not RoleKind.CONTESTANT else []
    if row.status is not RowStatus.FINISHED:
        marks.append(f"{row.status.value} at {row.progress:.0%}")
    system = _printable(row.system) + (f" ({', '.join(marks)})" if marks else "")
    half = "" if row.interval is None else f"±{(row.interval[1] - row.interval[0]) / 2:.4f}"
    return {
        "#": place,
        "system": Text(system),
        "participant": Text(_printable(row.participant)),
        "reward": f"{row.reward:,.1f}",
        "mean": f"{row.mean_reward:.4f}",
        "95 %": half,
        "regret": "" if row.regret is None else f"{row.regret.value:.4f}",
        "gap": "" if row.gap_closed is None else f"{row.gap_closed:.0%}",
        "BLEU": "" if last is None else f"{last.corpus_bleu:.1f}",
        "gain": "" if last is None else f"{last.relative_corpus_bleu:+.1f}",
    }


def _letter(group: int | None) -> str:
    """A name for a group, as long as there are letters."""
    return chr(ord("a") + group - 1) if group is not None and group <= 26 else ""


def _printable(name: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


def _pace(row: Row, checkpoints: Sequence[int]) -> list[float]:
    """Reward per round in equal stretches of the run."""
    known = checkpoints[: len(row.curve)]
    ends, paces = [round(row.rounds * (part + 1) / CURVE_WIDTH) for part in range(CURVE_WIDTH)], []
    begun, before = 0, 0.0
    for end in ends:
        place = bisect_right(known, end) - 1
        if place >= 0 and known[place] > begun:
            paces.append((row.curve[place] - before) / (known[place] - begun))
            begun, before = known[place], row.curve[place]
    return paces


def sparkline(values: Sequence[float], scale: float) -> str:
    """Values between 0 and ``scale`` as small bars."""
    top = len(BARS) - 1
    return "".join(BARS[min(top, round(top * value / scale))] if scale > 0 else BARS[0] for value in values)
