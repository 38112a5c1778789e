"""The leaderboard of a store: it catches up with the ledger, and shows each viewer what it may see."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lambdas import errors, scoreboard
from lambdas.audit import Auditor
from lambdas.phase_record import PhaseRecord, PhaseSchedule, PhaseState
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import documents
from leaderboard.families import RoleKind
from leaderboard.rows import HeldOutBlock
from leaderboard.table import make_board
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks


def playing(store, name="acme"):
    """A service that caches nothing, and a participant."""
    service = Service(store, staleness=0)
    return service, tasks.participant(store, service, name)


def play(service, player, phase="dev", system="copy", **options):
    run = service.open_run(player, phase, system).run
    return run, tasks.play(service, player, run, **options)


class TestCatchingUp:
    def test_the_board_shows_what_the_ledger_holds_on_every_engine(self, store):
        tasks.load(store)
        service, player = playing(store)
        run, answers = play(service, player)
        [row] = service.leaderboard(None, "dev").rows
        assert (row.run, row.rank, row.status, row.rounds) == (run, 1, "finished", 14)
        assert row.reward == pytest.approx(sum(answer.score for answer in answers))
        assert [each.held_out_pass for each in row.passes] == [0, 1, 2]

    def test_catching_up_continues_where_the_summary_ends(self, sqlite, monkeypatch):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        run, _ = play(service, player, rounds=5)
        assert service.leaderboard(None, "dev").rows[0].rounds == 5
        asked, results = [], sqlite.results

        def watched(run, start):
            asked.append(start)
            return results(run, start)

        monkeypatch.setattr(sqlite, "results", watched)
        tasks.play(service, player, run)
        assert service.leaderboard(None, "dev").rows[0].status == "finished"
        service.leaderboard(None, "dev")
        assert asked == [5]  # and a finished run is not looked at again

    def test_an_interrupted_catch_up_keeps_what_it_has_folded(self, sqlite, monkeypatch):
        tasks.load(sqlite)
        monkeypatch.setattr(scoreboard, "CHUNK_ROUNDS", 4)
        service, player = playing(sqlite)
        play(service, player)
        record, board = Registry(sqlite).require_phase("dev"), Scoreboard(sqlite)
        kept, save = [], board._save

        def saved(summary):
            kept.append(summary.rounds)
            return save(summary)

        monkeypatch.setattr(board, "_save", saved)
        board.catch_up(record)
        assert kept == [4, 8, 12, 14]

    def test_concurrent_readers_fold_the_ledger_once(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        play(service, player)
        seen = []
        readers = [threading.Thread(target=lambda: seen.append(service.leaderboard(None, "dev"))) for _ in range(8)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert len(seen) == 8
        assert all(board == seen[0] for board in seen)

    def test_simultaneous_requests_are_answered_by_one_computation(self, sqlite, monkeypatch):
        tasks.load(sqlite)
        service = Service(sqlite)
        play(service, tasks.participant(sqlite, service))
        computed = []

        def slow(*arguments, **options):
            computed.append(threading.get_ident())
            time.sleep(0.2)  # long enough for all requests to arrive
            return make_board(*arguments, **options)

        monkeypatch.setattr(scoreboard, "make_board", slow)
        with ThreadPoolExecutor(20) as pool:
            boards = list(pool.map(lambda _: service.leaderboard(None, "dev"), range(20)))
        assert len(computed) == 1
        assert all(board is boards[0] for board in boards)

    def test_a_service_behind_a_stream_does_not_read_the_ledger(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        play(service, player)
        assert Service(sqlite, streamed=True).leaderboard(None, "dev").rows == []
        assert sqlite.documents(documents.run_summaries("dev")) == []

    def test_a_board_is_cached(self, sqlite):
        tasks.load(sqlite)
        service = Service(sqlite)
        player = tasks.participant(sqlite, service)
        run, _ = play(service, player, rounds=1)
        first = service.leaderboard(None, "dev")
        tasks.play(service, player, run)
        assert service.leaderboard(player, "dev") is first

    def test_rebuilding_gives_the_same_summary(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        run, _ = play(service, player)
        record, board = Registry(sqlite).require_phase("dev"), Scoreboard(sqlite)
        board.catch_up(record)
        [before] = board.summaries(record)
        assert board.rebuild(record, sqlite.opening(run)) == before
        assert board.summaries(record) == [before]

    def test_rebuilding_a_run_without_rounds_empties_its_summary(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        run, _ = play(service, player)
        empty = service.open_run(player, "dev", "idle").run
        record, board = Registry(sqlite).require_phase("dev"), Scoreboard(sqlite)
        board.catch_up(record)
        sqlite.replace(
            documents.run_summaries("dev"),
            empty,
            {**sqlite.document(documents.run_summaries("dev"), run), "run": empty},
        )
        assert board.rebuild(record, sqlite.opening(empty)).rounds == 0
        assert [summary.rounds for summary in board.summaries(record) if summary.identity.run == empty] == [0]
        assert [row.run for row in board.board(record).rows] == [run]


class TestPostEdits:
    @pytest.fixture
    def played(self, sqlite):
        """The record of a post-edit phase, its scoreboard, and a finished run."""
        tasks.load(sqlite, phases=[tasks.MOCK], feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT))
        service, player = playing(sqlite)
        run, _ = play(service, player, "mock")
        return Registry(sqlite).require_phase("mock"), Scoreboard(sqlite), sqlite.opening(run)

    def test_a_summary_holds_the_counts_of_adaptation(self, played):
        record, board, _ = played
        board.catch_up(record)
        [summary] = board.summaries(record)
        counts = summary.record.adaptation.total
        # "refword0000 of mock with rot und blau secretref" has six new words, each later reference one: its refword;
        # the other five occur once before the second reference
        assert (counts.rounds, counts.edited_length, counts.wanted_new, counts.wanted_repeated) == (5, 40, 10, 5)

    def test_rebuilding_gives_the_same_summary(self, played):
        record, board, run = played
        board.catch_up(record)
        [before] = board.summaries(record)
        assert board.rebuild(record, run) == before

    def test_a_summary_of_an_earlier_version_is_folded_again(self, sqlite, played):
        record, board, run = played
        board.catch_up(record)
        [whole] = board.summaries(record)
        document = sqlite.document(documents.run_summaries("mock"), run.id)
        del document["adaptation"]
        sqlite.replace(documents.run_summaries("mock"), run.id, document)
        assert board.summaries(record) == []
        board.catch_up(record)
        assert board.summaries(record) == [whole]

    def test_a_summary_of_version_1_is_shown_until_it_is_folded_again(self, sqlite, played):
        record, board, run = played
        board.catch_up(record)
        [whole] = board.summaries(record)
        document = sqlite.document(documents.run_summaries("mock"), run.id)
        del document["late"]
        document = {**document, "version": 1, "total": document["total"][:11]}
        sqlite.replace(documents.run_summaries("mock"), run.id, document)
        [row] = board.board(record).rows
        assert (row.rounds, row.single_words, row.last_quarter) == (whole.rounds, None, None)
        board.catch_up(record)
        [again] = board.summaries(record)
        assert (again, again.is_current) == (whole, True)

    def test_verification_covers_the_last_quarter(self, sqlite, played):
        record, board, run = played
        board.catch_up(record)
        [summary] = board.summaries(record)
        late = {k: replace(tally, single_words=tally.single_words + 1) for k, tally in summary.record.late.items()}
        manipulated = replace(summary, record=replace(summary.record, late=late))
        sqlite.replace(documents.run_summaries("mock"), run.id, manipulated.as_document())
        [found] = Auditor(sqlite).audit(record, run)
        assert found.problem == "the leaderboard does not match the ledger; rebuild it"

    def test_verification_covers_the_counts_of_adaptation(self, sqlite, played):
        record, board, run = played
        board.catch_up(record)
        [summary] = board.summaries(record)
        assert Auditor(sqlite).audit(record, run) == []
        adaptation = summary.record.adaptation
        changed = replace(adaptation, total=adaptation.total._replace(edits=adaptation.total.edits + 1))
        manipulated = replace(summary, record=replace(summary.record, adaptation=changed))
        sqlite.replace(documents.run_summaries("mock"), run.id, manipulated.as_document())
        [found] = Auditor(sqlite).audit(record, run)
        assert found.problem == "the leaderboard does not match the ledger; rebuild it"
        board.rebuild(record, run)
        assert Auditor(sqlite).audit(record, run) == []


class TestVisibility:
    @pytest.fixture
    def service(self, sqlite):
        tasks.load(sqlite)
        return Service(sqlite, staleness=0)

    @pytest.fixture
    def teams(self, sqlite, service):
        """Two participants, each with a run in every phase."""
        players = [tasks.participant(sqlite, service, name) for name in ("acme", "rival")]
        for player in players:
            for phase in ("mock", "dev", "training"):
                play(service, player, phase, rounds=3)
        return players

    @pytest.mark.parametrize("phase", ["mock", "dev"])
    def test_repeatable_phases_are_public_while_they_are_open(self, service, teams, phase):
        for viewer in (*teams, None):
            board = service.leaderboard(viewer, phase)
            assert (board.visible, len(board.rows)) == ("all", 2)

    @pytest.mark.parametrize("state", [PhaseState.OPEN, PhaseState.FROZEN])
    def test_participants_see_only_their_own_runs_of_training(self, sqlite, service, teams, state):
        Registry(sqlite).set_phase_state("training", state)
        for viewer in teams:
            board = service.leaderboard(viewer, "training")
            assert (board.visible, [row.participant for row in board.rows]) == ("own", [viewer.name])
        assert service.leaderboard(None, "training").rows == []

    def test_the_board_of_training_hides_where_held_out_passes_lie(self, sqlite):
        layout = tasks.DEV.layout
        training = Phase("training", layout, repeatable=False)
        tasks.load(sqlite, phases=[training])
        service, player = playing(sqlite)
        play(service, player, "training")
        board = service.leaderboard(player, "training")
        assert (board.held_out.passes, board.held_out.ends, board.rows[0].passes) == (0, [], [])
        Registry(sqlite).set_phase_state("training", PhaseState.CLOSED)
        assert service.leaderboard(player, "training").held_out.ends == [2, 8, 14]

    @pytest.mark.parametrize("state", [PhaseState.OPEN, PhaseState.FROZEN])
    def test_the_board_of_dev_hides_where_held_out_passes_lie(self, sqlite, state):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        play(service, player, system="finished")
        play(service, player, system="under-way", rounds=8)  # of 14, and just at the end of the second of three passes
        Registry(sqlite).set_phase_state("dev", state)
        for viewer in (player, None):
            board = service.leaderboard(viewer, "dev")
            assert (board.held_out.passes, board.held_out.size, board.held_out.ends) == (3, 0, [])
            assert {row.system: len(row.passes) for row in board.rows} == {"finished": 3, "under-way": 1}
        Registry(sqlite).set_phase_state("dev", PhaseState.CLOSED)
        board = service.leaderboard(None, "dev")
        assert (board.held_out.size, board.held_out.ends) == (2, [2, 8, 14])
        assert {row.system: len(row.passes) for row in board.rows} == {"finished": 3, "under-way": 2}

    def test_a_pass_appears_at_its_share_of_the_rounds_wherever_it_lies(self, sqlite):
        """HHFFFFHHFFFFHH: passes are over after 2, 8 and 14 rounds, and appear after 14/3, 28/3 and 14."""
        tasks.load(sqlite)
        service, player = playing(sqlite)
        run = service.open_run(player, "dev", "copy").run
        told = []
        for _ in range(14):
            tasks.play(service, player, run, rounds=1)
            told.append(len(service.leaderboard(player, "dev").rows[0].passes))
        assert told == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3]

    @given(st.builds(Layout, st.integers(2, 12), st.integers(1, 50), st.integers(1, 200)))
    def test_no_pass_appears_before_it_is_over(self, layout):
        record = PhaseRecord(Phase("dev", layout, repeatable=True), 512, "", 1)
        for number, end in enumerate(scoreboard.board_phase(record).held_out.ends):
            assert end / layout.total <= (number + 1) / layout.blocks

    def test_scores_of_passes_are_too_coarse_to_be_searched_for(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        play(service, player, translate=lambda sentence: sentence.source + " with")
        [row] = service.leaderboard(player, "dev").rows
        Registry(sqlite).set_phase_state("dev", PhaseState.CLOSED)
        [exact] = service.leaderboard(player, "dev").rows
        for rough, fine in zip(row.passes, exact.passes, strict=True):
            assert rough.sentence_bleu == round(fine.sentence_bleu, 1) != fine.sentence_bleu
            assert rough.length_ratio == round(fine.length_ratio, 3)

    @pytest.mark.parametrize("phase", ["dev", "training"])
    def test_statistics_of_references_are_too_coarse_to_be_computed_back(self, sqlite, phase):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        play(service, player, phase, translate=lambda sentence: sentence.source + " with")
        [row] = service.leaderboard(player, phase).rows
        Registry(sqlite).set_phase_state(phase, PhaseState.CLOSED)
        [exact] = service.leaderboard(player, phase).rows
        assert row.measures["bleu"].value == round(exact.measures["bleu"].value, 1) != exact.measures["bleu"].value
        assert row.length_ratio == round(exact.length_ratio, 3)
        late, fine = row.last_quarter, exact.last_quarter
        assert late.corpus_bleu == round(fine.corpus_bleu, 1) != fine.corpus_bleu
        assert (late.length_ratio, late.single_words) == (round(fine.length_ratio, 3), round(fine.single_words, 3))
        assert late.mean_reward == fine.mean_reward, "the participant has observed the rewards"

    def test_a_phase_that_was_never_played_hides_where_held_out_passes_lie(self, sqlite):
        """Organisers close a phase until its day comes."""
        tasks.load(sqlite)
        Registry(sqlite).set_phase_state("dev", PhaseState.CLOSED)
        board = Service(sqlite).leaderboard(None, "dev")
        assert (board.state, board.rows, board.held_out) == ("closed", [], HeldOutBlock(0, 0, []))

    def test_a_phase_that_its_schedule_has_yet_to_open_is_not_public(self, sqlite, service, teams):
        registry = Registry(sqlite)
        for phase in ("dev", "training"):
            registry.schedule_phase(phase, PhaseSchedule(registry.now() + 10**9, None))
        dev, training = (service.leaderboard(None, phase) for phase in ("dev", "training"))
        assert (dev.state, dev.held_out.size, dev.held_out.ends) == ("closed", 0, [])
        assert (training.state, training.visible, training.rows) == ("closed", "own", [])

    def test_a_closed_phase_is_public(self, sqlite, service, teams):
        Registry(sqlite).set_phase_state("training", PhaseState.CLOSED)
        board = service.leaderboard(None, "training")
        assert (board.visible, board.state, len(board.rows)) == ("all", "closed", 2)
        assert {row.status for row in board.rows} == {"abandoned"}

    def test_the_organiser_sees_everything(self, sqlite, service, teams):
        record, board = Registry(sqlite).require_phase("training"), Scoreboard(sqlite)
        board.catch_up(record)
        assert len(board.board(record).rows) == 2

    @pytest.mark.parametrize("phase", ["finals", "", "../dev", "x" * 100])
    def test_an_unknown_phase_has_no_board(self, service, phase):
        with pytest.raises(errors.PhaseNotFoundError):
            service.leaderboard(None, phase)

    def test_true_rewards_stay_hidden_while_a_run_with_noise_is_played(self, sqlite):
        tasks.load(sqlite, feedback=FeedbackSpec("high-variance:1"))
        service, player = playing(sqlite)
        run, _ = play(service, player, rounds=10)
        assert service.leaderboard(player, "dev").rows == []
        tasks.play(service, player, run)
        assert len(service.leaderboard(player, "dev").rows) == 1


class TestRoles:
    def test_roles_are_stored_by_participant_and_system(self, store):
        store.prepare()
        registry = Registry(store)
        registry.add_participant("organiser")
        registry.set_role("organiser", "SMT-oracle", RoleKind.ORACLE, "SMT")
        registry.set_role("organiser", "copy", RoleKind.BASELINE)
        registry.set_role("organiser", "copy", RoleKind.CONTESTANT)
        assert [(role.system, role.kind, role.family) for role in registry.roles()] == [
            ("SMT-oracle", RoleKind.ORACLE, "SMT"),
            ("copy", RoleKind.CONTESTANT, None),
        ]

    def test_the_board_shows_roles(self, sqlite):
        tasks.load(sqlite)
        service, player = playing(sqlite)
        oracle, _ = play(service, player, system="best", translate=lambda s: s.source + " secretref")
        run, _ = play(service, player, system="copy")
        Registry(sqlite).set_role("acme", "best", RoleKind.ORACLE)
        rows = {row.run: row for row in service.leaderboard(None, "dev").rows}
        assert (rows[oracle].role, rows[oracle].rank, rows[run].rank) == ("oracle", None, 1)
        assert rows[run].regret.oracle == oracle
        assert rows[run].regret.value == pytest.approx(rows[oracle].mean_reward - rows[run].mean_reward)

    @pytest.mark.parametrize(
        ("who", "system", "family"), [("nobody", "x", None), ("me", "a b", None), ("me", "x", "<")]
    )
    def test_an_unknown_participant_or_an_invalid_name_gets_no_role(self, sqlite, who, system, family):
        registry = Registry(sqlite)
        registry.add_participant("me")
        with pytest.raises((errors.OrganiserError, errors.BadRequestError)):
            registry.set_role(who, system, RoleKind.ORACLE, family)
