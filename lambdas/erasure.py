"""Erase a participant: replace the name by a pseudonym everywhere, for good, and keep everything that was played.

The pseudonym says nothing about the participant. Profiles of the team and its systems are deleted. Rounds, sums,
statistics and the leaderboard stay as they are, and can still be verified. Translations stay, because the scores follow
from them. Run ids stay too, because feedback noise is drawn with them. Run ids, and the hash that reserves the erased
name, are hashes of the name: they can confirm a guessed name, but do not reveal it. A withdrawn run stays withdrawn,
but the reason is replaced, since it may name the participant.

An erasure can be interrupted at any point and started again: until it is finished, a document in the store holds its
plan.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from lambdas.phase_record import PhaseRecord
from lambdas.profile_store import ProfileStore
from lambdas.registry import Participant, Registry, RegistryError, check_name, name_hash
from lambdas.scoreboard import Scoreboard
from lambdas.store import documents
from lambdas.store.interface import Store
from lambdas.withdrawals import Withdrawals

PSEUDONYM_PREFIX = "erased-"  # a number follows


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """The names that an erasure replaces, and what replaces them."""

    name: str
    pseudonym: str
    created_at: int
    systems: Mapping[str, str]  # new names by old ones


class Eraser:
    """Erases participants of one store."""

    def __init__(self, store: Store) -> None:
        self._store, self._registry, self._scoreboard = store, Registry(store), Scoreboard(store)
        self._profiles, self._withdrawals = ProfileStore(store), Withdrawals(store)

    def erase(self, name: str, systems: Mapping[str, str] | None = None) -> str:
        """Erase a disabled participant and return the pseudonym.

        Args:
            name: The participant.
            systems: New names of systems whose names identify the participant, by their old names.

        Raises:
            RegistryError: The participant does not exist or is not disabled, or the new names do not fit.
        """
        plan, records = self.begin(name, systems), self._registry.phases()
        pseudonym = Participant(plan.pseudonym, plan.created_at, disabled=True, erased_name_hash=name_hash(name))
        self._registry.create_participant(pseudonym)
        self._registry.delete_keys(name)
        self._profiles.delete(name)
        for record in records:
            self._move_runs(record, plan)
        self._move_roles(plan)
        self._registry.delete_participant(name)
        self._store.delete(documents.ERASURE, name)
        return plan.pseudonym

    def begin(self, name: str, systems: Mapping[str, str] | None = None) -> ErasurePlan:
        """Write the plan of an erasure and return it, or return the plan of one that was interrupted.

        The participant must be disabled, and for ten seconds already: that is how long functions cache it.
        """
        begun = self._store.document(documents.ERASURE, name)
        if begun is not None:
            return ErasurePlan(**begun)
        participant = self._registry.require_participant(name)
        if not participant.disabled:
            raise RegistryError(f"{name} may be playing: `participant disable {name}` first, and wait ten seconds")
        self._check_system_names(name, systems or {})
        plan = ErasurePlan(name, self._next_pseudonym(), participant.created_at, dict(systems or {}))
        self._store.replace(documents.ERASURE, name, asdict(plan))
        return plan

    def _check_system_names(self, name: str, systems: Mapping[str, str]) -> None:
        """Raise an error if a system was never played, or cannot have its new name."""
        records = self._registry.phases()
        played = {run.system for record in records for run in self._registry.claims(name, record.phase.name)}
        for old, new in systems.items():
            check_name(new, "system")
            if old not in played:
                raise RegistryError(f"{name} has played no system {old} ({', '.join(sorted(played)) or 'none at all'})")
        if len({systems.get(system, system) for system in played}) < len(played):
            raise RegistryError(f"two systems of {name} would have the same name")

    def _next_pseudonym(self) -> str:
        number = 1
        while self._registry.participant(f"{PSEUDONYM_PREFIX}{number}"):
            number += 1
        return f"{PSEUDONYM_PREFIX}{number}"

    def _move_runs(self, record: PhaseRecord, plan: ErasurePlan) -> None:
        self._scoreboard.catch_up(record)  # so that from here on no summary is begun under the old name
        for ordinal, run in enumerate(self._registry.claims(plan.name, record.phase.name)):
            moved = replace(run, participant=plan.pseudonym, system=plan.systems.get(run.system, run.system))
            self._store.reassign(moved)
            self._scoreboard.update_identity(record, moved)
            self._withdrawals.erase_reason(moved)
            self._registry.claim(moved, ordinal)

    def _move_roles(self, plan: ErasurePlan) -> None:
        for role in self._registry.roles():
            if role.participant == plan.name:
                system = plan.systems.get(role.system, role.system)
                self._registry.set_role(plan.pseudonym, system, role.kind, role.family)
