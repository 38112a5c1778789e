"""``banditmt leaderboard``: the leaderboard in the terminal, for programs, for papers and as a web page."""

import json
import sys
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.withdrawals import Withdrawals
from leaderboard.exports import to_csv, to_latex
from leaderboard.families import RoleKind
from leaderboard.last_quarter import MARK
from leaderboard.measures import Direction, Estimate
from leaderboard.publication import export_page
from leaderboard.rows import Board, Row, RowStatus
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.tasks import DEFAULT_STORE

SPARKLINE_BARS = "▁▂▃▄▅▆▇█"
CURVE_WIDTH = 12  # bars of a curve
HEADINGS = (
    *("#", "system", "participant", "reward", "mean", "95 %", "s.d.", "gain", "regret", "gap", "full"),
    *("BLEU", "late BLEU", "length", "late length", "1 word", "held-out", "held-out gain", "consistency", "S", "curve"),
)
ORACLE_HEADINGS, PASS_HEADINGS = ("regret", "gap"), ("held-out", "held-out gain")  # where there are any
MEASURED_HEADINGS = (
    "BLEU",
    "held-out",
    "held-out gain",
    "consistency",
    "S",
)  # which a post-edit phase has in a table of its own, or not at all
NAME_WIDTH, NARROW_NAME_WIDTH = 32, 12  # characters of a name before it wraps
# Columns that are dropped, in this order, while the table is wider than the terminal with names of this width.
DROPPED_COLUMNS = dict.fromkeys(
    ("participant", "held-out gain", "S", "curve", "held-out", "regret", "1 word"), NAME_WIDTH
)
DROPPED_COLUMNS |= dict.fromkeys(
    ("consistency", "late length", "gain", "s.d.", "95 %", "reward", "full", "length", "gap", "late BLEU", "BLEU"),
    NARROW_NAME_WIDTH,
)
EXPLANATIONS = {
    "#": "rank; runs with the same letter do not differ significantly from the best of them",
    "95 %": "half the width of the confidence interval of the mean, over sentences",
    "s.d.": "standard deviation of the mean between seeds; 95 % of such a row covers sentences and seeds",
    "gain": "mean reward minus that of the baseline",
    "gap": "share of the gap between baseline and oracle that is closed",
    "full": "gain as a share of what the full-information run gained",
    "BLEU": "corpus BLEU of all rounds",
    "late BLEU": "corpus BLEU in the last quarter of the rounds; empty until a run gets there",
    "length": "proposed words per reference word",
    "late length": "the same in the last quarter of the rounds",
    "1 word": "share of references of two or more words that were answered with one",
    "held-out": "corpus BLEU of the last held-out pass",
    "held-out gain": "the same minus that of the first held-out pass",
    "consistency": "mean accuracy on the contrastive test sets of the task",
    "S": "percentage of lost reward that is left each time the rounds double; below 100 a system learns",
    "curve": "reward per round",
}
ROLE_STYLES = {RoleKind.ORACLE: "cyan", RoleKind.BASELINE: "yellow"}
ARROWS = {Direction.HIGHER: "↑", Direction.LOWER: "↓"}


