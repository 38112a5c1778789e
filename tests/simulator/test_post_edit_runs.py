"""Runs in process on a phase with post-edits and documents, with a crash at every call of the store."""

import pytest

from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from learners.loop import play
from learners.run_folder import RunFolder
from simulator.in_process import in_process_client
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas.faulty_store import CrashError, FaultyStore
from tests.learners.apprentice import Apprentice

POST_EDIT = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
PHASE = Phase("dev", Layout.plain(6), repeatable=True, feedback=POST_EDIT, documents=True)
DOCUMENTS = ["a", "a", "b", "", "c", "c"]  # a sentence without a document is a document of its own
PAIRS = [(f"satz {number % 2}", f"sentence {number}", name) for number, name in enumerate(DOCUMENTS)]


@pytest.fixture
def new_store(tmp_path_factory):
    """A function that returns another store with the phase at each call."""
    stores = []

    def new():
        stores.append(SQLiteStore.open(f"{tmp_path_factory.mktemp('store') / 'store.db'}?synchronous=normal"))
        load_phase(stores[-1], PHASE, PAIRS, language="en", block_size=2)
        return stores[-1]

    yield new
    for store in stores:
        store.close()


def play_on(store, folder):
    """Play a run with a new learner, or resume the one that was begun in the folder; return its final state."""
    with in_process_client(store, "acme") as client:
        details = RunFolder(folder).details()
        run = client.get_run(details.run) if details else client.open_run(phase="dev", system="apprentice")
        learner = Apprentice()
        play(learner, run, folder, snapshot_every=2)
        return final_state(store, run.id, learner)


def final_state(store, run, learner):
    """Return all that two runs must agree on: the ledger, and the learner but for document ids, which are the run's."""
    ledger = [
        (one.index, one.translation, one.true_reward, one.log_probability, one.post_edit) for one in store.rounds(run)
    ]
    numbers: dict[str, int] = {}
    received = [
        (source, numbers.setdefault(document, len(numbers)), *others) for source, document, *others in learner.received
    ]
    return ledger, received, learner.words, learner.words_of_document, learner.rng.getstate()


def test_the_learner_and_the_ledger_get_what_the_phase_gives(new_store, tmp_path):
    ledger, received, *_ = play_on(new_store(), tmp_path)
    assert [(source, document, position) for source, document, position, *_ in received] == [
        ("satz 0", 0, 0),
        ("satz 1", 0, 1),
        ("satz 0", 1, 0),
        ("satz 1", 2, 0),
        ("satz 0", 3, 0),
        ("satz 1", 3, 1),
    ]
    assert [post_edit for *_, post_edit in received] == [reference for _, reference, _ in PAIRS]
    assert [post_edit for *_, post_edit in ledger] == [reference for _, reference, _ in PAIRS]
    log_probabilities = [log_probability for _, _, _, log_probability, _ in ledger]
    assert log_probabilities[0] == 0.0
    assert all(number < 0 for number in log_probabilities[1:])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_crash_at_every_call_of_the_store_changes_nothing(after, new_store, tmp_path):
    counting = FaultyStore(new_store())
    undisturbed = play_on(counting, tmp_path / "undisturbed")
    assert len(counting.calls) > 20
    for turn in range(len(counting.calls) - 1):  # the last call reads the ledger
        faulty, folder = FaultyStore(new_store()), tmp_path / str(turn)
        faulty.fail(turn, after=after)
        with pytest.raises(CrashError):
            play_on(faulty, folder)
        faulty.heal()
        assert play_on(faulty, folder) == undisturbed, f"crash {turn} ({faulty.calls[turn]})"
