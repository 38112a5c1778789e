"""Tasks with documents: sentences tell where they stand, and nothing about held-out blocks."""

import pytest

from lambdas.service import Service
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

PHASE = Phase("dev", Layout(blocks=2, block=2, gap=3), repeatable=True, documents=True)  # HHFFFHH
DOCUMENTS = ["a", "a", "b", "b", "c"]


@pytest.fixture
def played(store):
    pairs = [(f"satz {n}", f"sentence {n}", document) for n, document in enumerate(DOCUMENTS)]
    load_phase(store, PHASE, pairs, block_size=2)
    service = Service(store)
    player = tasks.participant(store, service)
    return service, player


def served(played, system):
    """The sentences of a whole run, in their order."""
    service, player = played
    run = service.open_run(player, "dev", system).run
    first = service.sentence(player, run)
    return [first, *(answer.next for answer in tasks.play(service, player, run) if answer.next)]


def test_a_sentence_tells_its_document_and_its_position(played):
    sentences = served(played, "one")
    assert [sentence.position for sentence in sentences] == [0, 1, 0, 1, 0, 0, 1]
    assert set(sentences[0].as_dict()) == {"id", "index", "total", "source", "document", "position"}


def test_sentences_of_a_document_share_an_id(played):
    ids = [sentence.document for sentence in served(played, "one")]
    assert [ids[0], ids[2], ids[5]] == [ids[1], ids[3], ids[6]]
    assert len(set(ids)) == 4


def test_a_held_out_block_has_other_ids_when_it_comes_again(played):
    ids = [sentence.document for sentence in served(played, "one")]
    assert ids[0] != ids[5]


def test_ids_of_two_runs_have_nothing_in_common(played):
    first, second = (served(played, system) for system in ("one", "two"))
    assert {s.document for s in first}.isdisjoint(s.document for s in second)
    assert [s.source for s in first] == [s.source for s in second]


def test_the_last_round_tells_its_document(played):
    service, player = played
    run = service.open_run(player, "dev", "one").run
    second = tasks.play(service, player, run, rounds=1)[0].next
    tasks.play(service, player, run, rounds=1)
    last = service.run(player, run).as_dict()["last"]
    assert (last["document"], last["position"]) == (second.document, 1)


def test_a_task_without_documents_does_not_speak_of_them(store):
    service, player = tasks.start_service(store)
    run = service.open_run(player, "dev", "one").run
    assert set(service.sentence(player, run).as_dict()) == {"id", "index", "total", "source"}
