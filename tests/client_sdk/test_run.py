"""Runs of both SDKs: one sentence at a time, one translation for each, progress and the last round."""

import math

import pytest

from banditmt_client import ConflictError, InvalidTranslationError, OrderError, Progress, ProtocolError, Round, Sentence
from banditmt_client.environment import TranslationEnvironment
from banditmt_client.run import _check_translation as check_translation
from task.limits import MAX_TRANSLATION_CHARACTERS, is_one_line
from tests.client_sdk.fake_service import RUN, score_of, serving

SENTENCES = ["eins", "zwei"]


@pytest.fixture
def run(client_of):
    with serving(SENTENCES) as server:
        yield client_of(server).open_run(phase="dev", system="tested")


def test_a_new_run_has_no_rounds(run):
    assert (run.id, run.phase, run.system, run.total) == (RUN, "dev", "tested", 2)
    assert repr(run) == f"<Run {RUN} of 'tested' in dev: 0 of 2 rounds>"
    assert run.last is None
    assert run.progress == Progress(0, 2, 0.0)


def test_a_sentence_is_pending_until_it_is_translated(run):
    assert run.sentence() == run.sentence() == Sentence("t0", 0, 2, "eins")
    run.submit("one")
    assert run.sentence() == Sentence("t1", 1, 2, "zwei")


def test_progress_and_the_last_round_are_updated_by_submit(run):
    assert run.progress.index == 0
    run.sentence()
    run.submit("one")
    assert run.last == Round("t0", 0, "eins", "one", score_of("one"))
    assert run.progress == Progress(1, 2, score_of("one"))
    run.submit("two")
    assert run.progress == Progress(2, 2, score_of("one") + score_of("two"))
    assert run.progress.finished
    assert run.sentence() is None


def test_the_next_sentence_before_a_translation_is_refused(run):
    with pytest.raises(OrderError, match="round 0 has no translation yet: submit one before"):
        list(run)


def test_a_translation_without_a_pending_sentence_is_refused(run):
    with pytest.raises(OrderError, match="no sentence is pending: ask for one first"):
        run.submit("one")


def test_a_translation_in_a_finished_run_is_refused(run):
    for _ in run:
        run.submit("one")
    with pytest.raises(OrderError, match="this run is finished"):
        run.submit("two")


@pytest.mark.parametrize("translation", ["", "  ", "\u3000", None, 7, "a\nb", "a\tb", "a\x00b", "\ud800"])
def test_an_invalid_translation_is_refused_and_the_sentence_stays_pending(translation, run):
    run.sentence()
    with pytest.raises(InvalidTranslationError):
        run.submit(translation)
    assert run.submit("one") == score_of("one")


def test_the_longest_translation_is_that_of_the_service(run):
    run.sentence()
    with pytest.raises(InvalidTranslationError, match=r"has 4,001 characters, and the limit is 4,000"):
        run.submit("𝄞" * (MAX_TRANSLATION_CHARACTERS + 1))
    longest = "𝄞" * MAX_TRANSLATION_CHARACTERS
    assert run.submit(longest) == score_of(longest)


def test_a_run_that_another_process_finished_is_finished(client_of):
    with serving(SENTENCES) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        for index, source in enumerate(SENTENCES):
            server.service.respond("POST", f"/v1/runs/{RUN}/translations", {"id": f"t{index}", "translation": source})
        assert run.sentence() is None
        assert run.progress.finished


def test_a_finished_run_is_not_played_again_unless_asked_for(client_of):
    with serving(SENTENCES) as server:
        client = client_of(server)
        run = client.open_run(phase="dev", system="tested", again=False)
        for _ in run:
            run.submit("one")
        with pytest.raises(ConflictError) as refused:
            client.open_run(phase="dev", system="tested", again=False)
        assert (refused.value.code, refused.value.run) == ("already_played", RUN)
        assert client.open_run(phase="dev", system="tested").progress.finished


INVALID_SCORES = [math.nan, math.inf, -math.inf, -0.01, 1.01, 2, 10**400]
INVALID_RESPONSES = [
    *({}, {"score": "high", "next": None}, {"score": True}, {"score": 0.5, "next": 3}, {"score": 0.5, "next": {}}),
    *({"score": number, "next": None} for number in INVALID_SCORES),
]


@pytest.mark.parametrize("body", INVALID_RESPONSES)
def test_a_response_without_a_valid_score_is_refused_and_the_sentence_stays_pending(body, client_of):
    with serving(SENTENCES) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        run.sentence()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(server.service, "respond", lambda *_: (200, body))
            with pytest.raises(ProtocolError):
                run.submit("one")
        assert run.submit("one") == score_of("one")


@pytest.mark.parametrize("score", [0, 1, 0.0, 1.0])
def test_zero_and_one_are_valid_scores(score, client_of, monkeypatch):
    with serving(SENTENCES) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        run.sentence()
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, {"score": score, "next": None}))
        assert run.submit("one") == score


@pytest.mark.parametrize("number", [math.nan, math.inf, -0.01, 2.01, 10**400], ids=lambda number: str(number)[:8])
def test_an_invalid_cumulative_reward_is_refused(number, client_of, monkeypatch):
    with serving(SENTENCES) as server:
        run = client_of(server, retries=0).open_run(phase="dev", system="tested")
        state = {**server.service.state(), "cumulative_reward": number}
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, state))
        with pytest.raises(ProtocolError):
            _ = run.progress


@pytest.mark.parametrize("score", INVALID_SCORES, ids=lambda score: str(score)[:8])
def test_an_invalid_score_of_the_last_round_is_refused(score, client_of, monkeypatch):
    with serving(SENTENCES) as server:
        server.service.respond("POST", f"/v1/runs/{RUN}/translations", {"id": "t0", "translation": "one"})
        run = client_of(server, retries=0).open_run(phase="dev", system="tested")
        state = server.service.state()
        state["last"]["score"] = score
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, state))
        with pytest.raises(ProtocolError):
            _ = run.last


def test_a_run_can_be_played_as_a_gymnasium_environment(run):
    environment = TranslationEnvironment(run)
    assert environment.reset() == ("eins", {"index": 0, "total": 2})
    assert environment.step("one") == ("zwei", score_of("one"), False, False, {"index": 1, "total": 2})
    assert environment.step("two") == (None, score_of("two"), True, False, {})
    assert environment.reset() == (None, {})
    with pytest.raises(OrderError, match="finished"):
        environment.step("three")


@pytest.mark.parametrize(
    "characters", [range(0x120), range(0x2020, 0x2030), range(0xD7F0, 0xE010), range(0xFFF0, 0x10000)]
)
def test_the_python_sdk_refuses_the_same_characters_as_the_service(characters):
    """It has its own copy of the rule, because it does not depend on ``task``."""
    for text in (f"a{chr(number)}b" for number in characters):
        try:
            check_translation(text)
        except InvalidTranslationError:
            assert not is_one_line(text), ascii(text)
        else:
            assert is_one_line(text), ascii(text)
