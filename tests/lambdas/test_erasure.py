"""Erasing a participant removes the name everywhere, and everything that was played can still be verified."""

import json
import re
from pathlib import Path

import pytest

from lambdas import errors
from lambdas.archive import Archive, export
from lambdas.audit import Auditor
from lambdas.cache import Cache
from lambdas.erasure import SETTLING_SECONDS, Eraser
from lambdas.registry import Registry, RegistryError
from lambdas.scoreboard import Scoreboard
from lambdas.service import STALENESS_SECONDS, Service
from lambdas.store import documents
from lambdas.store.sqlite import SQLiteStore
from lambdas.withdrawals import Withdrawals
from leaderboard.families import RoleKind
from tests.lambdas import tasks
from tests.lambdas.archive import competitions
from tests.lambdas.faulty_store import CrashError, FaultyStore


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """No service runs in most of these tests, so nothing has to settle."""
    monkeypatch.setattr("lambdas.erasure.SETTLING_SECONDS", 0.0)


def verify(store):
    registry, auditor = Registry(store), Auditor(store)
    runs = [(record, run) for record in registry.phases() for run in registry.runs(record.phase.name)]
    complaints = [complaint for each in runs for complaint in auditor.audit(*each)]
    return len(runs), auditor.rounds, complaints


def kept(store):
    """Everything that the store has about participants, as text."""
    kinds = ["participant", "key", "role", "team", "system", "erasure"]
    kinds += [f"{kind}/{phase.name}" for kind in ("board", "withdrawal") for phase in tasks.PHASES]
    registry = Registry(store)
    claims = [f"run/{who.name}/{phase.name}" for who in registry.participants() for phase in tasks.PHASES]
    documents = [store.documents(kind) for kind in kinds + claims]
    return json.dumps(documents) + repr(competitions.ledger(store))


PROFILE = ("display_name", "affiliation", "team_url", "system_description", "system_link")


def numbers(store):
    """The leaderboards without names and profiles."""
    boards = {phase: json.loads(board) for phase, board in competitions.boards(store).items()}
    for board in boards.values():
        for row in board["rows"]:
            for name in ("participant", "system", *PROFILE):
                del row[name]
    return boards


def with_pseudonym(board):
    """A board of the competition in which acme is erased-1 and says nothing of itself."""
    for text in ("Ácme of acme", "https://acme.example", "acme's learner"):
        board = board.replace(json.dumps(text), "null")
    return board.replace('"acme"', '"erased-1"')


def disabled(store, name="acme"):
    Registry(store).set_disabled(name, True)
    return store


def test_only_the_name_is_erased(store):
    competitions.play(store)
    before = competitions.boards(store)
    assert Eraser(disabled(store)).erase("acme") == "erased-1"
    assert "acme" not in kept(store)
    assert competitions.boards(store) == {phase: with_pseudonym(board) for phase, board in before.items()}
    assert verify(store) == (6, 59, [])
    [decision] = Withdrawals(store).of_phase("training")
    assert (decision.withdrawn, decision.why) == (True, "the participant was erased")
    assert Registry(store).keys("acme") == Registry(store).keys("erased-1") == []
    assert store.documents(documents.claims("acme", "dev")) == []
    assert [role.kind for role in Registry(store).roles() if role.participant == "erased-1"] == [RoleKind.BASELINE]


def test_systems_can_be_renamed(sqlite):
    competitions.play(sqlite)
    before = numbers(sqlite)
    Eraser(disabled(sqlite)).erase("acme", {"BNMT-EL": "BNMT-7", "BNMT-static": "BNMT-8"})
    assert '"BNMT-EL"' not in kept(sqlite)
    assert {row["system"] for row in json.loads(competitions.boards(sqlite)["dev"])["rows"]} == {
        "BNMT-7",
        "BNMT-8",
        "BNMT-oracle",
    }
    assert numbers(sqlite) == before
    assert verify(sqlite) == (6, 59, [])


def test_every_participant_gets_its_own_pseudonym(sqlite):
    competitions.play(sqlite)
    Registry(sqlite).add_participant("erased-2")
    assert [Eraser(disabled(sqlite, name)).erase(name) for name in ("acme", "idle")] == ["erased-1", "erased-3"]


