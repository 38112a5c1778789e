"""Profiles: what is known of participants and systems beside their runs, for readers of the leaderboard.

Names stay what identifies a participant and a system. A profile stands beside them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from leaderboard.consistency import SetAccuracy
from task.public_texts import MAX_TITLE_CHARACTERS, check_public_text, check_url


@dataclass(frozen=True, slots=True)
class TeamProfile:
    """The profile of a participant; None for what it does not say. Raises PublicTextError."""

    participant: str
    display_name: str | None = None
    affiliation: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        if self.display_name is not None:
            check_public_text(self.display_name, "the display name", MAX_TITLE_CHARACTERS)
        if self.affiliation is not None:
            check_public_text(self.affiliation, "the affiliation")
        if self.url is not None:
            check_url(self.url, "the URL")


@dataclass(frozen=True, slots=True)
class SystemProfile:
    """The profile of a participant's system; None for what it does not say. Raises PublicTextError."""

    participant: str
    system: str
    description: str | None = None
    link: str | None = None  # to a paper or to code
    consistency: dict[str, list[float]] | None = None  # accuracy on contrastive sets; see ``leaderboard.consistency``

    def __post_init__(self) -> None:
        for name, numbers in (self.consistency or {}).items():
            SetAccuracy.from_document(name, numbers)
        if self.description is not None:
            check_public_text(self.description, "the description")
        if self.link is not None:
            check_url(self.link, "the link")


class Profiles:
    """The profiles of all participants and systems; an empty one for those that have none."""

    def __init__(self, teams: Iterable[TeamProfile] = (), systems: Iterable[SystemProfile] = ()) -> None:
        self._teams = {team.participant: team for team in teams}
        self._systems = {(each.participant, each.system): each for each in systems}

    def team(self, participant: str) -> TeamProfile:
        """Return the profile of a participant."""
        return self._teams.get(participant) or TeamProfile(participant)

    def system(self, participant: str, system: str) -> SystemProfile:
        """Return the profile of a participant's system."""
        return self._systems.get((participant, system)) or SystemProfile(participant, system)
