"""Opening runs: which run is returned, when a new one is opened, and what phases and budgets refuse."""

from dataclasses import replace

import pytest

from lambdas import errors
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from tests.lambdas import tasks


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

    def test_a_finished_run_is_followed_by_none_unless_asked_for(self, setting):
        service, player = setting
        first = service.open_run(player, "mock", "copy", again=False)
        assert service.open_run(player, "mock", "copy", again=False) == first
        tasks.play(service, player, first.run)
        with pytest.raises(errors.AlreadyPlayedError, match="has finished a run of this phase") as refusal:
            service.open_run(player, "mock", "copy", again=False)
        assert refusal.value.run == first.run
        second = service.open_run(player, "mock", "copy", again=True)
        assert service.open_run(player, "mock", "copy", again=False) == second != first

    def test_training_is_played_once_per_system(self, setting):
        service, player = setting
        first = service.open_run(player, "training", "copy")
        tasks.play(service, player, first.run)
        with pytest.raises(errors.AlreadyPlayedError, match="retrying is pointless") as refusal:
            service.open_run(player, "training", "copy")
        assert refusal.value.as_dict("r")["run"] == first.run
        assert service.open_run(player, "training", "other").index == 0

    def test_a_finished_run_whose_claim_was_lost_is_still_finished(self, embedded):
        """The task table was restored to a backup from before the run, but the ledger was not."""
        store, service, player = embedded
        runs = {phase: service.open_run(player, phase, "copy").run for phase in ("training", "mock")}
        for run in runs.values():
            tasks.play(service, player, run)
        store._writer.execute("DELETE FROM documents WHERE kind LIKE 'run/%'")
        for _ in range(2):
            with pytest.raises(errors.AlreadyPlayedError) as refusal:
                service.open_run(player, "training", "copy")
            assert refusal.value.run == runs["training"]
        second = service.open_run(player, "mock", "copy")
        assert (second.index, second.run != runs["mock"]) == (0, True)
        assert [claim.attempt for claim in Registry(store).claims("acme", "mock")] == [1, 2]

    def test_an_unfinished_run_whose_claim_was_lost_resumes(self, embedded):
        store, service, player = embedded
        opened = service.open_run(player, "training", "copy")
        tasks.play(service, player, opened.run, rounds=2)
        store._writer.execute("DELETE FROM documents WHERE kind LIKE 'run/%'")
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
    def test_an_invalid_name_of_a_system_is_refused(self, embedded, system):
        _, service, player = embedded
        with pytest.raises(errors.BadRequestError, match="name of a system"):
            service.open_run(player, "dev", system)

    def test_no_more_runs_than_the_budget_can_be_opened(self, sqlite):
        service, player = tasks.start_service(sqlite, runs=2)
        for system in ("one", "two"):
            tasks.play(service, player, service.open_run(player, "mock", system).run)
        for system in ("one", "three"):
            with pytest.raises(errors.QuotaExceededError, match="all 2 runs"):
                service.open_run(player, "mock", system)
        assert service.open_run(player, "dev", "one").index == 0
        Registry(sqlite).set_phase_state("mock", PhaseState.OPEN, runs=3)
        assert service.open_run(player, "mock", "three").index == 0

    def test_an_unfinished_run_resumes_when_the_budget_is_used_up(self, sqlite):
        service, player = tasks.start_service(sqlite, runs=1)
        opened = service.open_run(player, "mock", "one")
        assert service.open_run(player, "mock", "one") == opened

    def test_a_participant_who_loses_every_race_is_asked_to_retry(self, embedded, monkeypatch):
        _, service, player = embedded
        monkeypatch.setattr(service._registry, "claim", lambda *_, **__: False)
        with pytest.raises(errors.UnavailableError) as refusal:
            service.open_run(player, "mock", "copy")
        assert refusal.value.retry_after == 1


class TestPhaseStates:
    def gate(self, store, state):
        Registry(store).set_phase_state("mock", state)
        return Service(store)  # as if the memory of the old one had faded

    def test_a_closed_phase_takes_no_runs_and_no_translations(self, embedded):
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

    def test_a_closed_phase_still_answers_a_resent_translation(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        closed = self.gate(store, PhaseState.CLOSED)
        assert closed.translate(player, run, first.id, "rot") == answer
        with pytest.raises(errors.TranslationConflictError):
            closed.translate(player, run, first.id, "blau")

    def test_a_frozen_phase_lets_open_runs_finish_but_opens_none(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        frozen = self.gate(store, PhaseState.FROZEN)
        assert frozen.open_run(player, "mock", "copy").run == run
        tasks.play(frozen, player, run)
        assert frozen.run(player, run).finished
        for system in ("copy", "other"):
            with pytest.raises(errors.PhaseClosedError, match="frozen"):
                frozen.open_run(player, "mock", system)

    def test_a_phase_that_closes_while_a_run_is_being_opened_opens_none(self, embedded, monkeypatch):
        store, service, player = embedded
        documents = store.documents

        def closing(kind):
            if kind.startswith("run/"):
                Registry(store).set_phase_state("mock", PhaseState.CLOSED)
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

    def test_closing_a_phase_leaves_the_others_open(self, embedded):
        store, _, player = embedded
        closed = self.gate(store, PhaseState.CLOSED)
        assert closed.open_run(player, "dev", "copy").index == 0

    def test_the_states_of_phases_are_public(self, embedded):
        store, _, _ = embedded
        closed = self.gate(store, PhaseState.CLOSED)
        common = {
            "feedback": "bandit",
            "metric": "sentence-bleu",
            "signature": "sentBLEU|nrefs:1|case:mixed|eff:yes|tok:none|smooth:floor[0.01]|nomatch:floored|v:1",
            "opens_at": None,
            "closes_at": None,
            "runs_left": None,
        }
        assert [phase.as_dict() for phase in closed.phases()] == [
            {"phase": "training", "state": "open", "total": 4, "repeatable": False, "runs": 3, **common},
            {"phase": "mock", "state": "closed", "total": 5, "repeatable": True, "runs": 1000, **common},
            {"phase": "dev", "state": "open", "total": 14, "repeatable": True, "runs": 1000, **common},
        ]
