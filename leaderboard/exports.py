"""The leaderboard as CSV for spreadsheets and as a LaTeX table for papers."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from leaderboard.families import RoleKind
from leaderboard.table import Board, Row, RowStatus

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet evaluates cells that begin like this
_LAST_PASS_COLUMNS = ("corpus_bleu", "sentence_bleu", "relative_corpus_bleu", "relative_sentence_bleu")


def escape_formula(text: str | None) -> str:
    """Return a text that a spreadsheet does not take for a formula; nothing for None."""
    return "'" + text if text and text.startswith(_FORMULA_PREFIXES) else text or ""


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return text.translate(_LATEX)


def _from_last_pass(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row.passes[-1], name) if row.passes else None


COLUMNS: dict[str, Callable[[Row], Any]] = {
    "rank": lambda row: row.rank,
    "group": lambda row: row.group,
    "system": lambda row: escape_formula(row.system),
    "participant": lambda row: escape_formula(row.participant),
    "run": lambda row: row.run,
    "attempt": lambda row: row.attempt,
    "status": lambda row: row.status,
    "role": lambda row: row.role,
    "family": lambda row: escape_formula(row.family),
    "rounds": lambda row: row.rounds,
    "progress": lambda row: row.progress,
    "reward": lambda row: row.reward,
    "mean_reward": lambda row: row.mean_reward,
    "interval_low": lambda row: row.interval and row.interval[0],
    "interval_high": lambda row: row.interval and row.interval[1],
    "regret": lambda row: row.regret and row.regret.value,
    "regret_low": lambda row: row.regret and row.regret.interval and row.regret.interval[0],
    "regret_high": lambda row: row.regret and row.regret.interval and row.regret.interval[1],
    "regret_oracle": lambda row: row.regret and row.regret.oracle,
    "gap_closed": lambda row: row.gap_closed,
    **{name: _from_last_pass(name) for name in _LAST_PASS_COLUMNS},
    "length_ratio": lambda row: row.length_ratio,
    "speed": lambda row: row.speed,
    "opened_at": lambda row: row.opened_at,
    "first_at": lambda row: row.first_at,
    "last_at": lambda row: row.last_at,
    "display_name": lambda row: escape_formula(row.display_name),
    "affiliation": lambda row: escape_formula(row.affiliation),
    "team_url": lambda row: row.team_url,
    "system_description": lambda row: escape_formula(row.system_description),
    "system_link": lambda row: row.system_link,
}


def to_csv(board: Board) -> str:
    """Return all rows with a header, without curves, and with only the last held-out pass."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([value(row) for value in COLUMNS.values()] for row in board.rows)
    return text.getvalue()


def to_latex(board: Board) -> str:
    """Return a table like Table 3 of Sokolov et al. 2017: oracles and baselines first, then contestants by rank."""
    finished = [row for row in board.rows if row.status is RowStatus.FINISHED]
    pinned = [row for row in finished if row.role is not RoleKind.CONTESTANT]
    others = [row for row in finished if row.role is RoleKind.CONTESTANT]
    sections = [_latex_rows(rows) for rows in (pinned, others) if rows]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *(f"% {name}: {signature}" for name, signature in board.signatures.items()),
            r"\begin{tabular}{rlrrrrrr}",
            r"\toprule",
            r" & system & cumulative reward & mean & 95\,\% interval & regret & gap closed & corpus BLEU \\",
            r"\midrule",
            *"\n\\midrule\n".join(sections).splitlines(),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _latex_rows(rows: Sequence[Row]) -> str:
    return "\n".join(" & ".join(_latex_cells(row)) + r" \\" for row in rows)


def _latex_cells(row: Row) -> list[str]:
    return [
        str(row.rank or ""),
        escape_latex(row.system),
        f"{row.reward:,.1f}",
        f"{row.mean_reward:.4f}",
        "--" if row.interval is None else f"[{row.interval[0]:.4f}, {row.interval[1]:.4f}]",
        "--" if row.regret is None else f"{row.regret.value:.4f}",
        "--" if row.gap_closed is None else f"{100 * row.gap_closed:.1f}\\,\\%",
        f"{row.passes[-1].corpus_bleu:.1f}" if row.passes else "--",
    ]
