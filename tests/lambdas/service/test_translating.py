"""Committing a translation: one feedback per sentence, the ids, and what a translation is."""

import pytest

from lambdas import errors
from lambdas.registry import Registry
from lambdas.service import Service
from leaderboard.metrics.bleu import sentence_bleu
from task.feedback import FeedbackSpec
from task.limits import MAX_TRANSLATION_CHARACTERS
from tests.lambdas import tasks


def score(phase, number, translation):
    return sentence_bleu(translation, tasks.reference(phase, number))


class TestOneFeedbackPerSentence:
    def test_resending_a_translation_returns_the_same_answer(self, setting):
        """This holds whether or not the first answer was lost, and however late the translation is resent."""
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        assert service.translate(player, run, first.id, "rot") == answer
        tasks.play(service, player, run)
        assert service.translate(player, run, first.id, "rot") == answer

    def test_the_last_answer_of_a_run_can_be_repeated_too(self, setting):
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

    def test_another_instance_repeats_the_answer_byte_for_byte(self, setting, store):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, "rot")
        assert Service(store).translate(player, run, first.id, "rot").as_dict() == answer.as_dict()
        assert Service(store).sentence(player, run) == answer.next


class TestIds:
    @pytest.mark.parametrize("token", ["", "x", "A" * 50, "ä", "\ud800", "x" * 100_000])
    def test_an_invented_id_is_refused(self, embedded, token):
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

    def test_rotating_the_token_keys_keeps_issued_ids_valid(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        Registry(store).rotate_key_ring(keep=True)
        fresh = Service(store)
        assert fresh.sentence(player, run) == first
        answer = fresh.translate(player, run, first.id, "rot")
        assert service.translate(player, run, first.id, "rot") == answer

    def test_a_function_that_missed_a_rotation_reads_ids_of_the_new_key(self, embedded):
        """Another function opened the run under a key that this one has not loaded yet."""
        store, asleep, player = embedded
        asleep.sentence(player, asleep.open_run(player, "mock", "old").run)
        Registry(store).rotate_key_ring(keep=True)
        awake = Service(store)
        run = awake.open_run(player, "mock", "new").run
        first = awake.sentence(player, run)
        assert asleep.translate(player, run, first.id, "rot") == awake.translate(player, run, first.id, "rot")

    def test_a_function_that_missed_a_rotation_issues_ids_under_the_new_key(self, embedded):
        store, asleep, player = embedded
        asleep.sentence(player, asleep.open_run(player, "mock", "old").run)
        Registry(store).rotate_key_ring(keep=True)
        awake = Service(store)
        run = awake.open_run(player, "mock", "new").run
        assert asleep.sentence(player, run) == awake.sentence(player, run)

    def test_voiding_the_token_keys_voids_ids_but_loses_no_round(self, embedded):
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=2)
        old = service.sentence(player, run)
        Registry(store).rotate_key_ring(keep=False)
        fresh = Service(store)
        with pytest.raises(errors.WrongSentenceError):
            fresh.translate(player, run, old.id, "rot")
        assert len(tasks.play(fresh, player, run)) == 3

    def test_an_id_issued_after_the_restored_backup_leaves_no_gap(self, embedded):
        """A ledger restored to an earlier state must not take a round whose predecessor it has lost."""
        store, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        tasks.play(service, player, run, rounds=2)
        ahead = service.sentence(player, run)
        store._writer.execute("DELETE FROM rounds WHERE position = 1")
        with pytest.raises(errors.WrongSentenceError):
            service.translate(player, run, ahead.id, "rot")
        assert service.run(player, run).index == 1


