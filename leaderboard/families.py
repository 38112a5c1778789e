"""Which runs are oracles and baselines, and which oracle a run is measured against.

The organiser designates oracles and baselines by participant and system. A system belongs to the family that it was
assigned to, or else to the one that its name begins with: ``BNMT-EL`` to ``BNMT``. Where its own family has no oracle,
it is measured against the family of the best oracle there is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from leaderboard.summaries import Summary


class RoleKind(StrEnum):
    """What a system is in the contest."""

    CONTESTANT = "contestant"
    BASELINE = "baseline"  # does not learn
    ORACLE = "oracle"  # was trained on what the others have to learn


@dataclass(frozen=True, slots=True)
class Role:
    """What the organiser says about a system of a participant."""

    participant: str
    system: str
    kind: RoleKind
    family: str | None = None  # None for what its name says


def family_from_name(system: str) -> str:
    """The family that a name tells: what comes before its first hyphen."""
    return system.partition("-")[0]


class Families:
    """The oracles and baselines among the runs of a phase."""

    def __init__(self, summaries: Sequence[Summary], roles: Iterable[Role], total: int) -> None:
        self._roles = {(role.participant, role.system): role for role in roles}
        self.oracles = self._ordered(summaries, RoleKind.ORACLE, total)
        self._oracles = self._by_family(self.oracles)
        self._baselines = self._by_family(self._ordered(summaries, RoleKind.BASELINE, total))

    def role(self, summary: Summary) -> RoleKind:
        role = self._roles.get((summary.identity.participant, summary.identity.system))
        return role.kind if role else RoleKind.CONTESTANT

    def family(self, summary: Summary) -> str | None:
        """The family that tells its oracle, or None if there is no oracle at all."""
        own = self._own_family(summary)
        if own in self._oracles:
            return own
        return self._own_family(self.oracles[0]) if self.oracles else None

    def oracle(self, summary: Summary) -> Summary | None:
        """The oracle that a run is measured against."""
        family = self.family(summary)
        return self._oracles[family] if family else None

    def baseline(self, summary: Summary) -> Summary | None:
        """The best baseline of the family that it is measured against."""
        family = self.family(summary)
        return self._baselines.get(family) if family else None

    def _own_family(self, summary: Summary) -> str:
        role = self._roles.get((summary.identity.participant, summary.identity.system))
        return role.family if role and role.family else family_from_name(summary.identity.system)

    def _ordered(self, summaries: Sequence[Summary], kind: RoleKind, total: int) -> list[Summary]:
        """Finished ones first, and of those the best."""
        chosen = [summary for summary in summaries if self.role(summary) is kind]
        return sorted(chosen, key=lambda each: (each.rounds < total, -(each.record.total.mean_reward or 0.0)))

    def _by_family(self, ordered: Sequence[Summary]) -> dict[str, Summary]:
        return {self._own_family(summary): summary for summary in reversed(ordered)}
