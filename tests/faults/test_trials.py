"""Under every fault: nothing lost, nothing twice, and scores as in an undisturbed competition.

One seed each; ``make soak`` tries others. A failure names its seed, and how to repeat it.
"""

import pytest

from tests.faults import trials, world
from tests.faults.soak import attempt
from tests.faults.trials import TRIALS

SEED = 3
MUST = {  # what has to have happened, or a trial has shown nothing
    "network": {
        *("drop request", "drop answer", "delay", "delay beyond patience", "truncate request", "truncate answer"),
        *("duplicate", "reorder", "learner born again"),
    },
    "kills": {"SIGKILL of the server", "SIGKILL of a learner"},
    "no-room": {"server without room"},
    "disk-full": {"disk full"},
    "read-only": {"read-only store"},
    "clock": {"clock set"},
    "timeout": {"timeout after the write"},
    "dynamodb": {"throttle", "error 500", "error 503", "drop request", "drop answer", "truncate answer", "duplicate"},
    "stream": {"entry delivered twice", "batch out of order", "function died in a batch"},
}


@pytest.fixture(scope="module", autouse=True)
def started():
    yield
    trials.close()


@pytest.mark.parametrize("fault", TRIALS)
def test_nothing_is_lost_and_nothing_happens_twice(fault):
    done = attempt(fault, SEED)
    assert MUST[fault] <= {name for name, count in done.items() if count}


def test_a_lost_score_would_be_noticed(tmp_path):
    """The learner's proposals depend on every score before: with one changed, the ledger is another."""
    learner = world.example.Learner()
    other = world.example.Learner()
    for number, (source, _) in enumerate(world.PAIRS):
        for each, score in ((learner, 0.5), (other, 0.9 if number == 0 else 0.5)):
            each.update(each.propose(source), score)
    assert learner.state != other.state


def test_a_failure_says_how_to_repeat_it(monkeypatch):
    def broken(seed, folder):
        raise AssertionError("a round is missing")

    monkeypatch.setitem(TRIALS, "network", broken)
    with pytest.raises(AssertionError) as failed:
        attempt("network", 7)
    assert failed.value.__notes__ == [
        "fault network, seed 7: repeat with python -m tests.faults.soak --fault network --seed 7"
    ]
