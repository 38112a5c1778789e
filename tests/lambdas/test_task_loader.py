"""Loading a task is resumable and idempotent, and refuses invalid text."""

from dataclasses import replace

import pytest

from lambdas.errors import UnavailableError
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.sentences import SentenceReader
from lambdas.task_loader import CHECKPOINT_BLOCKS, LoadError, load_phase
from task.feedback import FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

LARGE = Phase("large", Layout.plain(4 * CHECKPOINT_BLOCKS * 2 + 3), repeatable=True)  # four checkpoints and a bit


class CountingStore:
    """A store that counts written blocks, and can be set to fail before one of them."""

    def __init__(self, store, fail_at=None):
        self._store, self.fail_at, self.written = store, fail_at, 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def put_blocks(self, side, phase, blocks):
        blocks = list(blocks)
        if self.fail_at is not None and self.written + len(blocks) > self.fail_at:
            raise UnavailableError
        self._store.put_blocks(side, phase, blocks)
        self.written += len(blocks)


def load_large(store, pairs=None):
    return load_phase(store, LARGE, pairs or tasks.pairs(LARGE), block_size=2)


def served_pairs(store, record):
    library = SentenceReader(store)
    return [
        (library.source(record, index).text, library.reference(record, index).text)
        for index in range(record.phase.layout.total)
    ]


def test_sentences_are_served_in_the_order_of_the_layout(store):
    record = load_phase(store, tasks.DEV, tasks.pairs(tasks.DEV), block_size=3)
    numbers = [0, 1, 2, 3, 4, 5, 0, 1, 6, 7, 8, 9, 0, 1]
    assert served_pairs(store, record) == [tasks.pairs(tasks.DEV)[number] for number in numbers]


def test_loading_again_changes_nothing(store):
    first = load_phase(store, tasks.DEV, tasks.pairs(tasks.DEV), block_size=3)
    Registry(store).set_phase_state("dev", PhaseState.CLOSED)
    ring = Registry(store).key_ring().secrets
    counting = CountingStore(store)
    again = load_phase(counting, tasks.DEV, tasks.pairs(tasks.DEV))
    assert again.fingerprint == first.fingerprint
    assert again.state is PhaseState.CLOSED
    assert counting.written == 0
    assert Registry(store).key_ring().secrets == ring


def test_another_text_is_refused(sqlite):
    load_phase(sqlite, tasks.DEV, tasks.pairs(tasks.DEV))
    changed = [*tasks.pairs(tasks.DEV)[:-1], ("etwas", "something")]
    with pytest.raises(LoadError, match="loaded already, with other sentences"):
        load_phase(sqlite, tasks.DEV, changed)
    with pytest.raises(LoadError, match="loaded already"):
        load_phase(sqlite, replace(tasks.DEV, feedback=FeedbackSpec("granular:5")), tasks.pairs(tasks.DEV))