def test_an_interrupted_erasure_resumes_to_the_same_end(tmp_path):
    expected, turn, done = None, 0, False
    while not done:
        store = SQLiteStore.open(f"{tmp_path / str(turn)}?synchronous=normal")
        competitions.play(store, perturbation="none")
        faulty = FaultyStore(disabled(store))
        faulty.fail(turn, after=turn % 2 == 0)
        try:
            pseudonym = Eraser(faulty).erase("acme", {"BNMT-EL": "system-1"})
            done = True
        except CrashError:
            pseudonym = Eraser(store).erase("acme", {"BNMT-EL": "system-1"})
        outcome = (pseudonym, [who.name for who in Registry(store).participants()], verify(store))
        assert outcome == (expected or outcome)
        assert "acme" not in kept(store)
        expected = outcome
        store.close()
        turn += 9
    assert turn > 50


def test_not_a_byte_of_the_name_is_left_in_the_file(tmp_path):
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}?synchronous=normal")
    service, _ = tasks.start_service(store)
    player = tasks.participant(store, service, "zaphod-beeblebrox")
    tasks.play(service, player, service.open_run(player, "dev", "copy").run)
    Eraser(disabled(store, "zaphod-beeblebrox")).erase("zaphod-beeblebrox")
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
    assert b"zaphod" not in (tmp_path / "store.db").read_bytes()


class Clock:
    """A clock that moves only when somebody sleeps. Whoever waits is called every second."""

    def __init__(self):
        self.now, self.waiting = 1_000.0, lambda: None

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 1, end)
            self.waiting()


class WarmService:
    """A service whose cache knows a participant, and that serves whatever the participant tries."""

    def __init__(self, store, clock, name):
        self._service, self._api_key = Service(store), Registry(store).add_participant(name)
        self._service._keys = Cache(10, STALENESS_SECONDS, clock=clock)
        self._run = self._service.open_run(self._player(), "dev", "learner").run
        self._sentence = self._service.sentence(self._player(), self._run)
        self.rounds = self.runs = self.refusals = 0

    def _player(self):
        return self._service.authenticate(self._api_key)

    def attempt(self):
        """Play a round of the run that is known, open another, and ask for the leaderboard."""
        try:
            answer = self._service.translate(self._player(), self._run, self._sentence.id, self._sentence.source)
            assert answer.next is not None
            self.rounds, self._sentence = self.rounds + 1, answer.next
            opened = self._service.open_run(self._player(), "mock", f"learner-{self.runs}")
            self.runs += 1
            tasks.play(self._service, self._player(), opened.run, rounds=1)
        except errors.InvalidKeyError:
            self.refusals += 1
        self._service.leaderboard(None, "dev")


def test_nothing_of_the_name_is_left_when_a_warm_service_plays_meanwhile(store, monkeypatch):
    """Functions cache a participant for ten seconds. What they write in that time is moved, too."""
    monkeypatch.undo()
    tasks.load(store)
    clock = Clock()
    warm = WarmService(store, clock, "zaphod")
    warm.attempt()
    disabled(store, "zaphod")
    clock.waiting = warm.attempt
    assert Eraser(store, clock=clock, sleep=clock.sleep).erase("zaphod") == "erased-1"
    clock.sleep(30)
    assert (warm.rounds, warm.runs) == (10, 10)  # it did play on while it could
    assert warm.refusals == 41
    assert "zaphod" not in kept(store)
    assert (
        store.documents(documents.claims("zaphod", "mock")) == store.documents(documents.claims("zaphod", "dev")) == []
    )
    assert len(store.documents(documents.claims("erased-1", "mock"))) == 10
    assert verify(store) == (11, 20, [])


class InterleavedStore:
    """A store in which another process does something just before a chosen call."""

    def __init__(self, store, turn, meanwhile):
        self._store, self._turn, self._meanwhile = store, turn, meanwhile
        self.calls = 0

    def __getattr__(self, name):
        method = getattr(self._store, name)

        def called(*arguments):
            self.calls += 1
            if self.calls - 1 == self._turn:
                self._meanwhile()
            return method(*arguments)

        return called


