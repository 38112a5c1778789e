"""Phases that show post-edits: the reference of a round comes with its answer, and not before."""

from dataclasses import replace

import pytest

from lambdas import errors
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.task_loader import load_phase
from leaderboard.metrics.post_edit import PostEditStatistics
from task.feedback import CHRF, FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

POST_EDIT = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
PHASE = Phase("dev", Layout.plain(3), repeatable=True, feedback=POST_EDIT)
PAIRS = [
    ("der terrier beißt die frau", "the terrier bites the woman"),
    ("der hund beißt den terrier", "the dog bites the terrier"),
    ("der terrier schläft", "the terrier sleeps"),
]


@pytest.fixture
def played(store):
    """A service over a store with a post-edit phase, a participant, and an open run."""
    load_phase(store, PHASE, PAIRS, language="en", block_size=2)
    service = Service(store)
    player = tasks.participant(store, service)
    return service, player, service.open_run(player, "dev", "learner").run


def test_the_answer_holds_the_post_edit_of_its_round(played):
    service, player, run = played
    answers = tasks.play(service, player, run)
    assert [answer.post_edit for answer in answers] == [reference for _, reference in PAIRS]
    assert answers[0].as_dict()["post_edit"] == "the terrier bites the woman"


def test_no_earlier_answer_holds_it(played):
    service, player, run = played
    first = service.sentence(player, run)
    assert "post_edit" not in first.as_dict()
    answer = service.translate(player, run, first.id, "the dog")
    assert PAIRS[1][1] not in str(answer.as_dict())


def test_resending_a_translation_returns_the_same_post_edit(played):
    service, player, run = played
    first = service.sentence(player, run)
    assert service.translate(player, run, first.id, "a") == service.translate(player, run, first.id, "a")


def test_a_refused_translation_gets_no_post_edit(played):
    service, player, run = played
    first = service.sentence(player, run)
    service.translate(player, run, first.id, "a")
    with pytest.raises(errors.TranslationConflictError) as refused:
        service.translate(player, run, first.id, "b")
    assert PAIRS[0][1] not in refused.value.message


def test_a_crashed_learner_gets_the_last_post_edit_back(played):
    service, player, run = played
    assert service.run(player, run).last is None
    tasks.play(service, player, run, rounds=2)
    last = service.run(player, run).as_dict()["last"]
    assert (last["index"], last["post_edit"]) == (1, "the dog bites the terrier")


def test_a_round_keeps_what_adaptation_is_measured_on(played, store):
    service, player, run = played
    translations = iter(["the dog bites the woman", "the dog bites the terrier", "a terrier"])
    tasks.play(service, player, run, translate=lambda _: next(translations))
    kept = [PostEditStatistics.from_bytes(played.statistics) for played in store.rounds(run)]
    assert [each.ter for each in kept] == [(1, 5), (0, 5), (2, 3)]
    # terrier, bites and woman are new; then dog is, and two words have one earlier reference; then only sleeps is new
    assert [each.recall for each in kept] == [((2, 0), (3, 0)), ((1, 2), (1, 2)), ((0, 0), (1, 0))]


def test_a_bandit_phase_shows_nothing_but_a_number(store):
    service, player = tasks.start_service(store)
    run = service.open_run(player, "dev", "learner").run
    answers = tasks.play(service, player, run)
    assert {frozenset(answer.as_dict()) for answer in answers} == {frozenset({"score", "next"})}
    assert "post_edit" not in service.run(player, run).as_dict()["last"]
    assert [played.post_edit for played in store.rounds(run)] == [None] * len(answers)


def test_the_reward_can_be_chrf(store):
    phase = replace(PHASE, feedback=replace(POST_EDIT, metric=CHRF))
    load_phase(store, phase, PAIRS)
    service = Service(store)
    player = tasks.participant(store, service)
    run = service.open_run(player, "dev", "learner").run
    (answer,) = tasks.play(service, player, run, rounds=1, translate=lambda _: "the terrier bites a woman")
    assert answer.score == pytest.approx(0.7371, abs=5e-5)  # sacreBLEU: 73.71
    assert service.phases()[0].signature.startswith("sentChrF2|")


def test_the_phase_says_what_feedback_it_gives(played):
    service, player, _ = played
    (phase,) = service.phases(player)
    assert (phase.feedback, phase.metric, phase.runs_left) == ("post-edit", "sentence-bleu", 999)


def test_loading_again_with_other_feedback_is_refused(played, store):
    with pytest.raises(errors.OrganiserError, match="with other sentences or rules"):
        load_phase(store, replace(PHASE, feedback=FeedbackSpec()), PAIRS)
    assert Registry(store).require_phase("dev").language == "en"