@pytest.mark.parametrize("fail_at", range(0, 2 * (LARGE.layout.total // 2 + 1), 20))
def test_an_interrupted_load_resumes(sqlite, fail_at):
    failing = CountingStore(sqlite, fail_at)
    with pytest.raises(UnavailableError):
        load_large(failing)
    assert Registry(sqlite).phase("large") is None  # a phase exists when it is whole
    counting = CountingStore(sqlite)
    record = load_large(counting)
    assert counting.written <= 2 * (LARGE.layout.total // 2 + 1) - failing.written + CHECKPOINT_BLOCKS
    assert served_pairs(sqlite, record) == tasks.pairs(LARGE)


def test_an_interrupted_load_of_another_text_leaves_no_trace(sqlite):
    other = [(f"anders {n}", f"different {n}") for n in range(LARGE.layout.total)]
    with pytest.raises(UnavailableError):
        load_large(CountingStore(sqlite, 60), other)
    assert served_pairs(sqlite, load_large(sqlite)) == tasks.pairs(LARGE)


class InterferingStore:
    """A store that calls a function, as another process would act, just before a given batch is written."""

    def __init__(self, store, before, interfere):
        self._store, self._before, self._interfere, self._batches = store, before, interfere, 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def put_blocks(self, side, phase, blocks):
        if self._batches == self._before:
            self._interfere(self._store)
        self._batches += 1
        self._store.put_blocks(side, phase, blocks)


OTHER_TEXT = [(f"anders {n}", f"different {n}") for n in range(LARGE.layout.total)]
OTHER_END = [*tasks.pairs(LARGE)[:-1], ("ein anderes ende", "another ending")]


@pytest.mark.parametrize("before", [0, 1, 4, 9])
def test_two_processes_can_load_the_same_text_at_once(sqlite, before):
    record = load_large(InterferingStore(sqlite, before, load_large))
    assert record == Registry(sqlite).phase("large")
    assert served_pairs(sqlite, record) == tasks.pairs(LARGE)


@pytest.mark.parametrize("other", [OTHER_TEXT, OTHER_END], ids=["from the start", "at the end"])
def test_a_process_that_loads_another_text_at_the_same_time_is_refused(sqlite, other):
    refusals = []

    def load_other_text(store):
        with pytest.raises(LoadError, match="is being loaded with another text; wait") as refusal:
            load_large(store, other)
        refusals.append(refusal)

    record = load_large(InterferingStore(sqlite, 9, load_other_text))  # 9: the references of the last batch
    assert len(refusals) == 1
    assert served_pairs(sqlite, record) == tasks.pairs(LARGE)


def test_a_loader_that_timed_out_is_refused_when_it_resumes(sqlite):
    def load_meanwhile(store):
        load_phase(store, LARGE, OTHER_TEXT, block_size=2, clock=lambda: 1_300.0)

    with pytest.raises(LoadError, match="was loaded meanwhile, with other sentences"):
        load_phase(
            InterferingStore(sqlite, 4, load_meanwhile), LARGE, tasks.pairs(LARGE), block_size=2, clock=lambda: 1_000.0
        )


def test_a_killed_loader_blocks_another_text_until_it_times_out(sqlite):
    class Killed(BaseException):
        pass

    def die(store):
        store.compare_and_swap = lambda *_: False  # a killed process writes nothing more
        raise Killed

    with pytest.raises(Killed):
        load_phase(InterferingStore(sqlite, 4, die), LARGE, OTHER_TEXT, block_size=2, clock=lambda: 1_000.0)
    del sqlite.compare_and_swap
    with pytest.raises(LoadError, match="for 300 seconds if it was killed"):
        load_phase(sqlite, LARGE, tasks.pairs(LARGE), block_size=2, clock=lambda: 1_299.0)
    record = load_phase(sqlite, LARGE, tasks.pairs(LARGE), block_size=2, clock=lambda: 1_300.0)
    assert served_pairs(sqlite, record) == tasks.pairs(LARGE)


def test_progress_is_reported_after_each_batch(sqlite):
    reported: list[int] = []
    load_phase(sqlite, LARGE, tasks.pairs(LARGE), block_size=2, progress=reported.append)
    assert reported == [50, 100, 150, 200, 203]


@pytest.mark.parametrize("length", [0, 1, 9])
def test_too_few_sentences(sqlite, length):
    with pytest.raises(LoadError, match=f"has 10 distinct sentences, but the text has only {length}"):
        load_phase(sqlite, tasks.DEV, tasks.pairs(tasks.DEV)[:length])


def test_too_many_sentences(sqlite):
    with pytest.raises(LoadError, match="has 10 distinct sentences, but the text has more"):
        load_phase(sqlite, tasks.DEV, [*tasks.pairs(tasks.DEV), ("eins", "one")])


@pytest.mark.parametrize(
    "text", ["", "  ", "two\nlines", "nul\0", "\ud800", "x" * 2_001, "bell\x07", "next\x85line", "caf\ufffd"]
)
@pytest.mark.parametrize("side", ["source", "reference"])
def test_a_sentence_that_is_not_one_line_is_refused_with_its_number(sqlite, text, side):
    pair = (text, "fine") if side == "source" else ("fein", text)
    with pytest.raises(LoadError, match=f"the {side} of pair 3 of phase dev is not one line") as refusal:
        load_phase(sqlite, tasks.DEV, [*tasks.pairs(tasks.DEV)[:3], pair, *tasks.pairs(tasks.DEV)[4:]])
    assert not text.strip() or text not in str(refusal.value)


def test_training_gets_fewer_runs_than_the_repeatable_phases(sqlite):
    tasks.load(sqlite)
    assert {each.phase.name: each.runs for each in Registry(sqlite).phases()} == {
        "mock": 1_000,
        "dev": 1_000,
        "training": 3,
    }