@pytest.mark.parametrize("known_rounds", [0, 3])
@pytest.mark.parametrize("compute", ["catch_up", "rebuild"])
def test_a_leaderboard_that_is_computed_during_an_erasure_saves_no_name(tmp_path, compute, known_rounds):
    """The erasure comes before any call to the store of a process that sums up a run."""

    def sum_up(store, scoreboard, record):
        if compute == "catch_up":
            scoreboard.catch_up(record)
        else:
            for run in Registry(store).runs("dev"):
                scoreboard.rebuild(record, run)

    turn, calls = 0, 1
    while turn <= calls:
        store = SQLiteStore.open(f"{tmp_path / str(turn)}?synchronous=normal")
        service, player = tasks.start_service(store)
        run, record = service.open_run(player, "dev", "copy").run, Registry(store).require_phase("dev")
        tasks.play(service, player, run, rounds=known_rounds)
        Scoreboard(store).catch_up(record)
        tasks.play(service, player, run, rounds=2)
        busy = InterleavedStore(store, turn, lambda store=store: Eraser(disabled(store)).erase("acme"))
        sum_up(busy, Scoreboard(busy), record)
        calls = max(calls, busy.calls)
        if turn < busy.calls:
            assert "acme" not in kept(store), f"before call {turn}"
        store.close()
        turn += 1
    assert calls > 5


def test_an_interrupted_wait_is_resumed_but_not_repeated(sqlite, monkeypatch):
    monkeypatch.undo()
    competitions.play(sqlite)
    clock, slept = Clock(), []
    clock.waiting = lambda: slept.append(clock.now)
    Eraser(disabled(sqlite), clock=clock).begin("acme")
    clock.now += 15
    Eraser(sqlite, clock=clock, sleep=clock.sleep).erase("acme")
    assert slept == [1_016.0, 1_017.0, 1_018.0, 1_019.0, 1_020.0]


def test_a_function_has_ended_when_the_name_is_replaced():
    template = (Path(__file__).parents[2] / "template.yaml").read_text()
    [timeout] = re.findall(r"^  Function:\n(?:    .*\n)*?    Timeout: (\d+)", template, re.MULTILINE)
    assert SETTLING_SECONDS == STALENESS_SECONDS + float(timeout) == 20.0


class TestRefusals:
    def test_a_participant_who_is_not_disabled(self, sqlite):
        competitions.play(sqlite)
        with pytest.raises(RegistryError, match="`participant disable acme` first"):
            Eraser(sqlite).erase("acme")
        assert "acme" in kept(sqlite)

    def test_nobody(self, sqlite):
        with pytest.raises(RegistryError, match="there is no participant nobody"):
            Eraser(sqlite).erase("nobody")

    @pytest.mark.parametrize(
        ("systems", "complaint"),
        [
            ({"other": "x"}, r"acme has played no system other \(BNMT-EL, BNMT-static\)"),
            ({"BNMT-EL": "BNMT-static"}, "two systems of acme would have the same name"),
            ({"BNMT-EL": "a b"}, "the name of a system is"),
        ],
    )
    def test_invalid_new_names_of_systems(self, sqlite, systems, complaint):
        competitions.play(sqlite)
        competitions.boards(sqlite)
        with pytest.raises((RegistryError, errors.BadRequestError), match=complaint):
            Eraser(disabled(sqlite)).erase("acme", systems)
        assert verify(sqlite) == (6, 59, [])
        assert "erased" not in kept(sqlite)


def test_an_erased_name_cannot_be_registered_again(sqlite, tmp_path):
    competitions.play(sqlite)
    Eraser(disabled(sqlite)).erase("acme")
    export(sqlite, tmp_path / "archive.gz")
    elsewhere = SQLiteStore.open(f"{tmp_path / 'elsewhere.db'}?synchronous=normal")
    Archive.open(tmp_path / "archive.gz").restore(elsewhere)
    for store in (sqlite, elsewhere):
        with pytest.raises(RegistryError, match="a participant acme was erased, and the name cannot be used again"):
            Registry(store).add_participant("acme")
    assert competitions.boards(elsewhere) == competitions.boards(sqlite)
    elsewhere.close()
