"""The SDK comes through everything in the book with the ledger of a perfect network."""

import random

import pytest

from tests.client_sdk.conformance import FAULTS, RUN, score_of, serving

SENTENCES = [f"satz nummer {number} für k-{number}" for number in range(6)]
PERFECT = [(index, source.upper(), score_of(source.upper())) for index, source in enumerate(SENTENCES)]


def play(client):
    """A run that shouts the source back; returns the scores as the learner saw them."""
    run = client.open_run(phase="dev", system="tested")
    return [(sentence.index, sentence.source.upper(), run.submit(sentence.source.upper())) for sentence in run]


def test_a_perfect_network(client_of):
    with serving(SENTENCES) as server:
        assert play(client_of(server)) == PERFECT == server.task.ledger
        translations = [("POST", f"/v1/runs/{RUN}/translations")] * 6
        assert server.task.requests == [("POST", "/v1/runs"), ("GET", f"/v1/runs/{RUN}/sentence"), *translations]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("struck", [0, 1, 3, 7], ids=["opening", "sentence", "translation", "last translation"])
def test_one_fault_anywhere_changes_nothing(fault, struck, client_of):
    with serving(SENTENCES, [*[None] * struck, fault]) as server:
        assert play(client_of(server)) == PERFECT == server.task.ledger


@pytest.mark.parametrize("seed", range(4))
def test_a_storm_of_faults_changes_nothing(seed, client_of):
    rng = random.Random(seed)
    quick = [fault for fault in FAULTS if not fault.startswith("delay")]
    with serving(SENTENCES, [rng.choice(quick) if rng.random() < 0.7 else None for _ in range(60)]) as server:
        assert play(client_of(server, retries=60)) == PERFECT == server.task.ledger


def test_a_process_that_dies_goes_on_where_it_stopped(client_of):
    with serving(SENTENCES) as server:
        first = client_of(server).open_run(phase="dev", system="tested")
        first.sentence()
        seen = [first.submit(SENTENCES[0].upper())]
        first.sentence()
        server.task.answer("POST", f"/v1/runs/{RUN}/translations", {"id": "t1", "translation": SENTENCES[1].upper()})
        second = client_of(server).open_run(phase="dev", system="tested")  # the first died before it saw its score
        assert second.last is not None
        seen.append(second.last.score)
        seen += [second.submit(sentence.source.upper()) for sentence in second]
        assert seen == [score for _, _, score in PERFECT]
        assert server.task.ledger == PERFECT


def test_a_death_on_the_very_last_round_is_mended_by_the_run_s_id(client_of):
    with serving(SENTENCES[:1]) as server:
        run = client_of(server).open_run(phase="dev", system="tested")
        server.task.answer("POST", f"/v1/runs/{RUN}/translations", {"id": "t0", "translation": "x"})
        again = client_of(server).get_run(run.id)
        assert list(again) == []
        assert (again.last.score, again.progress.finished) == (score_of("x"), True)
