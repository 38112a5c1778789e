"""Under every fault of the network and the service, an SDK sends and receives what it does on a perfect network."""

import random

import pytest

from tests.client_sdk.fake_service import FAULTS, RUN, score_of, serving

SENTENCES = [f"satz nummer {number} für k-{number}" for number in range(6)]
PERFECT = [(index, source.upper(), score_of(source.upper())) for index, source in enumerate(SENTENCES)]
POST_EDITS = [f"sentence number {number} for k-{number}" for number in range(6)]
DOCUMENTS = [("d0", 0), ("d0", 1), ("d0", 2), ("d1", 0), ("d1", 1), ("d2", 0)]
LOG_PROBABILITIES = [-0.25, -1e-300, 0.0, -1e300, -3.5, -1.0]
FEEDBACK = [(post_edit, *place) for post_edit, place in zip(POST_EDITS, DOCUMENTS, strict=True)]


def play(client):
    """Play a run with the source in capitals as translation; return the rounds with the scores received."""
    run = client.open_run(phase="dev", system="tested")
    return [(sentence.index, sentence.source.upper(), run.submit(sentence.source.upper())) for sentence in run]


def serving_feedback(script):
    """Serve a task with post-edits and documents."""
    return serving(SENTENCES, script, POST_EDITS, DOCUMENTS)


def check_a_run(client, service):
    """Play a run in which every round has a log-probability, a document and a post-edit, and check all of them."""
    run = client.open_run(phase="dev", system="tested")
    scores, feedback = [], []
    for sentence in run:
        scores.append(run.submit(sentence.source.upper(), log_probability=LOG_PROBABILITIES[sentence.index]))
        feedback.append((run.last.post_edit, sentence.document, sentence.position))
    assert service.ledger == PERFECT
    assert scores == [score for _, _, score in PERFECT]
    assert feedback == FEEDBACK
    assert service.log_probabilities == LOG_PROBABILITIES


def test_a_perfect_network_takes_one_call_per_round(client_of):
    with serving(SENTENCES) as server:
        assert play(client_of(server)) == PERFECT == server.service.ledger
        translations = [("POST", f"/v1/runs/{RUN}/translations")] * 6
        assert server.service.requests == [("POST", "/v1/runs"), ("GET", f"/v1/runs/{RUN}/sentence"), *translations]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("position", [0, 1, 3, 7], ids=["opening", "sentence", "translation", "last translation"])
def test_one_fault_anywhere_changes_nothing(fault, position, client_of):
    with serving_feedback([*[None] * position, fault]) as server:
        check_a_run(client_of(server), server.service)


@pytest.mark.parametrize("seed", range(4))
def test_many_faults_change_nothing(seed, client_of):
    rng = random.Random(seed)
    quick = [fault for fault in FAULTS if not fault.startswith("delay")]
    with serving_feedback([rng.choice(quick) if rng.random() < 0.7 else None for _ in range(60)]) as server:
        check_a_run(client_of(server, retries=60), server.service)


def test_a_new_process_resumes_the_run_of_one_that_crashed(client_of):
    with serving(SENTENCES) as server:
        first = client_of(server).open_run(phase="dev", system="tested")
        first.sentence()
        scores = [first.submit(SENTENCES[0].upper())]
        first.sentence()
        # the first process crashes after this commit, before it receives the score
        committed = {"id": "t1", "translation": SENTENCES[1].upper()}
        server.service.respond("POST", f"/v1/runs/{RUN}/translations", committed)
        second = client_of(server).open_run(phase="dev", system="tested")
        assert second.last is not None
        scores.append(second.last.score)
        scores += [second.submit(sentence.source.upper()) for sentence in second]
        assert scores == [score for _, _, score in PERFECT]
        assert server.service.ledger == PERFECT


def test_after_a_crash_in_the_last_round_the_run_id_leads_to_the_score(client_of):
    with serving(SENTENCES[:1]) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        server.service.respond("POST", f"/v1/runs/{RUN}/translations", {"id": "t0", "translation": "x"})
        again = client_of(server).get_run(run.id)
        assert list(again) == []
        assert (again.last.score, again.progress.finished) == (score_of("x"), True)
