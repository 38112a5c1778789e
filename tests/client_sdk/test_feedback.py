"""Feedback of every kind in both SDKs: post-edits, documents and log-probabilities."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from banditmt_client import Client, InvalidLogProbabilityError, ProtocolError, Round, Sentence
from banditmt_client.environment import TranslationEnvironment
from tests.client_sdk.fake_service import RUN, FakeConnection, FakeService, score_of, serving

SENTENCES = ["eins", "zwei", "drei"]
POST_EDITS = ["one", "two", "three"]
DOCUMENTS = [("d0", 0), ("d0", 1), ("d1", 0)]


@pytest.fixture
def server():
    """A task with post-edits and documents."""
    with serving(SENTENCES, post_edits=POST_EDITS, documents=DOCUMENTS) as running:
        yield running


@pytest.fixture
def run(server, client_of):
    return client_of(server).open_run(phase="dev", system="tested")


def send(server, **body):
    """Commit a round as another process does."""
    server.service.respond("POST", f"/v1/runs/{RUN}/translations", body)


# post-edits


def test_the_last_round_has_the_post_edit_of_the_translation_just_submitted(run):
    seen = []
    for sentence in run:
        run.submit(sentence.source)
        seen.append(run.last.post_edit)
    assert seen == POST_EDITS


def test_after_a_crash_the_last_round_has_the_post_edit_of_the_last_committed_round(server, run, client_of):
    run.sentence()
    run.submit("uno")
    send(server, id="t1", translation="dos")  # committed by a process that crashed before it received the feedback
    resumed = client_of(server).open_run(phase="dev", system="tested")
    assert resumed.last == Round("t1", 1, "zwei", "dos", score_of("dos"), "two", "d0", 1)


def test_in_a_bandit_phase_a_round_has_no_post_edit(client_of):
    with serving(SENTENCES) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        run.sentence()
        run.submit("uno")
        assert run.last == Round("t0", 0, "eins", "uno", score_of("uno"), None, None, None)


@pytest.mark.parametrize("post_edit", [7, True, ["one"], {}])
def test_a_post_edit_that_is_no_text_is_refused_and_the_sentence_stays_pending(post_edit, server, run):
    run.sentence()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server.service, "respond", lambda *_: (200, {"score": 0.5, "post_edit": post_edit, "next": None}))
        with pytest.raises(ProtocolError, match="post_edit"):
            run.submit("uno")
    assert run.submit("uno") == score_of("uno")
    assert run.last.post_edit == "one"


# documents


def test_a_sentence_has_its_document_and_its_position_in_it(run):
    assert run.sentence() == Sentence("t0", 0, 3, "eins", "d0", 0)
    run.submit("uno")
    assert run.sentence() == Sentence("t1", 1, 3, "zwei", "d0", 1)
    assert run.last == Round("t0", 0, "eins", "uno", score_of("uno"), "one", "d0", 0)
    run.submit("dos")
    assert run.sentence() == Sentence("t2", 2, 3, "drei", "d1", 0)


def test_a_sentence_of_a_task_without_documents_has_no_document(client_of):
    with serving(SENTENCES) as server:
        sentence = client_of(server).open_run(phase="dev", system="tested").sentence()
        assert (sentence.document, sentence.position) == (None, None)


def test_an_environment_tells_documents_and_post_edits_in_its_info(run):
    environment = TranslationEnvironment(run)
    assert environment.reset() == ("eins", {"index": 0, "total": 3, "document": "d0", "position": 0})
    assert environment.step("uno")[4] == {"index": 1, "total": 3, "document": "d0", "position": 1, "post_edit": "one"}
    environment.step("dos")
    assert environment.step("tres") == (None, score_of("tres"), True, False, {"post_edit": "three"})


# log-probabilities


@pytest.mark.parametrize("log_probability", [-1.25, -1e-300, -1e300, 0.0, None])
def test_a_log_probability_is_sent_with_its_translation(log_probability, server, run):
    run.sentence()
    assert run.submit("uno", log_probability=log_probability) == score_of("uno")
    assert server.service.log_probabilities == [log_probability]


def test_without_a_log_probability_none_is_sent(server, run):
    run.sentence()
    run.submit("uno")
    assert server.service.log_probabilities == [None]


@pytest.mark.parametrize("log_probability", [1e-9, 0.5, math.nan, math.inf, -math.inf])
def test_an_invalid_log_probability_is_refused_before_it_costs_a_call(log_probability, server, run):
    run.sentence()
    calls = len(server.service.requests)
    with pytest.raises(InvalidLogProbabilityError, match="must be a finite number of at most 0, not "):
        run.submit("uno", log_probability=log_probability)
    assert len(server.service.requests) == calls
    assert run.submit("uno") == score_of("uno")


@pytest.mark.parametrize("log_probability", ["-1", True, False, b"-1", [], object(), 10**400, np.array([-1.0, -2.0])])
def test_the_python_sdk_refuses_what_is_no_number(log_probability):
    service = FakeService(SENTENCES)
    run = Client(connection=FakeConnection(service)).open_run(phase="dev", system="tested")
    run.sentence()
    with pytest.raises(InvalidLogProbabilityError):
        run.submit("uno", log_probability=log_probability)
    assert service.ledger == []


@pytest.mark.parametrize("log_probability", [-1, np.float32(-1), np.float64(-1), np.array(-1.0), Fraction(-1)])
def test_the_python_sdk_accepts_numbers_of_every_type(log_probability):
    service = FakeService(SENTENCES)
    run = Client(connection=FakeConnection(service)).open_run(phase="dev", system="tested")
    run.sentence()
    run.submit("uno", log_probability=log_probability)
    assert json.dumps(service.log_probabilities) == "[-1.0]"
