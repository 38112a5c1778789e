"""Every round has a link that covers the round, all rounds before it, the opening of its run and its phase."""

from dataclasses import replace

import pytest

from lambdas.chain import LedgerKey, LedgerKeyError
from lambdas.phase_record import PhaseRecord, PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from task.feedback import FeedbackSpec
from task.rounds import Round, Run
from tests.lambdas import tasks

KEY = LedgerKey(b"k" * 32)
RECORD = PhaseRecord(tasks.DEV, 3, "f" * 64, 10)
RUN = Run("a" * 26, "acme", "dev", "copy", 1, 1_000, 1)
ROUND = Round(RUN, 0, "ein haus", 0.25, 0.5, b"123456789", 250, 500, 2_000, -1.5, "a house")
BEFORE = b"\x07" + bytes(15)


@pytest.fixture
def played(sqlite):
    """A store with three rounds of a run, each linked with the key."""
    tasks.load(sqlite)
    service = Service(sqlite, ledger_key=KEY)
    player = tasks.participant(sqlite, service)
    run = service.open_run(player, "dev", "copy").run
    tasks.play(service, player, run, rounds=3)
    return sqlite, service, player, run


def test_a_link_is_the_same_on_every_machine():
    assert KEY.link(RECORD, ROUND, b"").hex() == "51d82bf05e2067dca5a6ff678e21f726"
    assert LedgerKey().link(RECORD, ROUND, b"").hex() == "00d281beb8a1797de06c658cb79123d5"


@pytest.mark.parametrize(
    "change",
    [
        {"index": 1},
        {"translation": "ein  haus"},
        {"observed_reward": 0.5},
        {"true_reward": 0.25},
        {"statistics": b"123456788"},
        {"observed_ticks": 251},
        {"true_ticks": 501},
        {"committed_at": 2_001},
        {"log_probability": None},
        {"log_probability": 0.0},
        {"post_edit": None},
        {"post_edit": ""},
        {"run": replace(RUN, id="b" * 26)},
        # what is moved from one field to the next
        {"translation": "ein hausa", "post_edit": " house"},
        {"statistics": b"123456789e", "translation": "in haus"},
    ],
    ids=str,
)
def test_a_link_covers_everything_in_its_round(change):
    assert KEY.link(RECORD, replace(ROUND, **change), BEFORE) != KEY.link(RECORD, ROUND, BEFORE)


def test_a_link_covers_the_links_before_it():
    assert KEY.link(RECORD, ROUND, BEFORE) != KEY.link(RECORD, ROUND, b"\x07" + b"\1" * 15)


@pytest.mark.parametrize("change", [{"attempt": 2}, {"opened_at": 1_001}, {"key": 2}, {"phase": "training"}], ids=str)
def test_the_first_link_covers_the_opening(change):
    assert KEY.link(RECORD, replace(ROUND, run=replace(RUN, **change)), b"") != KEY.link(RECORD, ROUND, b"")


@pytest.mark.parametrize(
    "change",
    [
        {"phase": replace(tasks.DEV, repeatable=False)},
        {"phase": replace(tasks.DEV, feedback=FeedbackSpec(seed=1))},
        {"phase": replace(tasks.DEV, feedback=FeedbackSpec("granular:5"))},
        {"fingerprint": "e" * 64},
        {"language": "en"},
    ],
    ids=str,
)
def test_the_first_link_covers_the_settings_of_the_phase(change):
    assert KEY.link(replace(RECORD, **change), ROUND, b"") != KEY.link(RECORD, ROUND, b"")


def test_a_link_does_not_cover_what_may_change():
    """The organiser closes phases and changes budgets, and the name of a participant may be erased."""
    renamed = replace(ROUND, run=replace(RUN, participant="erased-1", system="system-1"))
    closed = replace(RECORD, state=PhaseState.CLOSED, runs=11)
    assert KEY.link(closed, renamed, b"") == KEY.link(RECORD, ROUND, b"")


def test_a_link_says_whether_it_was_made_with_a_key():
    assert LedgerKey().link(RECORD, ROUND, b"")[0] == LedgerKey().number == 0
    assert KEY.link(RECORD, ROUND, b"")[0] == KEY.number > 0
    assert len(KEY.link(RECORD, ROUND, b"")) == 16


class TestService:
    def test_every_round_is_linked_to_the_one_before(self, played):
        store, _, _, run = played
        record, rounds = Registry(store).require_phase("dev"), list(store.rounds(run))
        links = [b"", *(each.link for each in rounds)]
        assert [KEY.link(record, each, before) for each, before in zip(rounds, links, strict=False)] == links[1:]
        assert len(set(links)) == 4

    def test_a_run_tells_its_head_and_the_id_of_its_last_round(self, played):
        store, service, player, run = played
        sentence = service.sentence(player, run)
        service.translate(player, run, sentence.id, "haus")
        state = service.run(player, run)
        assert state.head == store.round(run, 3).link.hex()
        assert state.last.id == sentence.id

    def test_a_resent_translation_keeps_its_link(self, played):
        store, service, player, run = played
        sentence = service.sentence(player, run)
        first = service.translate(player, run, sentence.id, "haus")
        link = store.round(run, 3).link
        assert service.translate(player, run, sentence.id, "haus") == first
        assert store.round(run, 3).link == link

    def test_a_run_without_links_goes_on_without_them(self, played):
        """As a run that an earlier version began."""
        store, service, player, run = played
        bare = [replace(each, link=b"") for each in store.rounds(run)]
        store._execute("DELETE FROM rounds", ())
        store.restore_rounds(bare)
        tasks.play(service, player, run, rounds=2)
        assert [each.link for each in store.rounds(run)] == [b""] * 5

    def test_the_summary_has_the_head(self, played):
        store, service, player, run = played
        [row] = service.leaderboard(player, "dev").rows
        assert row.head == store.round(run, 2).link.hex()


class TestKeys:
    def test_no_key(self):
        assert LedgerKey.from_environment({}).number == 0

    def test_a_key_in_the_environment_or_in_a_file(self, tmp_path):
        (tmp_path / "key").write_text("ab" * 32 + "\n")
        for place in ("ab" * 32, str(tmp_path / "key")):
            assert LedgerKey.from_environment({"BANDITMT_LEDGER_KEY": place}).secret == b"\xab" * 32

    @pytest.mark.parametrize("content", ["", "ab" * 31, "xy" * 32, "ab" * 600, "\udcff\udc80"])
    def test_a_file_without_a_key(self, tmp_path, content):
        (tmp_path / "key").write_bytes(content.encode(errors="surrogateescape"))
        with pytest.raises(LedgerKeyError, match="does not hold a ledger key: 64 hexadecimal digits on one line"):
            LedgerKey.parse(str(tmp_path / "key"))

    def test_a_file_that_does_not_exist(self):
        with pytest.raises(LedgerKeyError, match="but there is no file 'nowhere'"):
            LedgerKey.parse("nowhere")

    def test_generated_keys_are_different(self):
        assert LedgerKey.generate().secret != LedgerKey.generate().secret
