"""The data of the figures of a board: lists of points, one for each mark."""

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Any

from leaderboard.families import RoleKind
from leaderboard.metrics.learning_curve import CurveModel
from leaderboard.palette import LIGHT_SERIES
from leaderboard.rows import Board, Row

MAX_CONTESTANTS = len(LIGHT_SERIES)  # in one figure: readers cannot tell more colours apart
MIN_REGRET_ROUNDS = 10  # of a long phase: the noise of earlier means would squeeze the rest of the curve
PASS_MEASURES = ("corpus_bleu", "sentence_bleu", "relative_corpus_bleu", "relative_sentence_bleu")
DIFFERENCES = {"r0": "R0", "r1": "R1", "r0_1": "R0+1", "bleu": "BLEU"}  # measures that are drawn against a baseline

Point = dict[str, Any]


def labels(rows: Sequence[Row]) -> dict[str, str]:
    """Return a label for every run: its system, with participant and attempt where they are needed to be unique."""
    systems = Counter(row.system for row in rows)
    owners = Counter((row.system, row.participant) for row in rows)
    found = {}
    for row in rows:
        label = row.system if systems[row.system] == 1 else f"{row.system} ({row.participant})"
        found[row.run] = label if owners[row.system, row.participant] == 1 else f"{label} #{row.attempt}"
    return found


def drawn_rows(board: Board) -> list[Row]:
    """Return the rows that figures show: all runs for comparison, and the best contestants."""
    pinned = [row for row in board.rows if row.role is not RoleKind.CONTESTANT]
    others = [row for row in board.rows if row.role is RoleKind.CONTESTANT]
    return [*pinned, *others[:MAX_CONTESTANTS]]


def gain_points(board: Board) -> list[Point]:
    """Return the gain of every drawn run over its baseline, with the ends of its 95 % interval.

    Oracles are left out: they are so far above that all other lines would become one.
    """
    rows = [row for row in drawn_rows(board) if row.role not in (RoleKind.ORACLE, RoleKind.K_BEST_ORACLE)]
    names, points = labels(rows), []
    for row in rows:
        if row.gain_curve is None:
            continue
        curve = row.gain_curve
        for rounds, gain, half in zip(curve.rounds, curve.values, curve.half_widths, strict=True):
            band = {
                "gain_low": None if half is None else gain - half,
                "gain_high": None if half is None else gain + half,
            }
            points.append({"system": names[row.run], "role": row.role, "rounds": rounds, "gain": gain, **band})
    return points


def seed_range(name: str, values: Sequence[float | None]) -> Point:
    """Return the lowest and the highest value of several seeds; None if there are none, or if one is not known."""
    known = [value for value in values if value is not None]
    is_range = len(known) == len(values) > 1
    return {f"{name}_low": min(known) if is_range else None, f"{name}_high": max(known) if is_range else None}


def curve_points(board: Board) -> list[Point]:
    """Return cumulative reward and running regret of every drawn run at every checkpoint, with the range of seeds."""
    rows, curves = drawn_rows(board), {row.run: row.curve for row in board.rows}
    names, points = labels(rows), []
    first_round = MIN_REGRET_ROUNDS if board.total >= 100 * MIN_REGRET_ROUNDS else 1
    for row in rows:
        oracle = curves[row.regret.oracle] if row.regret else []
        for index, (rounds, reward) in enumerate(zip(board.checkpoints, row.curve, strict=False)):
            rewards = [seed.curve[index] if index < len(seed.curve) else None for seed in row.seeds]
            regrets = [
                (oracle[index] - each) / rounds
                if each is not None and index < len(oracle) and rounds >= first_round
                else None
                for each in (reward, *rewards)
            ]
            points.append(
                {
                    "system": names[row.run],
                    "role": row.role,
                    "rounds": rounds,
                    "reward": reward,
                    "regret": regrets[0],
                    **seed_range("reward", rewards),
                    **seed_range("regret", [] if row.role is RoleKind.ORACLE else regrets[1:]),
                }
            )
    return points


def pass_points(board: Board) -> list[Point]:
    """Return BLEU on the held-out block of every drawn run at every pass, with the range of seeds."""
    rows = drawn_rows(board)
    names, points = labels(rows), []
    for row in rows:
        for number, each in enumerate(row.passes):
            place = {"system": names[row.run], "role": row.role, "rounds": board.held_out.ends[each.held_out_pass]}
            seeds = [seed.passes[number] for seed in row.seeds]
            values = {name: getattr(each, name) for name in PASS_MEASURES}
            ranges = [seed_range(name, [getattr(seed, name) for seed in seeds]) for name in PASS_MEASURES]
            points.append(reduce(or_, ranges, place | values))
    return points


def difference_points(board: Board) -> list[Point]:
    """Return how far the measures of every drawn run are above those of its baseline, over all rounds so far."""
    rows, adaptations = drawn_rows(board), {row.run: row.adaptation for row in board.rows}
    names, points = labels(rows), []
    for row in rows:
        baseline = adaptations[row.baseline] if row.baseline and row.baseline != row.run else None
        if row.adaptation is None or baseline is None:
            continue
        mine, theirs = row.adaptation.curves, baseline.curves
        for index in range(min(len(mine["bleu"]), len(theirs["bleu"]))):
            known = {name: (mine[name][index], theirs[name][index]) for name in DIFFERENCES}
            above = {name: None if a is None or b is None else a - b for name, (a, b) in known.items()}
            points.append({"system": names[row.run], "role": row.role, "rounds": (index + 1) * board.block, **above})
    return points


def ter_points(board: Board) -> list[Point]:
    """Return TER of every drawn run by coarse block, and of all blocks so far, each with its fitted curve."""
    rows = drawn_rows(board)
    names, points = labels(rows), []
    for row in rows:
        if row.adaptation is None:
            continue
        unit, cumulative = (row.adaptation.ter[model] for model in CurveModel)
        for block, errors in enumerate(zip(unit.errors, cumulative.errors, strict=True), start=1):
            points.append(
                {
                    "system": names[row.run],
                    "role": row.role,
                    "rounds": block * board.block,
                    "ter": errors[0],
                    "ter_curve": unit.fitted(block),
                    "incremental_ter": errors[1],
                    "incremental_ter_curve": cumulative.fitted(block),
                }
            )
    return points
