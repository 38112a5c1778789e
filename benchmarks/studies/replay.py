"""A competition that was played again: the summaries of its runs by phase, in one small file, and their comparisons.

A summary samples the curve of its run, so a competition of any length fits into less than a megabyte, and is read and
compared in bounded memory. The page of a study can be written again from the file alone.
"""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard, board_phase
from lambdas.store import open_store
from leaderboard.families import HOUSE_PARTICIPANT, Role, RoleKind, default_role
from leaderboard.profiles import Profiles
from leaderboard.rows import Board, BoardPhase, HeldOutBlock, Lead, Row, RowStatus
from leaderboard.run_comparison import RunComparison, entries
from leaderboard.seeds import system_without_seed
from leaderboard.summaries import Summary, SummaryError
from leaderboard.table import make_board
from learners.systems.registry import find_system
from simulator.competition import Competition
from task.atomic_files import write_bytes
from task.rounds import TICKS

STATISTICAL, NEURAL = "SMT", "BNMT"  # the families, each with a static system and an oracle of its own


def family_of(system: str) -> str:
    """Return the family whose oracle a system is compared with."""
    return STATISTICAL if system.startswith(("SMT", "LIMSI", "CHAMPION")) else NEURAL


class PhaseReplay:
    """The runs of a phase, one row for each system, and the differences between them."""

    def __init__(self, phase: BoardPhase, summaries: Sequence[Summary]) -> None:
        self.phase, self.summaries = phase, summaries
        systems = dict.fromkeys(system_without_seed(summary.identity.system) for summary in summaries)
        roles = [_role(system, list(systems)) for system in systems]
        self.board: Board = make_board(phase, summaries, roles, now=0)
        compared = entries([summary for summary in summaries if summary.rounds == phase.total], phase.total)
        self._comparison = RunComparison(phase, compared, roles, Profiles(), now=0)
        self._pooled = {entry.summary.identity.system: entry.summary for entry in compared}

    @property
    def finished(self) -> dict[str, Row]:
        """The rows of systems that played all rounds, best first."""
        return {row.system: row for row in self.board.rows if row.status is RowStatus.FINISHED}

    @property
    def unfinished(self) -> list[Row]:
        return [row for row in self.board.rows if row.status is not RowStatus.FINISHED]

    def difference(self, system: str, other: str) -> Lead | None:
        """Return how much more reward per round a system earned than another; None unless both finished."""
        rows = self.finished
        return self._comparison.lead(rows[system], rows[other]) if system in rows and other in rows else None

    def resampled_means(self, systems: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what the mean rewards of finished systems might have been on other sentences, one tuple a resample."""
        blocks = [self._pooled[system].blocks(self.phase.total) for system in systems]
        return list(zip(*(each.resampled() for each in blocks), strict=True))

    def running_regret(self, system: str, oracle: str, share: float) -> float:
        """Return the regret per round of a finished system after this share of the rounds, at the nearest sample."""
        ours, best = self._pooled[system].curve, self._pooled[oracle].curve
        k = min(ours.keys() & best.keys(), key=lambda rounds: abs(rounds - share * self.phase.total))
        return (best[k] - ours[k]) / TICKS / k

    def drawn(self, family: str, *, with_oracle: bool) -> Board:
        """Return the board of what a figure shows of a family: its contestants and baselines."""
        kinds = {RoleKind.CONTESTANT, RoleKind.BASELINE} | ({RoleKind.ORACLE} if with_oracle else set())
        rows = [
            row
            for row in self.board.rows
            if row.role in kinds and family_of(row.system) == family and row.system != "copy-source"
        ]
        return replace(self.board, rows=rows)


def _role(system: str, played: Sequence[str]) -> Role:
    """Return the role of a system in its family. The control of a learner is no baseline, even if it is static."""
    family = family_of(system)
    kind = default_role(HOUSE_PARTICIPANT, system).kind
    controls = {find_system(name).control for name in played}
    if system in controls and system != f"{family}-static":
        kind = RoleKind.CONTROL
    return Role(HOUSE_PARTICIPANT, system, kind, family)


@dataclass(frozen=True)
class Replay:
    """A competition: how it was made, its phases, and the runs that failed."""

    options: Mapping[str, object]
    task: str  # the digest of its description
    models: Mapping[str, str]  # digests of the seed models by name
    phases: Mapping[str, PhaseReplay]
    failures: Mapping[str, str]  # messages by phase and run

    def write(self, path: Path) -> None:
        """Write the competition to a file; the same competition gives the same bytes."""
        phases = {
            name: {"phase": asdict(one.phase), "runs": [summary.as_document() for summary in one.summaries]}
            for name, one in self.phases.items()
        }
        values = {
            "options": dict(self.options),
            "task": self.task,
            "models": dict(self.models),
            "phases": phases,
            "failures": dict(self.failures),
        }
        write_bytes(path, gzip.compress(json.dumps(values).encode(), mtime=0))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``write`` wrote. Exits at anything else."""
        try:
            values = json.loads(gzip.decompress(path.read_bytes()))
            phases = {name: _read_phase(**document) for name, document in values.pop("phases").items()}
            return cls(phases=phases, **values)
        except (EOFError, OSError, ValueError, LookupError, TypeError, zlib.error, SummaryError) as damage:
            raise SystemExit(f"{path} is not a replayed competition ({damage}): play it again") from None


def _read_phase(phase: dict[str, Any], runs: Sequence[Mapping[str, Any]]) -> PhaseReplay:
    found = BoardPhase(**phase | {"held_out": HeldOutBlock(**phase["held_out"])})
    return PhaseReplay(found, [Summary.from_document(document) for document in runs])


def read_phase(competition: Competition, runs: Sequence[str]) -> PhaseReplay:
    """Return these runs of a competition as far as they have come."""
    store = open_store(competition.store)
    try:
        record, scoreboard = Registry(store).require_phase(competition.phase), Scoreboard(store)
        scoreboard.catch_up(record)
        summaries = {summary.identity.system: summary for summary in scoreboard.summaries(record)}
    finally:
        store.close()
    return PhaseReplay(board_phase(record), [summaries[run] for run in runs if run in summaries])
