"""A run from its opening to its last sentence, over every storage engine."""

import pytest

from lambdas import errors
from lambdas.service import Service
from leaderboard.metrics.bleu import sentence_bleu
from tests.lambdas import tasks


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
            "head": None,
        }

    def test_the_pending_sentence_stays_until_it_is_translated(self, setting):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        assert first.as_dict() == {"id": first.id, "index": 0, "total": 5, "source": tasks.source("mock", 0)}
        assert service.sentence(player, run) == first
        answer = service.translate(player, run, first.id, "rot und blau")
        assert answer.as_dict() == {"score": score("mock", 0, "rot und blau"), "next": answer.next.as_dict()}
        assert service.sentence(player, run) == answer.next
        assert answer.next.index == 1

    def test_a_crashed_learner_gets_its_reward_from_the_last_round(self, setting):
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

    def test_two_runs_are_independent(self, setting):
        service, player = setting
        one, two = (service.open_run(player, "mock", system).run for system in ("one", "two"))
        tasks.play(service, player, one, rounds=3)
        assert service.run(player, two).index == 0
        assert service.run(player, one).index == 3


def test_a_run_of_a_deleted_phase_is_an_error(embedded):
    store, service, player = embedded
    run = service.open_run(player, "mock", "copy").run
    store._writer.execute("DELETE FROM documents WHERE kind = 'phase'")
    with pytest.raises(errors.PhaseNotFoundError):
        Service(store).sentence(player, run)
