"""The loop carries documents, post-edits and log-probabilities, and a killed run loses none of them."""

import json
import math
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditmt_client import InvalidLogProbabilityError
from learners.contract import Feedback, Learner, Proposal, Sentence
from learners.errors import ResumeError
from learners.journal import Journal, JournalEntry
from learners.loop import play
from learners.snapshot import Snapshot
from tests.client_sdk.fake_service import FakeService, score_of
from tests.learners.apprentice import Apprentice
from tests.learners.killed_runs import Killed, KilledLearner, kill_after_events, open_run

LENGTHS = (3, 1, 4, 2, 5, 1)  # sentences of each document
DOCUMENTS = [(f"d{number}", position) for number, length in enumerate(LENGTHS) for position in range(length)]
SENTENCES = [f"satz {number % 5}" for number in range(len(DOCUMENTS))]
POST_EDITS = [f"sentence {number % 5} of {document}" for number, (document, _) in enumerate(DOCUMENTS)]


def new_service():
    return FakeService(SENTENCES, POST_EDITS, DOCUMENTS)


def final_state(service, learner, folder):
    """Return all that two runs must agree on."""
    state = {**vars(learner), "rng": learner.rng.getstate()}
    return service.ledger, service.log_probabilities, state, (folder / "journal.jsonl").read_text()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    service, learner, folder = new_service(), Apprentice(), tmp_path_factory.mktemp("undisturbed")
    play(learner, open_run(service), folder)
    return final_state(service, learner, folder)


def test_the_learner_receives_documents_and_post_edits(undisturbed):
    ledger, _, state, _ = undisturbed
    assert state["received"] == [
        (source, document, position, translation, score, post_edit)
        for source, (document, position), post_edit, (_, translation, score) in zip(
            SENTENCES, DOCUMENTS, POST_EDITS, ledger, strict=True
        )
    ]


def test_the_service_and_the_journal_have_the_log_probability_of_each_proposal(undisturbed):
    _, sent, _, journal = undisturbed
    assert sent[0] == 0.0  # the only word that it knows
    assert len(set(sent)) > 2
    assert [json.loads(line)["log_probability"] for line in journal.splitlines()] == sent


def test_the_journal_has_documents_and_post_edits(tmp_path):
    service = new_service()
    play(Apprentice(), open_run(service), tmp_path)
    with Journal(tmp_path / "journal.jsonl") as journal:
        second = list(journal.entries())[1]
    translation = service.ledger[1][1]
    assert second == JournalEntry(
        1,
        "satz 1",
        translation,
        score_of(translation),
        document="d0",
        position=1,
        post_edit="sentence 1 of d0",
        log_probability=service.log_probabilities[1],
    )


@settings(deadline=None, max_examples=60)
@given(kills=st.lists(st.integers(1, 60), max_size=6), snapshot_every=st.integers(1, 9))
def test_a_killed_run_ends_as_an_undisturbed_one(kills, snapshot_every, undisturbed, tmp_path_factory):
    service, folder = new_service(), tmp_path_factory.mktemp("killed")
    for events in kills:
        kill = kill_after_events(events)
        try:
            play(KilledLearner(kill, Apprentice()), open_run(service, kill), folder, snapshot_every=snapshot_every)
        except Killed:
            continue
    learner = Apprentice()
    play(learner, open_run(service), folder, snapshot_every=snapshot_every)
    assert final_state(service, learner, folder) == undisturbed


@pytest.mark.parametrize("rounds", [1, 4, len(SENTENCES)])
def test_a_round_missing_from_the_journal_comes_from_the_service_with_its_post_edit(rounds, undisturbed, tmp_path):
    """The process dies after the service's answer, and before the line in the journal."""
    service = new_service()

    def die_after_answer(moment):
        if moment.startswith("after") and moment.endswith("translations") and len(service.ledger) == rounds:
            raise Killed

    with pytest.raises(Killed):
        play(Apprentice(), open_run(service, die_after_answer), tmp_path)
    assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == rounds - 1
    learner = Apprentice()
    play(learner, open_run(service), tmp_path)
    assert final_state(service, learner, tmp_path) == undisturbed


class Chooser(Learner):
    """Always proposes what it was made with, and has no state to save."""

    def __init__(self, proposal):
        self._proposal = proposal

    def propose(self, sentence):
        return self._proposal

    def update(self, sentence, translation, feedback):
        self.last = sentence, translation, feedback

    def save(self):
        return Snapshot()

    def load(self, snapshot):
        pass


@pytest.mark.parametrize(
    ("proposal", "sent"),
    [
        ("red", None),
        (Proposal("red"), None),
        (Proposal("red", -0.5), -0.5),
        (Proposal("red", 0), 0.0),
        (Proposal("red", cast(float, np.float32(-0.5))), -0.5),  # as a learner without type checks returns it
    ],
)
def test_a_proposal_is_a_text_with_or_without_a_log_probability(proposal, sent, tmp_path):
    service, learner = FakeService(["rot"]), Chooser(proposal)
    play(learner, open_run(service), tmp_path)
    assert [translation for _, translation, _ in service.ledger] == ["red"]
    assert service.log_probabilities == [sent]
    assert learner.last == (Sentence("rot"), "red", Feedback(score_of("red")))


@pytest.mark.parametrize("log_probability", [0.1, math.nan, -math.inf])
def test_an_invalid_log_probability_is_refused_before_anything_is_sent(log_probability, tmp_path):
    service = FakeService(["rot"])
    with pytest.raises(InvalidLogProbabilityError, match="a log-probability must be a finite number of at most 0"):
        play(Chooser(Proposal("red", log_probability)), open_run(service), tmp_path)
    assert (service.ledger, (tmp_path / "journal.jsonl").read_text()) == ([], "")


def test_a_replay_compares_translations_and_not_log_probabilities(tmp_path):
    """Numbers may differ in the last digit on another machine; the translation decides what was proposed."""
    service = FakeService(["rot", "blau"])

    def stop(_entry):
        raise Killed

    with pytest.raises(Killed):
        play(Chooser(Proposal("red", -0.5)), open_run(service), tmp_path, watch=stop)
    with pytest.raises(ResumeError, match="round 0 was answered with 'red', but would now be 'blue'"):
        play(Chooser(Proposal("blue", -0.5)), open_run(service), tmp_path)
    play(Chooser(Proposal("red", -0.5000001)), open_run(service), tmp_path)
    assert service.log_probabilities == [-0.5, -0.5000001]


def test_a_run_is_resumed_from_a_journal_without_the_new_values(tmp_path):
    """Journals were written without documents, post-edits and log-probabilities before these existed."""
    service, learner = FakeService(["rot", "blau"]), Chooser(Proposal("red", -0.5))
    service.ledger.append((0, "red", 0.25))
    line = '{"index": 0, "source": "rot", "translation": "red", "reward": 0.25}\n'
    (tmp_path / "journal.jsonl").write_text(line)
    play(learner, open_run(service), tmp_path)
    assert (tmp_path / "journal.jsonl").read_text().startswith(line)
    assert service.log_probabilities == [-0.5]