class TestTranslations:
    @pytest.mark.parametrize("text", ["", " ", "\u00a0", "\u2003 "])
    def test_an_empty_translation_is_refused(self, embedded, text):
        self.refuse(embedded, text, errors.InvalidTranslationError, "empty")

    @pytest.mark.parametrize("text", ["a\0b", "a\nb", "a\r", "a\tb", "\x1b[31mx", "\x7f", "\x85b", "\ud800", "\udfffb"])
    def test_a_translation_that_is_not_one_line_is_refused(self, embedded, text):
        self.refuse(embedded, text, errors.InvalidTranslationError, "one line of text")

    @pytest.mark.parametrize("text", ["caf\ufffd red", "\ufffd"])
    def test_a_translation_with_undecoded_bytes_is_refused(self, embedded, text):
        """A gateway decodes invalid bytes to U+FFFD, and would commit a text that the system did not send."""
        self.refuse(embedded, text, errors.InvalidTranslationError, "UTF-8")

    @pytest.mark.parametrize("text", ["x" * (MAX_TRANSLATION_CHARACTERS + 1), "rot " * 100_000])
    def test_a_translation_that_is_too_long_is_refused(self, embedded, text):
        self.refuse(embedded, text, errors.TooLargeError, "at most 4,000 characters")

    def refuse(self, embedded, text, error, message):
        _, service, player = embedded
        run = service.open_run(player, "mock", "copy").run
        with pytest.raises(error, match=message):
            service.translate(player, run, service.sentence(player, run).id, text)
        assert service.run(player, run).index == 0

    @pytest.mark.parametrize(
        "text",
        [
            "x" * MAX_TRANSLATION_CHARACTERS,
            "𝄞",
            "🇩🇪 größe",
            "مرحبا",
            "a\u200db",
            "  rot   \u00a0blau ",
            "<script>",
            "'; --",
        ],
    )
    def test_any_other_text_is_stored_exactly_as_it_was_sent(self, setting, text):
        service, player = setting
        run = service.open_run(player, "mock", "copy").run
        answer = service.translate(player, run, service.sentence(player, run).id, text)
        assert service.run(player, run).last.translation == text
        assert answer.score == score("mock", 0, text)

    def test_the_spacing_of_tokens_does_not_change_the_score(self, embedded):
        _, service, player = embedded
        scores = set()
        for system, text in (("one", "rot und blau"), ("two", "  rot   und\u00a0blau ")):
            run = service.open_run(player, "mock", system).run
            scores.add(service.translate(player, run, service.sentence(player, run).id, text).score)
        assert len(scores) == 1


class TestNoisyFeedback:
    """Noise changes only the observed reward, and nothing that the learner sees reveals the true reward."""

    @pytest.fixture
    def thumbs(self, sqlite):
        return tasks.start_service(sqlite, feedback=FeedbackSpec("granular:1"))

    def test_the_learner_receives_noisy_rewards_and_their_sum(self, thumbs, sqlite):
        service, player = thumbs
        run = service.open_run(player, "mock", "copy").run
        answers = tasks.play(service, player, run)
        assert [answer.score for answer in answers] == [0.0] * 5
        assert service.run(player, run).cumulative_reward == 0.0
        assert service.run(player, run).last.score == 0.0
        assert all(played.true_reward > 0 for played in sqlite.rounds(run))
        assert sqlite.progress(run).last.true_ticks > 0

    def test_ids_do_not_reveal_the_sum_of_true_rewards(self, sqlite):
        """Rounds with equal observed and different true rewards get ids of equal length, all different."""
        service, player = tasks.start_service(sqlite, feedback=FeedbackSpec("granular:1"))
        run = service.open_run(player, "dev", "copy").run
        ids = [answer.next.id for answer in tasks.play(service, player, run) if answer.next]
        assert len({len(token) for token in ids}) == 1
        assert len(set(ids)) == 13

    def test_a_replayed_run_gets_the_same_noise(self, sqlite):
        service, player = tasks.start_service(sqlite, feedback=FeedbackSpec("high-variance:1", seed=7))
        run = service.open_run(player, "mock", "copy").run
        first = service.sentence(player, run)
        answer = service.translate(player, run, first.id, first.source)
        assert service.translate(player, run, first.id, first.source) == answer
        assert answer.score != sqlite.round(run, 0).true_reward
