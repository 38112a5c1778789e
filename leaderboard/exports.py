"""The leaderboard as CSV for spreadsheets and as a LaTeX table for papers."""

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any

from leaderboard.families import RoleKind
from leaderboard.last_quarter import MARK_MEANING
from leaderboard.measures import Estimate
from leaderboard.rows import Board, Row, RowStatus

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


_LATEX_MARK = r"$^\dagger$"  # of a run that earned more with lower corpus BLEU
_LATEX_COVERAGE = (
    "% s.d.: standard deviation of the mean between seeds; intervals of systems with several seeds cover sentences and "
    "seeds, all others sentences only"
)
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet evaluates cells that begin like this
_LAST_QUARTER_COLUMNS = ("rounds", "mean_reward", "corpus_bleu", "length_ratio", "single_words")
_LAST_PASS_COLUMNS = ("corpus_bleu", "sentence_bleu", "relative_corpus_bleu", "relative_sentence_bleu")


def escape_formula(text: str | None) -> str:
    """Return a text that a spreadsheet does not take for a formula; nothing for None."""
    return "'" + text if text and text.startswith(_FORMULA_PREFIXES) else text or ""


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is."""
    return text.translate(_LATEX)


def _from_last_pass(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row.passes[-1], name) if row.passes else None


def _from_last_quarter(name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(row.last_quarter, name) if row.last_quarter else None


def _from_late_difference(name: str) -> Callable[[Row], Any]:
    def value(row: Row) -> Any:
        difference = row.last_quarter and row.last_quarter.difference
        return getattr(difference, name) if difference else None

    return value


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
    "baseline": lambda row: row.baseline,
    "reward_gain": lambda row: row.reward_gain and row.reward_gain.value,
    "reward_gain_low": lambda row: row.reward_gain and row.reward_gain.interval and row.reward_gain.interval[0],
    "reward_gain_high": lambda row: row.reward_gain and row.reward_gain.interval and row.reward_gain.interval[1],
    "full_information_share": lambda row: row.full_information_share,
    "single_words": lambda row: row.single_words,
    **{f"late_{name}": _from_last_quarter(name) for name in _LAST_QUARTER_COLUMNS},
    "late_reward_gain": _from_late_difference("reward"),
    "late_bleu_gain": _from_late_difference("corpus_bleu"),
    "reward_up_bleu_down": _from_late_difference("reward_up_bleu_down"),
    "seeds": lambda row: len(row.seeds) or 1,
    "seed_deviation": lambda row: row.seed_deviation,
    "interval_covers": lambda row: row.interval_covers,
    "regret_covers": lambda row: row.regret and row.regret.covers,
    "reward_gain_covers": lambda row: row.reward_gain and row.reward_gain.covers,
    "head": lambda row: row.head,
}


def to_csv(board: Board, *, each_seed: bool = False) -> str:
    """Return all rows with a header, without curves, and with only the last held-out pass.

    With ``each_seed``, the seeds of a system follow their mean.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [measure.name for measure in board.measures]
    writer.writerow([*COLUMNS, *(name + suffix for name in names for suffix in ("", "_low", "_high"))])
    for row in board.unfolded() if each_seed else board.rows:
        measured = [value for name in names for value in _measured(row.measures[name])]
        writer.writerow([*(value(row) for value in COLUMNS.values()), *measured])
    return text.getvalue()


def _measured(estimate: Estimate | None) -> tuple[float | None, float | None, float | None]:
    """Return the value of a measure and the ends of its interval, as far as they are known."""
    if estimate is None:
        return None, None, None
    return (estimate.value, *(estimate.interval or (None, None)))


