"""Under every fault, no round is lost or committed twice, and scores are those of an undisturbed competition.

One seed per fault; ``make soak`` tries others. A failure names its seed and the command that repeats it.
"""

import pytest

from banditmt_client.results import Round
from tests.faults import scenario, trials
from tests.faults.scenario import PAIRS
from tests.faults.soak import attempt
from tests.faults.trials import TRIALS

SEED = 3
REQUIRED_EVENTS = {  # a trial in which these did not happen proves nothing
    "network": {
        *("drop request", "drop response", "delay", "delay beyond timeout", "truncate request", "truncate response"),
        *("duplicate", "reorder", "learner restarted"),
    },
    "kills": {"SIGKILL of the server", "SIGKILL of a learner"},
    "group-kills": {"SIGKILL of the server", "SIGKILL of a learner", "rounds committed in a group"},
    "process-kills": {"SIGKILL of a process that serves", "SIGKILL of a learner"},
    "no-room": {"server without room"},
    "disk-full": {"disk full"},
    "read-only": {"read-only store"},
    "clock": {"clock set"},
    "timeout": {"timeout after the write"},
    "dynamodb": {
        "throttle",
        "error 500",
        "error 503",
        "drop request",
        "drop response",
        "truncate response",
        "duplicate",
    },
    "stream": {"entry delivered twice", "batch out of order", "function crashed in a batch"},
}


@pytest.fixture(scope="module", autouse=True)
def started():
    yield
    trials.close()


@pytest.mark.parametrize("fault", TRIALS)
def test_no_round_is_lost_or_committed_twice(fault):
    events = attempt(fault, SEED)
    assert REQUIRED_EVENTS[fault] <= {name for name, count in events.items() if count}


@pytest.mark.parametrize("fault", ["network", "kills", "timeout", "dynamodb"])
def test_no_post_edit_is_lost_or_changed(fault):
    with scenario.played_phase(scenario.POST_EDIT_PHASE):
        events = attempt(fault, SEED)
        expected = scenario.undisturbed(scenario.POST_EDIT_PHASE)
    assert REQUIRED_EVENTS[fault] <= {name for name, count in events.items() if count}
    assert {played[-1] for rounds in expected.ledger.values() for played in rounds} == {text for _, text in PAIRS}


def test_a_wrong_score_changes_the_learner(tmp_path):
    """Proposals depend on every earlier score, so a changed score shows in the ledger."""
    learner = scenario.example.Learner()
    other = scenario.example.Learner()
    for number, (source, _) in enumerate(scenario.PAIRS):
        for each, score in ((learner, 0.5), (other, 0.9 if number == 0 else 0.5)):
            each.update(Round("id", number, source, each.propose(source), score))
    assert learner.state != other.state


def test_a_failure_names_the_command_that_repeats_it(monkeypatch):
    def broken(seed, folder):
        raise AssertionError("a round is missing")

    monkeypatch.setitem(TRIALS, "network", broken)
    with pytest.raises(AssertionError) as failed:
        attempt("network", 7)
    assert failed.value.__notes__ == [
        "fault network, seed 7: repeat with python -m tests.faults.soak --fault network --seed 7"
    ]
