"""Every problem of a task is reported with its file and line."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.checking import find_problems
from corpora.line_files import LineWriter, read_lines
from corpora.task import Pair, TaskWriter, in_served_order, write_pairs
from corpora.task_import import RawCorpus, import_task
from task.layout import Layout
from tests.corpora.tasks import LAYOUTS, description, numbered, write_task

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("AΣİẞ.,' \u00ad\u2028'\"1")
) | st.sampled_from(["Wort " * 26, "Wort " * 150, "A... B.", "IT' S ΑΣ", "http://X.DE/A?B=C"])


def found(path: Path) -> list[str]:
    return [problem.replace(str(path), "TASK") for problem in find_problems(path)]


def rewrite(file: Path, change: Callable[[list[str]], list[str]]) -> None:
    lines = change(list(read_lines(file)))
    file.unlink()
    with LineWriter(file) as writer:
        for line in lines:
            writer.write(line)


def redescribe(path: Path, change: Callable[[dict], None]) -> None:
    content = json.loads((path / "task.json").read_text())
    change(content)
    (path / "task.json").write_text(json.dumps(content))


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_task(tmp_path / "task").path


def test_a_valid_task_has_no_problems(task):
    assert found(task) == []


def test_a_directory_without_a_task_is_reported(tmp_path):
    assert found(tmp_path) == ["TASK is not a task: it has no task.json"]


def test_a_missing_file_is_reported(task):
    (task / "dev.en.gz").unlink()
    assert found(task) == ["TASK/dev.en.gz: missing, although task.json lists it"]


def test_a_changed_line_is_reported(task):
    rewrite(task / "out-of-domain.de.gz", lambda lines: ["news satz x", *lines[1:]])
    assert len(found(task)) == 1
    assert found(task)[0].startswith("TASK/out-of-domain.de.gz: its text has changed since task.json was written")


def test_a_missing_line_is_reported(task):
    rewrite(task / "mock.de.gz", lambda lines: lines[:-1])
    assert found(task) == [
        "TASK/mock.de.gz:2: ends after 2 lines, but its layout makes 3",
        "TASK/mock.de.gz: has 2 lines and 24 bytes of text, but task.json says 3 and 36",
    ]


def shorten(task: Path, name: str, by: int) -> None:
    """Remove lines from the end of a file, and describe the rest in ``task.json``."""
    rewrite(task / name, lambda lines: lines[:-by])
    text = "".join(f"{line}\n" for line in read_lines(task / name)).encode()
    summary = {"lines": text.count(b"\n"), "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    redescribe(task, lambda content: content["files"].update({name: summary}))


def test_misaligned_sides_are_reported_even_if_task_json_describes_them(task):
    shorten(task, "out-of-domain.en.gz", 2)
    assert found(task) == [
        "TASK: the files of out-of-domain are not aligned:"
        " out-of-domain.de.gz has 5 lines, out-of-domain.en.gz has 3 lines"
    ]


def test_misaligned_document_ids_are_reported(tmp_path):
    with TaskWriter(tmp_path / "task", description()) as writer:
        for part, layout in LAYOUTS.items():
            pairs = in_served_order(
                [Pair(*pair[:2], "Catalogue A") for pair in numbered(part, layout.distinct)], layout, part
            )
            writer.add(part, write_pairs(writer.directory, part, ("de", "en"), pairs, documents=True), layout)
    assert found(tmp_path / "task") == []
    shorten(tmp_path / "task", "dev.documents.gz", 1)
    assert found(tmp_path / "task")[0] == (
        "TASK: the files of dev are not aligned:"
        " dev.de.gz has 8 lines, dev.documents.gz has 7 lines, dev.en.gz has 8 lines"
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "TASK/mock.de.gz:2: empty line"),
        (" satz", "TASK/mock.de.gz:2: tokens are not separated by single spaces"),
        ("ein\u00a0 satz", "TASK/mock.de.gz:2: tokens are not separated by single spaces"),
        ("ein\u00adsatz", "TASK/mock.de.gz:2: has a character that cannot be printed (U+00AD)"),
        ("ein Satz", "TASK/mock.de.gz:2: is not lowercased"),
        ("wort " * 25 + "wort", "TASK/mock.de.gz:2: has 26 tokens, but 25 are the most here"),
    ],
)
def test_an_unclean_line_is_reported(task, line, complaint):
    rewrite(task / "mock.de.gz", lambda lines: [lines[0], line, lines[2]])
    assert complaint in found(task)


def test_out_of_domain_lines_may_be_longer(task):
    long = " ".join(["wort"] * 150)
    rewrite(task / "out-of-domain.de.gz", lambda lines: [long, f"{long} wort", *lines[2:]])
    complaints = [problem for problem in found(task) if "tokens" in problem]
    assert complaints == ["TASK/out-of-domain.de.gz:2: has 151 tokens, but 150 are the most here"]


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=40))
@settings(max_examples=10, deadline=None)
def test_an_imported_task_has_no_problems(rows):
    def cut(pairs: int) -> dict[str, Layout]:
        return {"training": Layout.plain(pairs)}

    pairs = [Pair("satz", "sentence"), *(Pair(*row) for row in rows)]
    with TemporaryDirectory() as aside:
        path = Path(aside) / "task"
        import_task(path, description(), RawCorpus(pairs, pairs, keep_documents=True), cut)
        assert found(path) == ["TASK: phase mock is missing", "TASK: phase dev is missing"]


def test_a_held_out_pass_that_differs_is_reported(task):
    rewrite(task / "training.de.gz", lambda lines: [*lines[:7], "training satz 9", *lines[8:]])
    assert "TASK/training.de.gz:8: pass 1 over the held-out block differs from line 2" in found(task)


def test_a_missing_line_is_reported_before_the_passes_that_it_shifts(task):
    rewrite(task / "training.de.gz", lambda lines: lines[1:])
    problems_found = found(task)
    assert problems_found[:2] == [
        "TASK/training.de.gz:13: ends after 13 lines, but its layout makes 14",
        "TASK/training.de.gz: has 13 lines and 208 bytes of text, but task.json says 14 and 224",
    ]
    assert "differs from line" in problems_found[2]


def test_a_truncated_file_is_reported(task):
    file = task / "dev.de.gz"
    file.write_bytes(file.read_bytes()[:-8])
    assert len(found(task)) == 1
    assert found(task)[0].startswith("TASK/dev.de.gz:9: is a damaged or truncated gzip file")


def test_an_invalid_layout_is_reported(task):
    redescribe(task, lambda content: content["phases"]["dev"].update(blocks=1))
    [problem] = found(task)
    assert problem.startswith("TASK/task.json: phase dev cannot be laid out: a gap lies between two held-out passes")


def test_a_missing_phase_and_unexpected_files_are_reported(task):
    def change(content: dict) -> None:
        del content["phases"]["mock"]
        del content["files"]["dev.en.gz"]

    redescribe(task, change)
    assert found(task) == [
        "TASK: phase mock is missing",
        "TASK: task.json does not list dev.en.gz",
        "TASK: task.json lists mock.de.gz, which belongs to no part of this task",
        "TASK: task.json lists mock.en.gz, which belongs to no part of this task",
    ]


def test_unknown_noise_is_reported(task):
    redescribe(task, lambda content: content["feedback"].update(perturbation="loud:3"))
    [problem] = found(task)
    assert problem.startswith("TASK/task.json: feedback: unknown feedback noise 'loud:3'; known are none, ")


def test_a_signature_of_other_feedback_is_reported(task):
    redescribe(task, lambda content: content["feedback"].update(perturbation="granular:5"))
    assert "but this feedback has sentBLEU" in found(task)[0]


def test_the_same_language_twice_is_reported(tmp_path):
    path = write_task(tmp_path / "task").path
    redescribe(path, lambda content: content.update(target="de"))
    assert "TASK: source and target are both 'de'" in found(path)


def test_the_problems_of_a_file_are_limited(task):
    rewrite(task / "out-of-domain.de.gz", lambda _: [" "] * 100)
    complaints = [line for line in found(task) if "out-of-domain.de.gz" in line]
    assert len(complaints) == 21
    assert complaints[-1] == "TASK/out-of-domain.de.gz: and more like these"
