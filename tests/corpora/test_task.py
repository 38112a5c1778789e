"""Tasks on disk: what is written is read again, and no incomplete task is left."""

import errno
import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.errors import CorpusError, InputError, TaskError
from corpora.line_files import LineWriter
from corpora.task import Pair, Task, TaskWriter, in_served_order, write_pairs
from task.layout import Layout
from tests.corpora.tasks import description, numbered, write_task


def test_the_held_out_block_is_repeated_in_every_pass():
    letters = [(letter, letter) for letter in "ABcdefghij"]
    served = in_served_order(letters, Layout(blocks=3, block=2, gap=4), "dev")
    assert "".join(source for source, _ in served) == "ABcdefABghijAB"


@given(blocks=st.integers(2, 5), block=st.integers(1, 5), gap=st.integers(1, 7))
def test_served_order_is_the_order_of_the_layout(blocks, block, gap):
    layout = Layout(blocks, block, gap)
    distinct = [(str(number), "") for number in range(layout.distinct)]
    served = [int(source) for source, _ in in_served_order(distinct, layout, "dev")]
    assert served == [layout.place(index).sentence for index in range(layout.total)]


def test_too_few_pairs_for_a_phase_are_refused():
    with pytest.raises(TaskError, match="phase dev is cut short: there are only 5 of the 10 distinct pairs"):
        list(in_served_order(numbered("a", 5), Layout(blocks=3, block=2, gap=4), "dev"))


def test_a_task_reads_as_it_was_written(tmp_path):
    task = write_task(tmp_path / "task")
    assert task.parts == ["out-of-domain", "mock", "dev", "training"]
    assert task.rounds("training") == 14
    pairs = list(task.pairs("training"))
    assert pairs[0] == pairs[6] == pairs[12] == Pair("training satz 0", "training sentence 0")
    assert [pair.source for pair in task.distinct_pairs("training")] == [f"training satz {n}" for n in range(10)]
    assert len(list(task.distinct_pairs("out-of-domain"))) == 5
    assert task.description.files["training.de.gz"].lines == 14
    assert task.description == replace(
        description(), phases=task.description.phases, files=task.description.files, cleaning={}
    )


def test_same_pairs_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_task(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == 9
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_document_ids_are_written_and_read(tmp_path):
    with TaskWriter(tmp_path / "task", description()) as writer:
        pairs = [Pair("a", "b", "one"), Pair("c", "d", "")]
        files = write_pairs(writer.directory, "mock", ("de", "en"), pairs, documents=True)
        writer.add("mock", files, Layout.plain(2))
    task = Task.open(tmp_path / "task")
    assert task.description.has_documents
    assert list(task.pairs("mock")) == pairs


def test_the_digest_is_that_of_the_description(tmp_path):
    with TaskWriter(tmp_path / "task", description()) as writer:
        writer.add("mock", write_pairs(writer.directory, "mock", ("de", "en"), [Pair("a", "b")]), Layout.plain(1))
    assert Task.open(tmp_path / "task").digest == sha256((tmp_path / "task" / "task.json").read_bytes()).hexdigest()


def test_progress_counts_every_pair(tmp_path):
    reported: list[int] = []
    write_pairs(tmp_path, "mock", ("de", "en"), numbered("a", 2345), progress=reported.append)
    assert sum(reported) == 2345


def test_an_error_leaves_no_files(tmp_path):
    def failing():
        yield Pair("a", "b")
        raise InputError("torn", "input.tsv", 2)

    with pytest.raises(InputError), TaskWriter(tmp_path / "task", description()) as writer:
        write_pairs(writer.directory, "mock", ("de", "en"), failing())
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_task_error_and_leaves_no_files(tmp_path, monkeypatch):
    def full(_self: LineWriter) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LineWriter, "close", full)
    with (
        pytest.raises(TaskError, match=r"cannot write .*task: No space left on device"),
        TaskWriter(tmp_path / "task", description()) as writer,
    ):
        write_pairs(writer.directory, "mock", ("de", "en"), [Pair("a", "b")])
    assert list(tmp_path.iterdir()) == []


