"""Runs on post-edits that are killed at any moment: they end as undisturbed ones, output by output and bit by bit."""

import pytest

from learners.adaptation.lasso import LassoAdaptation, LassoConfig
from learners.adaptation.neural import AdaptationConfig, BiasAdaptation, full_adaptation
from learners.adaptation.translation_memory import MemoryConfig, TranslationMemory
from learners.loop import play
from tests.client_sdk.fake_service import FakeService
from tests.learners.adaptation.tiny_base import STREAM, base, parameters
from tests.learners.killed_runs import Killed, KilledLearner, kill_after_events, open_run

SOURCES, POST_EDITS = map(list, zip(*(2 * STREAM), strict=True))
DOCUMENTS = [("d1", position) for position in range(2)] + [("d2", position) for position in range(4)]
LEARNERS = {
    "full": lambda: full_adaptation(parameters(), AdaptationConfig(learning_rate=0.1)),
    "bias": lambda: BiasAdaptation(parameters(), AdaptationConfig(learning_rate=1.0)),
    "lasso": lambda: LassoAdaptation(parameters(), LassoConfig(learning_rate=0.1)),
    "memory": lambda: TranslationMemory(base(), MemoryConfig()),
}


def final_state(service, learner):
    snapshot = learner.save()
    return service.ledger, snapshot.values, {name: array.tolist() for name, array in snapshot.arrays.items()}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_killed_at_any_moment_ends_as_an_undisturbed_one(name, tmp_path):
    whole, undisturbed = FakeService(SOURCES, POST_EDITS, DOCUMENTS), LEARNERS[name]()
    play(undisturbed, open_run(whole), tmp_path / "whole")
    service = FakeService(SOURCES, POST_EDITS, DOCUMENTS)
    for events in (3, 6, 8):  # before and after an update, while a snapshot is taken
        learner = KilledLearner(kill_after_events(events), LEARNERS[name]())
        with pytest.raises(Killed):
            play(learner, open_run(service), tmp_path / "killed", snapshot_every=2)
    resumed = LEARNERS[name]()
    play(resumed, open_run(service), tmp_path / "killed", snapshot_every=2)
    assert final_state(service, resumed) == final_state(whole, undisturbed)
