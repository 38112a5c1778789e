"""Compares the ledger with a leaderboard that was published before, as ``banditmt leaderboard --json`` writes it.

A ledger alone cannot tell that a whole run, or the last rounds of an unfinished one, were deleted. A published
leaderboard can: it has the number of rounds and the head of each run.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lambdas.audit.discrepancies import Discrepancy
from lambdas.errors import OrganiserError
from lambdas.registry import Registry
from lambdas.store.interface import Store
from leaderboard.families import Roles
from task.rounds import TICKS, Run

MAX_BOARD_BYTES = 200_000_000
REWARD_TOLERANCE = 1e-6  # of a sum, in runs without links

PublishedBoard = dict[str, Any]  # as JSON has it
Row = dict[str, Any]


class PublishedBoardError(OrganiserError):
    """A file is not a leaderboard."""


def read_board(path: Path) -> PublishedBoard:
    """Return a published leaderboard. Raises PublishedBoardError if the file is none."""
    refused = PublishedBoardError(f"{path} is not a leaderboard; `banditmt leaderboard --json` writes one")
    try:
        with path.open("rb") as file:
            board: PublishedBoard = json.loads(file.read(MAX_BOARD_BYTES))
    except OSError as failure:
        raise PublishedBoardError(f"cannot read {path}: {failure.strerror}") from None
    except (ValueError, RecursionError):
        raise refused from None
    is_board = isinstance(board, dict) and isinstance(board.get("phase"), str) and isinstance(board.get("rows"), list)
    if not (is_board and all(isinstance(row, dict) for row in board["rows"]) and all(map(_is_row, _runs(board)))):
        raise refused
    return board


def _runs(board: PublishedBoard) -> list[Any]:
    """Return the rows of single runs; a system that was played with several seeds has one row with all of them."""
    return [run for row in board["rows"] for run in row.get("seeds") or [row]]


def _is_row(row: Any) -> bool:
    types = {"run": str, "participant": str, "system": str, "role": str, "rounds": int, "reward": float}
    return (
        isinstance(row, dict)
        and all(type(row.get(name)) is kind for name, kind in types.items())
        and row["rounds"] > 0
        and isinstance(row.get("head"), str | None)
    )


def compare_with_board(store: Store, board: PublishedBoard) -> Iterator[Discrepancy]:
    """Yield what the ledger says of published runs that differs from what was published."""
    registry = Registry(store)
    record = registry.phase(board["phase"])
    if record is None:
        yield Discrepancy(None, None, f"phase {board['phase']} was published, but is not in the store")
        return
    if board.get("total") != record.phase.layout.total:
        yield Discrepancy(None, None, f"phase {board['phase']} was published with {board.get('total')} rounds")
    erased = {each.name for each in registry.participants() if each.erased_name_hash is not None}
    roles = Roles(registry.roles())
    for row in _runs(board):
        opened = store.opening(row["run"])
        problems = ["it was published, but is not in the ledger"] if opened is None else _row_problems(store, row)
        yield from (Discrepancy(row["run"], None, problem) for problem in problems)
        if opened is not None and opened.participant not in erased:
            yield from (Discrepancy(row["run"], None, problem) for problem in _name_problems(row, opened, roles))


def _row_problems(store: Store, row: Row) -> Iterator[str]:
    last = store.round(row["run"], row["rounds"] - 1)
    if last is None:
        yield f"it was published with {row['rounds']:,} rounds, but the ledger has fewer"
    elif row["head"] is not None and last.link.hex() != row["head"]:
        yield f"its first {row['rounds']:,} rounds are not those that were published: the head is another"
    elif abs(last.true_ticks / TICKS - row["reward"]) > REWARD_TOLERANCE:
        yield f"it was published with a reward of {row['reward']}, but has {last.true_ticks / TICKS}"


def _name_problems(row: Row, opened: Run, roles: Roles) -> Iterator[str]:
    if (row["participant"], row["system"]) != (opened.participant, opened.system):
        yield f"it was published as {row['system']} of {row['participant']}"
    elif row["role"] != (role := roles.of(opened.participant, opened.system).kind):
        yield f"it was published as {row['role']}, and is {role.value} now"