def leaderboard(
    phase: Annotated[str, typer.Option(help="The phase: mock, dev or training.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")] = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table, for papers.")] = False,
    each_seed: Annotated[
        bool, typer.Option("--each-seed", help="Also list the seeds of a system, below their mean.")
    ] = False,
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
        export_page(board, html, _task_info(store))
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
        typer.echo(to_csv(board, each_seed=each_seed), nl=False)
    elif as_latex:
        typer.echo(to_latex(board, each_seed=each_seed), nl=False)
    elif figures is None and html is None:
        print_board(board, Console(), each_seed=each_seed)


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


def _task_info(store: str) -> dict[str, Any]:
    """Return what the task says about itself, for the header of the page."""
    opened = open_existing_store(store)
    try:
        return Service(opened).task().as_dict()
    finally:
        opened.close()


def _save_figures(board: Board, folder: Path) -> None:
    from leaderboard.figures import save_figures  # altair is slow to import

    written = save_figures(board, folder)
    if not written:
        typer.echo(f"phase {board.phase} has nothing to draw yet", err=True)
    for path in written:
        typer.echo(str(path), err=True)


def print_board(board: Board, console: Console, *, each_seed: bool = False) -> None:
    """Print the table with small curves, and explain its columns."""
    shown = board.unfolded() if each_seed else board.rows
    curves = {row.run: _mean_rewards(row, board.checkpoints) for row in shown}
    scale = max((value for curve in curves.values() for value in curve), default=0.0)
    seeds = {seed.run for row in board.rows for seed in row.seeds}
    rows = [
        ({**_cells(row), "curve": sparkline(curves[row.run], scale)}, "dim" if row.run in seeds else _style(row))
        for row in shown
    ]
    headings = _headings(board)
    all_headings = list(headings)
    unlimited = console.options.update(max_width=sys.maxsize)
    for heading, name_width in DROPPED_COLUMNS.items():
        is_wide = console.measure(_table(headings, rows, name_width), options=unlimited).maximum > console.width
        if is_wide and heading in headings:
            headings.remove(heading)
    console.print(f"phase {board.phase} ({board.state}), {board.total:,} rounds", style="bold", highlight=False)
    if board.rows:
        console.print(_table(headings, rows, NAME_WIDTH))
        _print_marked(board, console)
        for heading in headings:
            if heading in EXPLANATIONS:
                console.print(f"{heading}: {EXPLANATIONS[heading]}", style="dim", highlight=False)
        dropped = [heading for heading in all_headings if heading not in headings]
        if board.has_seeds and not each_seed:
            console.print("--each-seed lists the seeds of a system below their mean", style="dim", highlight=False)
        if dropped:
            note = f"not shown, because the terminal is narrow: {', '.join(dropped)}"
            console.print(note, style="dim", highlight=False)
        if board.shows_post_edits:
            _print_measures(board, console)
    else:
        console.print("no rounds have been played yet")
    for name, signature in board.signatures.items():
        console.print(f"{name}: {signature}", style="dim", highlight=False, markup=False, soft_wrap=True)


def _headings(board: Board) -> list[str]:
    """Return the columns of the first table: those of which any run may have a value."""
    missing = set(MEASURED_HEADINGS if board.shows_post_edits else ())
    if not any(row.regret for row in board.rows):
        missing.update(ORACLE_HEADINGS)
    if not board.held_out.passes:
        missing.update(PASS_HEADINGS)
    if not any(row.reward_gain for row in board.rows):
        missing.add("gain")
    if not any(measure.name == "consistency" for measure in board.measures):
        missing.add("consistency")
    if not board.has_seeds:
        missing.add("s.d.")
    if not any(row.role is RoleKind.FULL_INFORMATION for row in board.rows):
        missing.add("full")
    return [heading for heading in HEADINGS if heading not in missing]


def _print_marked(board: Board, console: Console) -> None:
    """Print a sentence about every run that earned more with lower corpus BLEU."""
    systems = {row.run: row.system for row in board.rows}
    for row in board.rows:
        difference = row.last_quarter.difference if row.last_quarter else None
        if difference is None or difference.interval is None or not difference.reward_up_bleu_down:
            continue
        low, high = difference.interval
        console.print(
            f"! {MARK}: in the last quarter, {_printable(row.system)} earned {difference.reward:+.4f} per round "
            f"compared with {_printable(systems[difference.baseline])}, but {difference.corpus_bleu:+.1f} BLEU "
            f"({low:+.1f} to {high:+.1f})",
            style="bold",
            highlight=False,
            markup=False,
        )


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
    note = "; intervals are not shown, because the terminal is narrow" if is_wide else ""
    console.print(f"↑ higher is better, ↓ lower is better{note}", style="dim", highlight=False)
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
    return None if row.role is RoleKind.CONTESTANT else ROLE_STYLES.get(row.role, "blue")


def _cells(row: Row) -> dict[str, str | Text]:
    last, late = row.passes[-1] if row.passes else None, row.last_quarter
    rank = str(row.rank) + _group_letter(row.group) if row.rank else "" if row.status is RowStatus.FINISHED else "…"
    half = "" if row.interval is None else f"±{(row.interval[1] - row.interval[0]) / 2:.4f}"
    return {
        "#": rank,
        "system": _system(row),
        "participant": Text(_printable(row.participant + (f" ({row.display_name})" if row.display_name else ""))),
        "reward": f"{row.reward:,.1f}",
        "mean": f"{row.mean_reward:.4f}",
        "95 %": half,
        "s.d.": "" if row.seed_deviation is None else f"{row.seed_deviation:.4f}",
        "regret": "" if row.regret is None else f"{row.regret.value:.4f}",
        "gain": "" if row.reward_gain is None else f"{row.reward_gain.value:+z.4f}",
        "gap": _share(row.gap_closed),
        "full": _share(row.full_information_share),
        "BLEU": _measure(row.measures["bleu"], intervals=False),
        "late BLEU": "" if late is None else f"{'! ' if row.is_marked else ''}{late.corpus_bleu:.1f}",
        "length": _ratio(row.length_ratio),
        "late length": _ratio(late.length_ratio if late else None),
        "1 word": _share(row.single_words),
        "held-out": "" if last is None else f"{last.corpus_bleu:.1f}",
        "held-out gain": "" if last is None else f"{last.relative_corpus_bleu:+z.1f}",
        "consistency": _measure(row.measures.get("consistency"), intervals=False),
        "S": _measure(row.measures["slope"], intervals=False),
    }


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:z.1%}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _system(row: Row) -> Text:
    """Return the name of a system, with its role and how far it has come."""
    marks = [row.role.value] if row.role is not RoleKind.CONTESTANT else []
    if row.seeds:
        marks.append(f"{len(row.seeds)} seeds")
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
