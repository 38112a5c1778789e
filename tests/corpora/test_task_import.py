"""Imported tasks: text is cleaned, shuffled and cut into phases."""

import pytest

from corpora.cleaning import CleaningCounts
from corpora.errors import CorpusError, InputError
from corpora.task import Pair, Task
from corpora.task_import import RawCorpus, import_task, without_repetitions
from task.layout import Layout
from tests.corpora.tasks import LAYOUTS, description

PAIRS = [Pair(f"Ware Nr.{letter}{letter}", f"Good No.{letter}{letter}") for letter in "abcdefghijklmnopqrstuvw"]


def test_every_pair_is_served_once_except_held_out_ones(tmp_path):
    counts = import_task(tmp_path / "task", description(), RawCorpus(PAIRS, None), lambda _: LAYOUTS)
    task = Task.open(tmp_path / "task")
    assert task.parts == ["mock", "dev", "training"]
    served = [pair.source for phase in LAYOUTS for pair in task.distinct_pairs(phase)]
    assert len(served) == len(set(served)) == 3 + 6 + 10
    assert set(served) < {pair.source.lower() for pair in PAIRS}
    assert served != sorted(served)
    assert counts["in-domain"].kept == 23
    assert task.description.cleaning["training"]["read"] == 23


def test_the_seed_determines_the_order(tmp_path):
    orders = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        import_task(tmp_path / name, description(seed=seed), RawCorpus(PAIRS, None), lambda _: LAYOUTS)
        orders.append(list(Task.open(tmp_path / name).pairs("training")))
    assert orders[0] == orders[1] != orders[2]


def test_each_side_has_its_own_length_limit(tmp_path):
    long = Pair("wort " * 30, "word " * 30)
    counts = import_task(tmp_path / "task", description(), RawCorpus([*PAIRS, long], [long]), lambda _: LAYOUTS)
    assert counts["in-domain"].removed["more than 25 tokens"] == 1
    assert counts["out-of-domain"].kept == 1
    assert Task.open(tmp_path / "task").rounds("out-of-domain") == 1


def test_documents_stay_together(tmp_path):
    pairs = [Pair(f"satz {d}{n}", f"sentence {d}{n}", f"doc {d}") for d in "abcdef" for n in "xyz"]
    cutting = {"mock": Layout.plain(18)}
    import_task(tmp_path / "task", description(), RawCorpus(pairs, None, keep_documents=True), lambda _: cutting)
    served = list(Task.open(tmp_path / "task").pairs("mock"))
    assert [pair.document for pair in served[::3]] == [pair.document for pair in served[2::3]]
    assert [pair.source[-1] for pair in served] == ["x", "y", "z"] * 6
    assert len({pair.document for pair in served}) == 6


def test_repetitions_are_left_out_and_counted():
    counts = CleaningCounts()
    pairs = [Pair("a", "b"), Pair("a", "c"), Pair("a", "b", "elsewhere")]
    assert list(without_repetitions(pairs, counts)) == pairs[:2]
    assert counts.removed == {"repeated": 1}


def test_a_corpus_without_clean_pairs_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="no in-domain pair is left after cleaning"):
        import_task(tmp_path / "task", description(), RawCorpus([Pair("", "x")], None), lambda _: LAYOUTS)
    assert list(tmp_path.iterdir()) == []


def test_bad_input_leaves_no_files(tmp_path):
    def broken():
        yield from PAIRS
        raise InputError("torn", "in.tsv", 24)

    for processes in (1, 2):
        with pytest.raises(InputError, match=r"in\.tsv:24: torn"):
            import_task(
                tmp_path / "task", description(), RawCorpus(broken(), PAIRS), lambda _: LAYOUTS, processes=processes
            )
    assert list(tmp_path.iterdir()) == []