def test_an_existing_task_is_not_overwritten(tmp_path):
    task = write_task(tmp_path / "task")
    before = (task.path / "task.json").read_bytes()
    with pytest.raises(TaskError, match="already exists"):
        write_task(tmp_path / "task")
    assert (task.path / "task.json").read_bytes() == before


def test_an_empty_directory_may_become_a_task(tmp_path):
    (tmp_path / "task").mkdir()
    assert write_task(tmp_path / "task").rounds("mock") == 3


def test_a_file_in_place_of_the_parent_directory_is_a_task_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TaskError, match="cannot write"):
        write_task(tmp_path / "file" / "task")


def test_a_directory_without_description_is_no_task(tmp_path):
    with pytest.raises(TaskError, match=r"is not a task: it has no task\.json"):
        Task.open(tmp_path)


def test_an_unknown_part_is_refused_by_name(tmp_path):
    task = write_task(tmp_path / "task")
    with pytest.raises(TaskError, match=r"has no test\.de\.gz; its parts are out-of-domain, mock, dev, training"):
        list(task.pairs("test"))


def test_misaligned_sides_are_refused_while_reading(tmp_path):
    task = write_task(tmp_path / "task")
    (task.path / "mock.en.gz").unlink()
    with LineWriter(task.path / "mock.en.gz") as writer:
        writer.write("only one")
    with pytest.raises(InputError, match=r"mock\.en\.gz:2: ends before this line"):
        list(task.pairs("mock"))


def damage(path: Path, **changes: object) -> None:
    file = path / "task.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format": 3}, "format is 3, but this version reads formats 1 and 2"),
        ({"seed": "7"}, "seed is '7', but should be a whole number"),
        ({"seed": True}, "seed is True, but should be a whole number"),
        ({"source": "../de"}, "source is '../de', which is not a language code"),
        ({"phases": {"test": {}}}, "unknown phase 'test'; known are mock, dev, training"),
        ({"phases": {"mock": {"blocks": 0}}}, r"phases\.mock lacks block, gap"),
        ({"phases": {"mock": {"blocks": 0, "block": 0, "gap": -1}}}, r"phases\.mock\.gap is negative"),
        ({"phases": []}, "phases should be an object, but is list"),
        ({"files": {"../x.gz": {}}}, r"files names '\.\./x\.gz', which is not a file of a task"),
        ({"files": {"x.gz": {"lines": 1, "bytes": 1, "sha256": "?"}}}, "is not a SHA-256 digest"),
        ({"surprise": 1}, "the file has unknown entries: surprise"),
        ({"feedback": {"perturbation": "none"}}, "feedback lacks signature"),
    ],
)
def test_a_wrong_description_is_refused_by_name(tmp_path, changes, complaint):
    write_task(tmp_path / "task")
    damage(tmp_path / "task", **changes)
    with pytest.raises(TaskError, match=complaint):
        Task.open(tmp_path / "task")


def test_a_description_that_is_no_json_is_refused_with_its_line(tmp_path):
    (tmp_path / "task.json").write_text('{\n"format": 1,\n}')
    with pytest.raises(TaskError, match=r"task\.json:\d: not JSON"):
        Task.open(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, f'{{"format": {"1" * 5_000}}}'], ids=["nested", "digits"])
def test_json_of_excessive_depth_or_digits_is_refused(tmp_path, text):
    (tmp_path / "task.json").write_text(text)
    with pytest.raises(TaskError, match=r"task\.json: not JSON that a task has"):
        Task.open(tmp_path)


def test_every_error_of_the_package_is_a_corpus_error():
    assert issubclass(InputError, CorpusError)
    assert str(InputError("torn", "a.tsv", 3)) == "a.tsv:3: torn"
    assert str(InputError("torn", "a.tsv")) == "a.tsv: torn"
