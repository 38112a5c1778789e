"""Erase a participant: replace the name by a pseudonym everywhere, for good, and keep everything that was played.

The pseudonym says nothing about the participant. Profiles of the team and its systems are deleted, but for the
consistency that was measured. Rounds, sums, statistics and the leaderboard stay as they are, and can still be verified.
Translations stay, because the scores follow from them. Run ids stay too, because feedback noise is drawn with them. Run
ids, and the hash that reserves the erased name, are hashes of the name: they can confirm a guessed name, but do not
reveal it. A withdrawn run stays withdrawn, but the reason is replaced, since it may name the participant.

A warm function may accept the keys of a disabled participant until its cache expires, and may then still be busy with a
request. Whatever it writes meanwhile has the name: further runs, and on DynamoDB rounds. So an erasure first writes its
plan and deletes the keys, and then waits for ``SETTLING_SECONDS``. After that, no request can write the name, and what
was written before is replaced like everything else. A process that folds rounds into the summary of a run at the very
moment of its renaming finds the new name in the ledger, and saves the summary again (``Scoreboard``).

An erasure can be interrupted at any point and started again: until it is finished, a document in the store holds its
plan.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from lambdas.phase_record import PhaseRecord
from lambdas.profile_store import ProfileStore
from lambdas.registry import Participant, Registry, RegistryError, check_name, name_hash
from lambdas.scoreboard import Scoreboard
from lambdas.service import STALENESS_SECONDS
from lambdas.store import documents
from lambdas.store.interface import Store
from lambdas.withdrawals import Withdrawals
from leaderboard.profiles import SystemProfile

REQUEST_SECONDS = 10.0  # the longest that a function works on a request: the timeout in the template
SETTLING_SECONDS = STALENESS_SECONDS + REQUEST_SECONDS  # from the plan of an erasure to its first change
PSEUDONYM_PREFIX = "erased-"  # a number follows


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """The names that an erasure replaces, and what replaces them."""

    name: str
    pseudonym: str
    created_at: int
    systems: Mapping[str, str]  # new names by old ones
    begun_at: float = 0.0  # seconds since 1970; 0 in plans of earlier versions


class Eraser:
    """Erases participants of one store."""

    def __init__(
        self, store: Store, *, clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._store, self._registry, self._scoreboard = store, Registry(store), Scoreboard(store)
        self._profiles, self._withdrawals = ProfileStore(store), Withdrawals(store)
        self._clock, self._sleep = clock, sleep

    def erase(self, name: str, systems: Mapping[str, str] | None = None) -> str:
        """Erase a disabled participant and return the pseudonym, after waiting until no function writes the name.

        Args:
            name: The participant.
            systems: New names of systems whose names identify the participant, by their old names.

        Raises:
            RegistryError: The participant does not exist or is not disabled, or the new names do not fit.
        """
        plan, records = self.begin(name, systems), self._registry.phases()
        self._registry.delete_keys(name)
        self._settle(plan)
        pseudonym = Participant(plan.pseudonym, plan.created_at, disabled=True, erased_name_hash=name_hash(name))
        self._registry.create_participant(pseudonym)
        self._keep_consistency(plan)
        self._profiles.delete(name)
        for record in records:
            self._move_runs(record, plan)
        self._move_roles(plan)
        self._registry.delete_participant(name)
        self._store.delete(documents.ERASURE, name)
        return plan.pseudonym

    def begin(self, name: str, systems: Mapping[str, str] | None = None) -> ErasurePlan:
        """Write the plan of an erasure and return it, or return the plan of one that was interrupted.

        The participant must be disabled.
        """
        begun = self._store.document(documents.ERASURE, name)
        if begun is not None:
            return ErasurePlan(**begun)
        participant = self._registry.require_participant(name)
        if not participant.disabled:
            raise RegistryError(f"{name} may be playing: `participant disable {name}` first")
        self._check_system_names(name, systems or {})
        plan = ErasurePlan(name, self._next_pseudonym(), participant.created_at, dict(systems or {}), self._clock())
        self._store.replace(documents.ERASURE, name, asdict(plan))
        return plan

    def _settle(self, plan: ErasurePlan) -> None:
        """Wait until the caches of all functions have expired, and the requests that they served have ended."""
        waited = max(0.0, self._clock() - plan.begun_at)  # a clock that was set back does not prolong the wait
        if waited < SETTLING_SECONDS:
            self._sleep(SETTLING_SECONDS - waited)

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

    def _keep_consistency(self, plan: ErasurePlan) -> None:
        """Keep what the organiser measured of systems: it is a number of the leaderboard, and says no name."""
        for profile in self._profiles.systems():
            if profile.participant == plan.name and profile.consistency:
                system = plan.systems.get(profile.system, profile.system)
                self._profiles.write(SystemProfile(plan.pseudonym, system, consistency=profile.consistency))
