"""The critic as a seed model."""

import pytest

from learners.errors import SnapshotError
from learners.seed_models.catalogue import CRITIC
from learners.snapshot import Snapshot


def test_the_critic_comes_back(store, tmp_path):
    critic = store.load(CRITIC)
    CRITIC.save(critic, tmp_path / "critic")
    again = CRITIC.load(tmp_path / "critic")
    assert again.sizes == critic.sizes
    for one, other in zip(critic.parameters(), again.parameters(), strict=True):
        assert one.tolist() == other.tolist()
    assert critic.head.weight.any()  # it was trained


@pytest.mark.parametrize(
    ("values", "complaint"),
    [({"kind": "dictionary 1"}, "does not hold a critic"), ({"kind": "critic 1"}, "lacks a part of a critic")],
)
def test_another_file_is_refused(values, complaint, tmp_path):
    Snapshot(values=values).write(tmp_path / "file")
    with pytest.raises(SnapshotError, match=complaint):
        CRITIC.load(tmp_path / "file")
