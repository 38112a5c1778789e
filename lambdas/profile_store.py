"""The profiles of teams and systems in a store: what the leaderboard shows beside their names."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lambdas.registry import MAX_CHANGE_CONFLICTS, Registry, RegistryError, check_name
from lambdas.store import documents
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Store
from leaderboard.profiles import Profiles, SystemProfile, TeamProfile


class ProfileStore:
    """Reads and writes profiles."""

    def __init__(self, store: Store) -> None:
        self._store, self._registry = store, Registry(store)

    def profiles(self) -> Profiles:
        """Return all profiles."""
        return Profiles(self.teams(), self.systems())

    def teams(self) -> list[TeamProfile]:
        return [TeamProfile(**document) for document in self._store.documents(documents.TEAM)]

    def systems(self) -> list[SystemProfile]:
        return [SystemProfile(**document) for document in self._store.documents(documents.SYSTEM)]

    def describe_team(self, participant: str, entries: Mapping[str, str | None]) -> TeamProfile:
        """Set entries of a participant's profile, and return the whole profile.

        Args:
            participant: The participant.
            entries: Texts by the names that they have in ``TeamProfile``; None or an empty text removes an entry.

        Raises:
            RegistryError: There is no such participant.
            PublicTextError: A text cannot be shown to the public.
        """
        self._registry.require_participant(participant)
        identity = {"participant": participant}
        return TeamProfile(**self._change(documents.TEAM, participant, asdict(TeamProfile(**identity)), entries))

    def describe_system(self, participant: str, system: str, entries: Mapping[str, Any]) -> SystemProfile:
        """Set entries of a system's profile, and return the whole profile. The system need not have played yet.

        Args:
            participant: The participant whose system it is.
            system: The name of the system.
            entries: Values by the names that they have in ``SystemProfile``; None or an empty one removes an entry.

        Raises:
            RegistryError: There is no such participant.
            BadRequestError: No system can have this name.
            PublicTextError: A text cannot be shown to the public.
        """
        self._registry.require_participant(participant)
        check_name(system, "system")
        empty = asdict(SystemProfile(participant, system))
        return SystemProfile(**self._change(documents.SYSTEM, _system_name(participant, system), empty, entries))

    def write(self, profile: TeamProfile | SystemProfile) -> None:
        """Write a whole profile, and overwrite the one before it."""
        if isinstance(profile, TeamProfile):
            self._store.replace(documents.TEAM, profile.participant, asdict(profile))
        else:
            self._store.replace(documents.SYSTEM, _system_name(profile.participant, profile.system), asdict(profile))

    def delete(self, participant: str) -> None:
        """Delete the profiles of a participant and of its systems."""
        for profile in self.systems():
            if profile.participant == participant:
                self._store.delete(documents.SYSTEM, _system_name(participant, profile.system))
        self._store.delete(documents.TEAM, participant)

    def _change(self, kind: DocumentKind, name: str, empty: Document, entries: Mapping[str, Any]) -> Document:
        """Change a document, or create it from an empty one; changes that others make at the same time are kept."""
        profile = TeamProfile if kind == documents.TEAM else SystemProfile
        said = {entry: value or None for entry, value in entries.items()}
        for _ in range(MAX_CHANGE_CONFLICTS):
            known = self._store.document(kind, name)
            changed = {**(known or empty), **said}
            profile(**changed)  # raises PublicTextError before anything is written
            if known is None:
                written = self._store.create(kind, name, changed)
            else:
                written = self._store.compare_and_swap(kind, name, known, changed)
            if written:
                return changed
        raise RegistryError(f"the profile of {name} is being changed by others; look at it and try again")


def _system_name(participant: str, system: str) -> str:
    return f"{participant}/{system}"
