"""The out-of-domain text in a model store."""

import pytest

from learners.errors import SnapshotError
from learners.seed_models.catalogue import PARALLEL_TEXT
from learners.snapshot import Snapshot
from tests.learners import tiny


def test_the_text_comes_back(store):
    assert store.load(PARALLEL_TEXT) == list(tiny.TEXTS.out_of_domain)


@pytest.mark.parametrize(
    ("snapshot", "complaint"),
    [
        (Snapshot(values={"kind": "dictionary 1"}), "does not hold parallel text"),
        (Snapshot(values={"kind": "parallel text 1"}), "lacks a part of its text"),
    ],
)
def test_another_file_is_refused(snapshot, complaint, tmp_path):
    snapshot.write(tmp_path / "file")
    with pytest.raises(SnapshotError, match=complaint):
        PARALLEL_TEXT.load(tmp_path / "file")
