"""A temporary file of pairs."""

from corpora.spool import Spool
from corpora.task import Pair


def test_pairs_are_read_in_any_order_and_the_file_is_removed(tmp_path):
    with Spool(tmp_path / "spool") as spool:
        for pair in (Pair("ä", "b", "one\ttwo"), Pair("c", "d"), Pair("e", "f")):
            spool.add(pair)
        assert list(spool.read([2, 0])) == [Pair("e", "f"), Pair("ä", "b", "one two")]
        assert sorted(spool.shuffled(1, keep_documents=False)) == [0, 1, 2]
        assert sorted(spool.shuffled(1, keep_documents=True)) == [0, 1, 2]
    assert list(tmp_path.iterdir()) == []
