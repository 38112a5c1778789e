"""Families of systems: which oracle and which baseline a run is compared with.

The organiser designates oracles and baselines by participant and system. A system belongs to the family that the
organiser assigned, or else to the one that its name begins with: ``BNMT-EL`` to ``BNMT``. If its family has no oracle,
it is compared with the family of the best oracle in the phase.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from leaderboard.summaries import Summary


class RoleKind(StrEnum):
    """The role of a system in the competition."""

    CONTESTANT = "contestant"
    BASELINE = "baseline"  # does not learn
    ORACLE = "oracle"  # was trained on the references that the others must learn without


@dataclass(frozen=True, slots=True)
class Role:
    """The role that the organiser gives to a system of a participant."""

    participant: str
    system: str
    kind: RoleKind
    family: str | None = None  # None: derived from the name


def family_from_name(system: str) -> str:
    """Return the family that a system's name implies: the part before its first hyphen."""
    return system.partition("-")[0]


class Families:
    """The oracles and baselines among the runs of a phase."""

    def __init__(self, summaries: Sequence[Summary], roles: Iterable[Role], total: int) -> None:
        self._roles = {(role.participant, role.system): role for role in roles}
        self.oracles = self._best_first(summaries, RoleKind.ORACLE, total)
        self._oracles = self._by_family(self.oracles)
        self.baselines = self._best_first(summaries, RoleKind.BASELINE, total)
        self._baselines = self._by_family(self.baselines)

    def role(self, summary: Summary) -> RoleKind:
        role = self._roles.get((summary.identity.participant, summary.identity.system))
        return role.kind if role else RoleKind.CONTESTANT

    def family(self, summary: Summary) -> str | None:
        """Return the family that a run is compared with, or None if the phase has no oracle."""
        own = self._own_family(summary)
        if own in self._oracles:
            return own
        return self._own_family(self.oracles[0]) if self.oracles else None

    def oracle(self, summary: Summary) -> Summary | None:
        """Return the oracle that the regret of a run is measured against."""
        family = self.family(summary)
        return self._oracles[family] if family else None

    def baseline(self, summary: Summary) -> Summary | None:
        """Return the best baseline of the family that a run is compared with."""
        family = self.family(summary)
        return self._baselines.get(family) if family else None

    def nearest_baseline(self, summary: Summary) -> str | None:
        """Return the run that a run is drawn against: the best baseline of its own family, else the best of all.

        It needs no oracle, because differences to a baseline have none.
        """
        baseline = self._baselines.get(self._own_family(summary)) or (self.baselines[0] if self.baselines else None)
        return baseline.identity.run if baseline else None

    def _own_family(self, summary: Summary) -> str:
        role = self._roles.get((summary.identity.participant, summary.identity.system))
        return role.family if role and role.family else family_from_name(summary.identity.system)

    def _best_first(self, summaries: Sequence[Summary], kind: RoleKind, total: int) -> list[Summary]:
        """Return the runs of one role, finished ones first, then by mean reward."""
        chosen = [summary for summary in summaries if self.role(summary) is kind]
        return sorted(chosen, key=lambda each: (each.rounds < total, -(each.record.total.mean_reward or 0.0)))

    def _by_family(self, ordered: Sequence[Summary]) -> dict[str, Summary]:
        return {self._own_family(summary): summary for summary in reversed(ordered)}