def to_latex(board: Board, *, each_seed: bool = False) -> str:
    """Return a table like Table 3 of Sokolov et al. 2017: oracles and baselines first, then contestants by rank.

    With ``each_seed``, the seeds of a system follow their mean.
    """
    rows = board.unfolded() if each_seed else board.rows
    finished = [row for row in rows if row.status is RowStatus.FINISHED]
    pinned = [row for row in finished if row.role is not RoleKind.CONTESTANT]
    others = [row for row in finished if row.role is RoleKind.CONTESTANT]
    columns = _latex_columns(board)
    sections = [_latex_rows(rows, list(columns.values())) for rows in (pinned, others) if rows]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *(f"% {name}: {signature}" for name, signature in board.signatures.items()),
            *([_LATEX_COVERAGE] if board.has_seeds else []),
            *([f"% {_LATEX_MARK}: {MARK_MEANING}"] if any(row.is_marked for row in finished) else []),
            r"\begin{tabular}{rl" + "r" * (len(columns) - 2) + "}",
            r"\toprule",
            " & ".join(columns) + r" \\",
            r"\midrule",
            *"\n\\midrule\n".join(sections).splitlines(),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


LatexColumns = dict[str, Callable[[Row], str]]  # by heading


def _latex_columns(board: Board) -> LatexColumns:
    """Return the columns of a table: those of Sokolov et al. 2017, and the measures of the phase."""
    columns: LatexColumns = {
        "": lambda row: str(row.rank or ""),
        "system": lambda row: escape_latex(row.system),
        "cumulative reward": lambda row: f"{row.reward:,.1f}",
        "mean": lambda row: f"{row.mean_reward:.4f}",
        r"95\,\% interval": lambda row: (
            "--" if row.interval is None else f"[{row.interval[0]:.4f}, {row.interval[1]:.4f}]"
        ),
    }
    seeds: LatexColumns = {
        "seeds": lambda row: str(len(row.seeds) or 1),
        "s.d.": lambda row: "--" if row.seed_deviation is None else f"{row.seed_deviation:.4f}",
    }
    oracles: LatexColumns = {
        "regret": lambda row: "--" if row.regret is None else f"{row.regret.value:.4f}",
        "gap closed": lambda row: _latex_share(row.gap_closed),
    }
    baselines: LatexColumns = {
        "gain": lambda row: "--" if row.reward_gain is None else f"{row.reward_gain.value:+z.4f}",
    }
    full_information: LatexColumns = {
        "of full information": lambda row: _latex_share(row.full_information_share),
    }
    passes: LatexColumns = {
        "held-out BLEU": lambda row: f"{row.passes[-1].corpus_bleu:.1f}" if row.passes else "--",
    }
    measures = {escape_latex(each.label): _latex_measure(each.name) for each in board.measures}
    late: LatexColumns = {
        "late BLEU": lambda row: (
            "--"
            if row.last_quarter is None
            else f"{row.last_quarter.corpus_bleu:.1f}" + (_LATEX_MARK if row.is_marked else "")
        ),
        "length": lambda row: _latex_ratio(row.length_ratio),
        "late length": lambda row: _latex_ratio(row.last_quarter.length_ratio if row.last_quarter else None),
        "one word": lambda row: _latex_share(row.single_words),
    }
    is_bandit = not board.shows_post_edits
    return {
        **columns,
        **(seeds if board.has_seeds else {}),
        **(baselines if any(row.reward_gain for row in board.rows) else {}),
        **(oracles if is_bandit or any(row.regret for row in board.rows) else {}),
        **(full_information if any(row.full_information_share is not None for row in board.rows) else {}),
        **(passes if is_bandit else {}),
        **measures,
        **late,
    }


def _latex_share(share: float | None) -> str:
    return "--" if share is None else f"{100 * share:z.1f}\\,\\%"


def _latex_ratio(ratio: float | None) -> str:
    return "--" if ratio is None else f"{ratio:.2f}"


def _latex_measure(name: str) -> Callable[[Row], str]:
    def cell(row: Row) -> str:
        value, low, high = _measured(row.measures[name])
        if value is None:
            return "--"
        return f"{value:.1f}" if low is None or high is None else f"{value:.1f} [{low:.1f}, {high:.1f}]"

    return cell


def _latex_rows(rows: Sequence[Row], cells: Sequence[Callable[[Row], str]]) -> str:
    return "\n".join(" & ".join(cell(row) for cell in cells) + r" \\" for row in rows)
