"""Profiles of teams and systems: stored, changed entry by entry, and shown on the board."""

import pytest

from lambdas import errors
from lambdas.profile_store import ProfileStore
from lambdas.registry import MAX_CHANGE_CONFLICTS, Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from leaderboard.profiles import SystemProfile, TeamProfile
from task.public_texts import PublicTextError
from tests.lambdas import tasks


@pytest.fixture
def profiles(store):
    store.prepare()
    Registry(store).add_participant("acme")
    return ProfileStore(store)


def test_entries_are_set_changed_and_removed_one_by_one(profiles):
    profiles.describe_team("acme", {"display_name": "Acme", "url": "https://acme.example"})
    profiles.describe_team("acme", {"affiliation": "Universität", "url": ""})
    assert profiles.teams() == [TeamProfile("acme", "Acme", "Universität", None)]
    profiles.describe_system("acme", "el", {"description": "expected loss"})
    profiles.describe_system("acme", "el", {"link": "https://acme.example/el"})
    assert profiles.systems() == [SystemProfile("acme", "el", "expected loss", "https://acme.example/el")]


def test_whoever_says_nothing_has_an_empty_profile(profiles):
    assert profiles.profiles().team("acme") == TeamProfile("acme")
    assert profiles.profiles().system("acme", "el") == SystemProfile("acme", "el")


def test_a_refused_text_changes_nothing(profiles):
    profiles.describe_team("acme", {"url": "https://acme.example"})
    with pytest.raises(PublicTextError):
        profiles.describe_team("acme", {"display_name": "Acme", "url": "javascript:alert(1)"})
    assert profiles.teams() == [TeamProfile("acme", url="https://acme.example")]


def test_participants_and_names_are_checked(profiles):
    with pytest.raises(RegistryError, match="there is no participant nobody"):
        profiles.describe_team("nobody", {})
    with pytest.raises(RegistryError, match="there is no participant nobody"):
        profiles.describe_system("nobody", "el", {})
    with pytest.raises(errors.BadRequestError, match="the name of a system is"):
        profiles.describe_system("acme", "<el>", {})


def test_deleting_leaves_the_profiles_of_others(profiles, store):
    Registry(store).add_participant("acme2")
    for participant in ("acme", "acme2"):
        profiles.describe_team(participant, {"display_name": "A"})
        profiles.describe_system(participant, "el", {"description": "x"})
    profiles.delete("acme")
    profiles.delete("acme")  # as after an interruption
    assert [each.participant for each in (*profiles.teams(), *profiles.systems())] == ["acme2", "acme2"]


class BusyStore:
    """A store in which another organiser changes the document between every read and write."""

    def __init__(self, store, times):
        self._store, self._times = store, times

    def __getattr__(self, name):
        return getattr(self._store, name)

    def document(self, kind, name):
        known = self._store.document(kind, name)
        if self._times and kind == "team":
            self._times -= 1
            ProfileStore(self._store).describe_team("acme", {"affiliation": f"change {self._times}"})
        return known


def test_changes_of_others_at_the_same_time_are_kept(sqlite):
    Registry(sqlite).add_participant("acme")
    ProfileStore(BusyStore(sqlite, 3)).describe_team("acme", {"display_name": "Acme"})
    assert ProfileStore(sqlite).teams() == [TeamProfile("acme", "Acme", "change 0")]
    with pytest.raises(RegistryError, match="is being changed by others"):
        ProfileStore(BusyStore(sqlite, MAX_CHANGE_CONFLICTS)).describe_team("acme", {"display_name": "Acme"})


def test_the_board_shows_them_beside_the_names(store):
    service, acme = tasks.start_service(store)
    tasks.play(service, acme, service.open_run(acme, "mock", "el").run)
    profiles = ProfileStore(store)
    profiles.describe_team("acme", {"display_name": "Ácme", "affiliation": "Uni", "url": "https://acme.example"})
    profiles.describe_system("acme", "el", {"description": "expected loss", "link": "https://acme.example/el"})
    scoreboard, record = Scoreboard(store), Registry(store).require_phase("mock")
    scoreboard.catch_up(record)
    for board in (scoreboard.board(record), scoreboard.visible_board(record, None)):
        [row] = board.as_dict()["rows"]
        assert {name: row[name] for name in ("participant", "system", "display_name", "affiliation", "team_url")} == {
            "participant": "acme",
            "system": "el",
            "display_name": "Ácme",
            "affiliation": "Uni",
            "team_url": "https://acme.example",
        }
        assert (row["system_description"], row["system_link"]) == ("expected loss", "https://acme.example/el")
