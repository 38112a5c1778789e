"""Static systems have no state, and the smallest of them copies."""

from learners.contract import CopySource
from learners.snapshot import Snapshot


def test_copy_source_copies_and_never_learns():
    system = CopySource()
    assert system.propose(", 147 cm") == ", 147 cm"
    system.update(", 147 cm", ", 147 cm", 0.14938)
    assert system.save() == Snapshot()
    system.load(system.save())
    assert system.propose(", 147 cm") == ", 147 cm"
