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


def import_out_of_domain(path, pairs, *, seed=7, **settings):
    """Return the out-of-domain side of a task that is imported with these pairs."""
    import_task(path, description(seed=seed), RawCorpus(PAIRS, pairs, **settings), lambda _: LAYOUTS)
    return list(Task.open(path).pairs("out-of-domain"))


def test_the_out_of_domain_side_is_shuffled_by_the_seed(tmp_path):
    given = [Pair(f"nachricht x{number}", f"news x{number}") for number in range(200)]
    imported = import_out_of_domain(tmp_path / "a", given)
    assert sorted(imported) == sorted(given)
    assert imported != given
    moved = sum(abs(imported.index(pair) - number) for number, pair in enumerate(given)) / len(given)
    assert 50 < moved < 85  # a third of 200 is expected
    assert import_out_of_domain(tmp_path / "b", given) == imported
    assert import_out_of_domain(tmp_path / "c", given, seed=8) != imported


def test_documents_of_the_out_of_domain_side_stay_together_if_they_are_kept(tmp_path):
    given = [Pair(f"satz {d}{n}", f"sentence {d}{n}", f"doc {d}") for d in "abcdefgh" for n in "xyz"]
    kept = import_out_of_domain(tmp_path / "kept", given, keep_documents=True)
    assert [pair.source[-1] for pair in kept] == ["x", "y", "z"] * 8
    assert [pair.document for pair in kept[::3]] == [pair.document for pair in kept[2::3]]
    assert sorted(kept) == given
    assert kept != given
    mixed = import_out_of_domain(tmp_path / "mixed", given)
    assert [pair.source[-1] for pair in mixed] != ["x", "y", "z"] * 8


def test_the_spool_leaves_no_file_behind(tmp_path):
    import_out_of_domain(tmp_path / "task", PAIRS)
    assert "spool" not in {file.name for file in (tmp_path / "task").iterdir()}


@pytest.mark.parametrize("processes", [1, 2])
def test_unsegmented_text_gives_one_warning(tmp_path, processes):
    chinese = [pair._replace(target="这款红色棉质连衣裙非常适合夏天穿着") for pair in PAIRS]
    warnings: list[str] = []
    import_task(
        tmp_path / "task",
        description(),
        RawCorpus(chinese, chinese),
        lambda _: LAYOUTS,
        processes=processes,
        warn=warnings.append,
    )
    assert len(warnings) == 1
    assert warnings[0].startswith("the text in en has no spaces between words")


def test_text_with_spaces_gives_no_warning(tmp_path):
    warnings: list[str] = []
    import_task(tmp_path / "task", description(), RawCorpus(PAIRS, PAIRS), lambda _: LAYOUTS, warn=warnings.append)
    assert warnings == []


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
