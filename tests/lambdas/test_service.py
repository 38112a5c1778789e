"""The protocol, call by call, over every storage engine."""

from dataclasses import replace

import pytest

from lambdas import errors
from lambdas.feedback import Feedback
from lambdas.registry import PhaseState, Registry
from lambdas.service import MAX_CHARACTERS, Service
from leaderboard.metrics.bleu import sentence_bleu
from tests.lambdas import tasks


@pytest.fixture
def setting(store):
    """A service and a participant, over every engine."""
    return tasks.fresh(store)


@pytest.fixture
def embedded(sqlite):
    """The same over SQLite only, for what does not depend on the engine."""
    service, player = tasks.fresh(sqlite)
    return sqlite, service, player


def score(phase, number, translation):
    return sentence_bleu(translation, tasks.reference(phase, number))


class TestPlaying:
    def test_a_whole_run(self, setting):
        service, player = setting
        opened = service.open_run(player, "dev", "copy")
        assert opened.as_dict() == {"run": opened.run, "phase": "dev", "system": "copy", "index": 0, "total": 14}
        answers = tasks.play(service, player, opened.run)
        numbers = [0, 1, 2, 3, 4, 5, 0, 1, 6, 7, 8, 9, 0, 1]
        expected = [score("dev", number, tasks.source("dev", number)) for number in numbers]
        assert [answer.score for answer in answers] == expected
        assert answers[-1].next is None
        state = service.run(player, opened.run)
        assert state.finished
        assert state.index == state.total == 14
        assert state.cumulative_reward == pytest.approx(sum(expected), abs=1e-11)

    def test_a_fresh_run_has_no_last_round(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        assert service.run(player, run).as_dict() == {
            "run": run,
            "phase": "mock",
            "system": "copy",
            "index": 0,
            "total": 5,
            "finished": False,
            "cumulative_reward": 0.0,
            "last": None,
        }

    def test_the_pending_sentence_stays_until_it_is_answered(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        assert first.as_dict() == {"id": first.id, "index": 0, "total": 5, "source": tasks.source("mock", 0)}
        assert service.sentence(player, run) == first
        answer = service.translate(player, run, first.id, "rot und blau")
        assert answer.as_dict() == {"score": score("mock", 0, "rot und blau"), "next": answer.next.as_dict()}
        assert service.sentence(player, run) == answer.next
        assert answer.next.index == 1

    def test_the_last_round_tells_a_crashed_learner_what_it_missed(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot und blau")
        assert service.run(player, run).as_dict()["last"] == {
            "id": first.id,
            "index": 0,
            "source": first.source,
            "translation": "rot und blau",
            "score": answer.score,
        }

    def test_a_finished_run_has_no_more_sentences(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run)
        with pytest.raises(errors.RunFinishedError):
            service.sentence(player, run)

    def test_two_runs_do_not_touch_each_other(self, setting):
        service, player = setting
        one, two = (service.open_run(player, "mock", system).run for system in ("one", "two"))
        tasks.play(service, player, one, rounds=3)
        assert service.run(player, two).index == 0
        assert service.run(player, one).index == 3


class TestOneFeedbackPerSentence:
    def test_the_same_again_gets_the_same_answer(self, setting):
        """Whether the first answer was lost or not, and however late."""
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        assert service.translate(player, run, first.id, "rot") == answer
        tasks.play(service, player, run)
        assert service.translate(player, run, first.id, "rot") == answer

    def test_the_last_answer_of_a_run_is_replayed_too(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=4)
        last = service.sentence(player, run)
        answer = service.translate(player, run, last.id, "blau")
        assert answer.next is None
        assert service.translate(player, run, last.id, "blau") == answer

    def test_a_different_translation_is_refused(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        service.translate(player, run, first.id, "rot")
        with pytest.raises(errors.TranslationConflictError, match="retrying is pointless"):
            service.translate(player, run, first.id, "rot ")
        assert service.run(player, run).last.translation == "rot"
        assert service.run(player, run).index == 1

    def test_another_instance_replays_byte_for_byte(self, setting, store):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        assert Service(store).translate(player, run, first.id, "rot").as_dict() == answer.as_dict()
        assert Service(store).sentence(player, run) == answer.next


class TestIds:
    @pytest.mark.parametrize("token", ["", "x", "A" * 50, "ä", "\ud800", "x" * 100_000])
    def test_a_made_up_id(self, embedded, token):
        _, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        with pytest.raises(errors.WrongSentenceError, match="retrying is pointless"):
            service.translate(player, run, token, "rot")
        assert service.run(player, run).index == 0

    def test_an_id_cannot_be_carried_to_another_run_or_participant(self, embedded):
        store, service, player = embedded
        other = tasks.participant(store, service, "other")
        own, second = (service.open_run(player, "mock", system).run for system in ("one", "two"))
        foreign = service.open_run(other, "mock", "one").run
        token = service.sentence(player, own).id
        with pytest.raises(errors.WrongSentenceError):
            service.translate(player, second, token, "rot")
        with pytest.raises(errors.WrongSentenceError):
            service.translate(other, foreign, token, "rot")

    def test_rotating_the_token_keys_disturbs_nobody(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        Registry(store).rotate_ring(keep=True)
        fresh = Service(store)
        assert fresh.sentence(player, run) == first
        answer = fresh.translate(player, run, first.id, "rot")
        assert service.translate(player, run, first.id, "rot") == answer

    def test_a_function_that_slept_through_a_rotation_wakes_up(self, embedded):
        """A run opened elsewhere under a key that this function has never seen."""
        store, asleep, player = embedded
        asleep.sentence(player, asleep.open_run(player, "mock", "old").run)
        Registry(store).rotate_ring(keep=True)
        awake = Service(store)
        run = awake.open_run(player, "mock", "new").run
        first = awake.sentence(player, run)
        assert asleep.translate(player, run, first.id, "rot") == awake.translate(player, run, first.id, "rot")

    def test_and_issues_ids_under_the_new_key(self, embedded):
        store, asleep, player = embedded
        asleep.sentence(player, asleep.open_run(player, "mock", "old").run)
        Registry(store).rotate_ring(keep=True)
        awake = Service(store)
        run = awake.open_run(player, "mock", "new").run
        assert asleep.sentence(player, run) == awake.sentence(player, run)

    def test_voiding_the_token_keys_voids_ids_but_loses_no_round(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=2)
        old = service.sentence(player, run)
        Registry(store).rotate_ring(keep=False)
        fresh = Service(store)
        with pytest.raises(errors.WrongSentenceError):
            fresh.translate(player, run, old.id, "rot")
        assert len(tasks.play(fresh, player, run)) == 3

    def test_an_id_from_after_a_backup_leaves_no_gap(self, embedded):
        """A ledger restored to an earlier state must not take a round whose predecessor it has lost."""
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=2)
        ahead = service.sentence(player, run)
        store._connection.execute("DELETE FROM rounds WHERE position = 1")
        with pytest.raises(errors.WrongSentenceError):
            service.translate(player, run, ahead.id, "rot")
        assert service.run(player, run).index == 1


class TestOpening:
    def test_an_unfinished_run_is_returned(self, setting):
        service, player = setting
        opened = service.open_run(player, "dev", "copy")
        tasks.play(service, player, opened.run, rounds=3)
        assert service.open_run(player, "dev", "copy") == replace(opened, index=3)

    def test_a_finished_run_of_dev_is_followed_by_another(self, setting):
        service, player = setting
        first = service.open_run(player, "mock", "copy")
        tasks.play(service, player, first.run)
        second = service.open_run(player, "mock", "copy")
        assert second.run != first.run
        assert second.index == 0
        assert service.open_run(player, "mock", "copy") == second
        assert service.run(player, first.run).finished

    def test_training_is_played_once_per_system(self, setting):
        service, player = setting
        first = service.open_run(player, "training", "copy")
        tasks.play(service, player, first.run)
        with pytest.raises(errors.AlreadyPlayedError, match="retrying is pointless") as refusal:
            service.open_run(player, "training", "copy")
        assert refusal.value.as_dict("r")["run"] == first.run
        assert service.open_run(player, "training", "other").index == 0

    def test_a_finished_run_whose_claim_was_lost_is_still_finished(self, embedded):
        """The task table restored to before the run, the ledger not."""
        store, service, player = embedded
        runs = {phase: service.open_run(player, phase, "copy").run for phase in ("training", "mock")}
        for run in runs.values():
            tasks.play(service, player, run)
        store._connection.execute("DELETE FROM documents WHERE kind LIKE 'run/%'")
        for _ in range(2):
            with pytest.raises(errors.AlreadyPlayedError) as refusal:
                service.open_run(player, "training", "copy")
            assert refusal.value.run == runs["training"]
        second = service.open_run(player, "mock", "copy")
        assert (second.index, second.run != runs["mock"]) == (0, True)
        assert [claim.attempt for claim in Registry(store).claims("acme", "mock")] == [1, 2]

    def test_and_an_unfinished_one_goes_on(self, embedded):
        store, service, player = embedded
        opened = service.open_run(player, "training", "copy")
        tasks.play(service, player, opened.run, rounds=2)
        store._connection.execute("DELETE FROM documents WHERE kind LIKE 'run/%'")
        assert service.open_run(player, "training", "copy") == replace(opened, index=2)

    def test_two_participants_may_use_the_same_name_for_a_system(self, embedded):
        store, service, player = embedded
        other = tasks.participant(store, service, "other")
        assert service.open_run(player, "mock", "copy").run != service.open_run(other, "mock", "copy").run

    def test_an_unknown_phase(self, embedded):
        _, service, player = embedded
        for phase in ("test", "", "../dev", "x" * 3_000, "\ud800"):
            with pytest.raises(errors.PhaseNotFoundError):
                service.open_run(player, phase, "copy")

    @pytest.mark.parametrize("system", ["", "a b", "a/b", "x" * 65, "<script>", "\ud800", "é"])
    def test_a_name_that_no_system_can_have(self, embedded, system):
        _, service, player = embedded
        with pytest.raises(errors.BadRequestError, match="name of a system"):
            service.open_run(player, "dev", system)

    def test_the_budget_of_runs(self, sqlite):
        service, player = tasks.fresh(sqlite, runs=2)
        for system in ("one", "two"):
            tasks.play(service, player, service.open_run(player, "mock", system).run)
        for system in ("one", "three"):
            with pytest.raises(errors.QuotaExceededError, match="all 2 runs"):
                service.open_run(player, "mock", system)
        assert service.open_run(player, "dev", "one").index == 0
        Registry(sqlite).set_phase("mock", PhaseState.OPEN, runs=3)
        assert service.open_run(player, "mock", "three").index == 0

    def test_a_budget_does_not_keep_anybody_from_an_unfinished_run(self, sqlite):
        service, player = tasks.fresh(sqlite, runs=1)
        opened = service.open_run(player, "mock", "one")
        assert service.open_run(player, "mock", "one") == opened

    def test_somebody_is_always_faster(self, embedded, monkeypatch):
        _, service, player = embedded
        monkeypatch.setattr(service._registry, "claim", lambda *_, **__: False)
        with pytest.raises(errors.UnavailableError) as refusal:
            service.open_run(player, "mock", "copy")
        assert refusal.value.retry_after == 1


class TestGates:
    def gate(self, store, state):
        Registry(store).set_phase("mock", state)
        return Service(store)  # as if the memory of the old one had faded

    def test_a_closed_phase_takes_nothing_new(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=1)
        pending = service.sentence(player, run)
        closed = self.gate(store, PhaseState.CLOSED)
        for refused in (
            lambda: closed.open_run(player, "mock", "copy"),
            lambda: closed.open_run(player, "mock", "other"),
            lambda: closed.translate(player, run, pending.id, "rot"),
        ):
            with pytest.raises(errors.PhaseClosedError):
                refused()
        assert closed.run(player, run).index == 1

    def test_but_an_answer_that_was_lost_is_still_given(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        closed = self.gate(store, PhaseState.CLOSED)
        assert closed.translate(player, run, first.id, "rot") == answer
        with pytest.raises(errors.TranslationConflictError):
            closed.translate(player, run, first.id, "blau")

    def test_a_frozen_phase_lets_runs_finish_but_none_begin(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        frozen = self.gate(store, PhaseState.FROZEN)
        assert frozen.open_run(player, "mock", "copy").run == run
        tasks.play(frozen, player, run)
        assert frozen.run(player, run).finished
        for system in ("copy", "other"):
            with pytest.raises(errors.PhaseClosedError, match="frozen"):
                frozen.open_run(player, "mock", system)

    def test_a_phase_that_is_closed_while_a_run_is_being_opened_begins_none(self, embedded, monkeypatch):
        store, service, player = embedded
        documents = store.documents

        def closing(kind):
            if kind.startswith("run/"):
                Registry(store).set_phase("mock", PhaseState.CLOSED)
            return documents(kind)

        monkeypatch.setattr(store, "documents", closing)
        with pytest.raises(errors.PhaseClosedError):
            service.open_run(player, "mock", "copy")
        assert documents("run/acme/mock") == []

    def test_a_phase_can_be_opened_again(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        self.gate(store, PhaseState.CLOSED)
        assert len(tasks.play(self.gate(store, PhaseState.OPEN), player, run)) == 5

    def test_the_other_phases_stay_open(self, embedded):
        store, _, player = embedded
        closed = self.gate(store, PhaseState.CLOSED)
        assert closed.open_run(player, "dev", "copy").index == 0

    def test_everybody_can_see_what_is_open(self, embedded):
        store, _, _ = embedded
        closed = self.gate(store, PhaseState.CLOSED)
        assert [phase.as_dict() for phase in closed.phases()] == [
            {"phase": "training", "state": "open", "total": 4, "repeatable": False, "runs": 100},
            {"phase": "mock", "state": "closed", "total": 5, "repeatable": True, "runs": 1000},
            {"phase": "dev", "state": "open", "total": 14, "repeatable": True, "runs": 1000},
        ]


class TestKeys:
    def test_a_key_opens_the_door(self, embedded):
        store, service, _ = embedded
        key = Registry(store).add_participant("beta")
        assert service.authenticate(key).name == "beta"

    @pytest.mark.parametrize("key", [None, "", "x", "bmt_" + "a" * 43, "ä" * 47, "\ud800", "x" * 1_000_000])
    def test_what_is_no_key(self, embedded, key):
        _, service, _ = embedded
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(key)

    def test_a_revoked_key(self, embedded):
        store, service, _ = embedded
        registry = Registry(store)
        old = registry.add_participant("beta")
        registry.revoke_keys("beta")
        new = registry.add_key("beta")
        assert service.authenticate(new).name == "beta"
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(old)

    def test_a_disabled_participant(self, embedded):
        store, service, _ = embedded
        key = Registry(store).add_participant("beta")
        Registry(store).set_disabled("beta", True)
        with pytest.raises(errors.InvalidKeyError):
            service.authenticate(key)

    def test_all_refusals_look_alike(self, embedded):
        """Nobody learns from the answer whether a key exists."""
        store, service, _ = embedded
        registry = Registry(store)
        revoked, disabled = registry.add_participant("beta"), registry.add_participant("gamma")
        registry.revoke_keys("beta")
        registry.set_disabled("gamma", True)
        messages = set()
        for key in (None, "", "bmt_" + "a" * 43, revoked, disabled):
            with pytest.raises(errors.InvalidKeyError) as refusal:
                service.authenticate(key)
            messages.add(refusal.value.message)
        assert len(messages) == 1

    def test_how_long_a_revoked_key_may_still_work(self, sqlite):
        tasks.load(sqlite)
        registry = Registry(sqlite)
        key = registry.add_participant("beta")
        service, strict = Service(sqlite, staleness=1_000), Service(sqlite, staleness=0)
        assert service.authenticate(key) == strict.authenticate(key)
        registry.revoke_keys("beta")
        assert service.authenticate(key).name == "beta"
        with pytest.raises(errors.InvalidKeyError):
            strict.authenticate(key)

    def test_other_people_s_runs_do_not_exist(self, embedded):
        store, service, player = embedded
        other = tasks.participant(store, service, "other")
        run = service.open_run(player, "mock", "copy").run
        token = service.sentence(player, run).id
        messages = set()
        for name in (run, "a" * 26, "", "x" * 3_000, "\ud800", "../x"):
            for call in (
                lambda name=name: service.run(other, name),
                lambda name=name: service.sentence(other, name),
                lambda name=name: service.translate(other, name, token, "rot"),
            ):
                with pytest.raises(errors.RunNotFoundError) as refusal:
                    call()
                messages.add(refusal.value.message)
        assert len(messages) == 1


class TestTranslations:
    @pytest.mark.parametrize("text", ["", " ", "\u00a0", "\u2003 "])
    def test_an_empty_one(self, embedded, text):
        self.refuse(embedded, text, errors.InvalidTranslationError, "empty")

    @pytest.mark.parametrize("text", ["a\0b", "a\nb", "a\r", "a\tb", "\x1b[31mx", "\x7f", "\x85b", "\ud800", "\udfffb"])
    def test_one_that_is_not_a_line_of_text(self, embedded, text):
        self.refuse(embedded, text, errors.InvalidTranslationError, "one line of text")

    @pytest.mark.parametrize("text", ["caf\ufffd red", "\ufffd"])
    def test_one_whose_bytes_were_not_utf_8(self, embedded, text):
        """A gateway puts U+FFFD where it cannot decode; the round would be committed with what nobody wrote."""
        self.refuse(embedded, text, errors.InvalidTranslationError, "UTF-8")

    @pytest.mark.parametrize("text", ["x" * (MAX_CHARACTERS + 1), "rot " * 100_000])
    def test_one_that_is_too_long(self, embedded, text):
        self.refuse(embedded, text, errors.TooLargeError, "at most 4,000 characters")

    def refuse(self, embedded, text, error, message):
        _, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        with pytest.raises(error, match=message):
            service.translate(player, run, service.sentence(player, run).id, text)
        assert service.run(player, run).index == 0

    @pytest.mark.parametrize(
        "text",
        ["x" * MAX_CHARACTERS, "𝄞", "🇩🇪 größe", "مرحبا", "a\u200db", "  rot   \u00a0blau ", "<script>", "'; --"],
    )
    def test_anything_else_is_kept_exactly_as_it_was_sent(self, setting, text):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        answer = service.translate(player, run, service.sentence(player, run).id, text)
        assert service.run(player, run).last.translation == text
        assert answer.score == score("mock", 0, text)

    def test_scoring_does_not_care_how_tokens_are_spaced(self, embedded):
        _, service, player = embedded
        scores = set()
        for system, text in (("one", "rot und blau"), ("two", "  rot   und\u00a0blau ")):
            run = service.open_run(player, "mock", system).run
            scores.add(service.translate(player, run, service.sentence(player, run).id, text).score)
        assert len(scores) == 1


class TestPerturbedFeedback:
    """What is perturbed is only what the learner sees; and nothing that it sees gives the clean score away."""

    @pytest.fixture
    def thumbs(self, sqlite):
        return tasks.fresh(sqlite, feedback=Feedback("granular:1"))

    def test_the_learner_sees_thumbs_and_their_sum(self, thumbs, sqlite):
        service, player = thumbs
        run = service.open_run(player, "mock", "copy").run
        answers = tasks.play(service, player, run)
        assert [answer.score for answer in answers] == [0.0] * 5
        assert service.run(player, run).cumulative_reward == 0.0
        assert service.run(player, run).last.score == 0.0
        assert all(played.clean > 0 for played in sqlite.rounds(run))
        assert sqlite.progress(run).last.clean_ticks > 0

    def test_ids_do_not_show_the_clean_sum(self, sqlite):
        """Same run, same indices, different clean scores behind the same thumbs: ids of equal length, all different."""
        service, player = tasks.fresh(sqlite, feedback=Feedback("granular:1"))
        run = service.open_run(player, "dev", "copy").run
        ids = [answer.next.id for answer in tasks.play(service, player, run) if answer.next]
        assert len({len(token) for token in ids}) == 1
        assert len(set(ids)) == 13

    def test_noise_is_the_same_for_a_replay(self, sqlite):
        service, player = tasks.fresh(sqlite, feedback=Feedback("high-variance:1", seed=7))
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, first.source)
        assert service.translate(player, run, first.id, first.source) == answer
        assert answer.score != sqlite.round(run, 0).clean


def test_a_phase_that_vanished(embedded):
    store, service, player = embedded
    run = service.open_run(player, "mock", "copy").run
    store._connection.execute("DELETE FROM documents WHERE kind = 'phase'")
    with pytest.raises(errors.PhaseNotFoundError):
        Service(store).sentence(player, run)
