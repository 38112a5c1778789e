"""Erasing a participant: the name goes, everywhere and for good, and everything that was played stays.

What a participant did is kept under a pseudonym that tells nothing: rounds, sums, statistics and the board stay as they
are, and can still be verified. Translations stay, because scores follow from them. The ids of runs stay too, because
noise was drawn with them; like the hash that keeps others from taking the name, they can confirm a name to somebody who
guesses it, but do not tell it.

Can be interrupted anywhere and begun again: until the end, a note says who is being erased, and how.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from lambdas.registry import Participant, PhaseRecord, Registry, RegistryError, check_name, hash_of_name
from lambdas.scoreboard import Scoreboard
from lambdas.store import documents
from lambdas.store.interface import Store

PSEUDONYM = "erased-"  # a number follows


@dataclass(frozen=True, slots=True)
class Plan:
    """Who becomes who."""

    name: str
    pseudonym: str
    created_at: int
    systems: Mapping[str, str]  # new names by old ones


class Eraser:
    """Erases participants of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self._registry, self._scoreboard = store, Registry(store), Scoreboard(store)

    def erase(self, name: str, systems: Mapping[str, str] | None = None) -> str:
        """Erase a participant who is disabled, and return the pseudonym; ``systems`` renames systems on the way."""
        plan, records = self.begin(name, systems), self._registry.phases()
        formerly = hash_of_name(name)
        self._registry.register(Participant(plan.pseudonym, plan.created_at, disabled=True, formerly=formerly))
        self._registry.forget_keys(name)
        for record in records:
            self._move_runs(record, plan)
        self._move_roles(plan)
        self._registry.forget(name)
        self._store.delete(documents.ERASURE, name)
        return plan.pseudonym

    def begin(self, name: str, systems: Mapping[str, str] | None = None) -> Plan:
        """Note down who will be who, or find it noted down.

        Nobody may be playing under the name any more: what a function remembers of a participant lasts ten seconds.
        """
        begun = self._store.document(documents.ERASURE, name)
        if begun is not None:
            return Plan(**begun)
        participant = self._registry.participant(name)
        if participant is None:
            raise RegistryError(f"there is no participant {name}; `participant list` tells who there is")
        if not participant.disabled:
            raise RegistryError(f"{name} may be playing: `participant disable {name}` first, and wait ten seconds")
        plan = Plan(name, self._free_pseudonym(), participant.created_at, self._checked(name, systems or {}))
        self._store.replace(documents.ERASURE, name, asdict(plan))
        return plan

    def _checked(self, name: str, systems: Mapping[str, str]) -> dict[str, str]:
        """New names of systems, if they can be."""
        records = self._registry.phases()
        played = {run.system for record in records for run in self._registry.claims(name, record.phase.name)}
        for old, new in systems.items():
            check_name(new, "system")
            if old not in played:
                raise RegistryError(f"{name} has played no system {old} ({', '.join(sorted(played)) or 'none at all'})")
        if len({systems.get(system, system) for system in played}) < len(played):
            raise RegistryError(f"two systems of {name} would have the same name")
        return dict(systems)

    def _free_pseudonym(self) -> str:
        number = 1
        while self._registry.participant(f"{PSEUDONYM}{number}"):
            number += 1
        return f"{PSEUDONYM}{number}"

    def _move_runs(self, record: PhaseRecord, plan: Plan) -> None:
        self._scoreboard.catch_up(record)  # so that no summary is begun under the old name from here on
        for ordinal, run in enumerate(self._registry.claims(plan.name, record.phase.name)):
            moved = replace(run, participant=plan.pseudonym, system=plan.systems.get(run.system, run.system))
            self._store.reassign(moved)
            self._scoreboard.rename(record, moved)
            self._registry.claim(moved, ordinal)

    def _move_roles(self, plan: Plan) -> None:
        for role in self._registry.roles():
            if role.participant == plan.name:
                system = plan.systems.get(role.system, role.system)
                self._registry.set_role(plan.pseudonym, system, role.kind, role.family)
