"""Families of systems: which oracle and which baseline a run is compared with.

The organiser designates oracles, baselines and other runs for comparison by participant and system. The systems of this
repository, which play as the participant ``banditmt``, have the roles that their names imply until the organiser says
otherwise: no other participant can get a role by the choice of a name.

A system belongs to the family that the organiser assigned, or else to the one that its name begins with: ``BNMT-EL`` to
``BNMT``. If its family has no oracle, it is compared with the family of the best oracle in the phase.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from leaderboard.seeds import system_without_seed
from leaderboard.summaries import Summary
from task.names import MAX_NAME_CHARACTERS


class RoleKind(StrEnum):
    """The role of a system in the competition."""

    CONTESTANT = "contestant"
    BASELINE = "baseline"  # does not learn: where the learners of its family start
    ORACLE = "oracle"  # was trained on the references that the others must learn without
    CONTROL = "control"  # does not learn either, and shows what something else than learning is worth
    FULL_INFORMATION = "full-information"  # learns online as contestants do, but sees the reference after each round
    K_BEST_ORACLE = "k-best-oracle"  # knows the reference, but can only choose among the candidates of its model


_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]")
HOUSE_PARTICIPANT = "banditmt"  # as whom the systems of this repository play

# The ends of names, the most specific first, and the roles that they imply for systems of this repository.
_ROLES_BY_NAME = {
    "-k-best-oracle": RoleKind.K_BEST_ORACLE,
    "-oracle": RoleKind.ORACLE,
    "-full-information": RoleKind.FULL_INFORMATION,
    "-static": RoleKind.BASELINE,
    "-none": RoleKind.BASELINE,
    "-BG": RoleKind.BASELINE,
    "-FG-UNFAIR": RoleKind.ORACLE,
    "copy-source": RoleKind.BASELINE,
    "word-for-word": RoleKind.BASELINE,
    **dict.fromkeys(("-sampling", "-sampling-T1", "-perturbed", "-control", "-beam"), RoleKind.CONTROL),
    **dict.fromkeys(("-concat", "-s-hier-to-2.tied", "-cadec"), RoleKind.CONTROL),  # what context is worth
}
SETTINGS_MARK = "+"  # between the name of a system and the settings that differ from the registered ones
_SEED_CHARACTERS = 8  # that a name with settings leaves for the suffix of a seed


@dataclass(frozen=True, slots=True)
class Role:
    """The role that the organiser gives to a system of a participant."""

    participant: str
    system: str
    kind: RoleKind
    family: str | None = None  # None: derived from the name


def family_from_name(system: str) -> str:
    """Return the family that a system's name implies: the part before its first hyphen, without settings."""
    return system.partition(SETTINGS_MARK)[0].partition("-")[0]


def name_with_settings(system: str, settings: Sequence[tuple[str, str]]) -> str:
    """Return the name of a run whose settings differ from the registered ones: ``BNMT-EL+batch-16``.

    A name that would be too long has a digest of the settings instead. A system without such settings keeps its name.
    """
    if not settings:
        return system
    changes = [f"{name}-{value}" for name, value in settings]
    name = SETTINGS_MARK.join([system, *(_NOT_IN_NAMES.sub("_", change) for change in changes)])
    if len(name) <= MAX_NAME_CHARACTERS - _SEED_CHARACTERS:
        return name
    return f"{system}{SETTINGS_MARK}{hashlib.sha256(repr(tuple(settings)).encode()).hexdigest()[:8]}"


def default_role(participant: str, system: str) -> Role:
    """Return the role of a system without one that the organiser set."""
    kind = RoleKind.CONTESTANT
    if participant == HOUSE_PARTICIPANT:
        name = system_without_seed(system).partition(SETTINGS_MARK)[0]
        kind = next((kind for end, kind in _ROLES_BY_NAME.items() if name.endswith(end)), RoleKind.CONTESTANT)
    return Role(participant, system, kind)


class Roles:
    """The roles of all systems: those that the organiser set, and the default roles of all others."""

    def __init__(self, stored: Iterable[Role]) -> None:
        self._stored = {(role.participant, role.system): role for role in stored}

    def of(self, participant: str, system: str) -> Role:
        """Return the role of a system. All seeds of a system have its role."""
        names = (system, system_without_seed(system))
        stored = (self._stored.get((participant, name)) for name in names)
        return next((role for role in stored if role), None) or default_role(participant, system)


class Families:
    """The oracles, baselines and other runs for comparison among the runs of a phase."""

    def __init__(self, summaries: Sequence[Summary], roles: Iterable[Role], total: int) -> None:
        self._roles = Roles(roles)
        self.oracles = self._best_first(summaries, RoleKind.ORACLE, total)
        self._oracles = self._by_family(self.oracles)
        self.baselines = self._best_first(summaries, RoleKind.BASELINE, total)
        self._baselines = self._by_family(self.baselines)
        self._full = self._best_first(summaries, RoleKind.FULL_INFORMATION, total)
        self._full_by_family = self._by_family(self._full)

    def role(self, summary: Summary) -> RoleKind:
        return self._role(summary).kind

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

    def nearest_baseline(self, summary: Summary) -> Summary | None:
        """Return the run that differences are measured from: the best baseline of its own family, else the best of all.

        It needs no oracle, because differences to a baseline have none.
        """
        return self._baselines.get(self._own_family(summary)) or (self.baselines[0] if self.baselines else None)

    def full_information(self, summary: Summary) -> tuple[Summary, Summary] | None:
        """Return the full-information run that a run is compared with, and the baseline that it starts from.

        It is the best of its own family, else the best of all; None if there is none, or if it has no baseline.
        """
        full = self._full_by_family.get(self._own_family(summary)) or (self._full[0] if self._full else None)
        baseline = self._baselines.get(self._own_family(full)) if full else None
        return (full, baseline) if full and baseline else None

    def _role(self, summary: Summary) -> Role:
        return self._roles.of(summary.identity.participant, summary.identity.system)

    def _own_family(self, summary: Summary) -> str:
        return self._role(summary).family or family_from_name(summary.identity.system)

    def _best_first(self, summaries: Sequence[Summary], kind: RoleKind, total: int) -> list[Summary]:
        """Return the runs of one role, finished ones first, then by mean reward."""
        chosen = [summary for summary in summaries if self.role(summary) is kind]
        return sorted(chosen, key=lambda each: (each.rounds < total, -(each.record.total.mean_reward or 0.0)))

    def _by_family(self, ordered: Sequence[Summary]) -> dict[str, Summary]:
        return {self._own_family(summary): summary for summary in reversed(ordered)}
