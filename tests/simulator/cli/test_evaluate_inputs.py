"""``banditmt evaluate``: where texts come from, and texts that are damaged or do not belong together."""

import gzip
import json

import pytest

from lambdas.service import Service
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from simulator.cli import run
from task.feedback import FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks

REFERENCES = "the terrier bites the woman\nthe man bites the terrier\n"
OUTPUT = "the dog bites the lady\nthe dog bites the man\n"
HELD_OUT = {"refs": REFERENCES, "ids": "d1\nd2\n", "before": OUTPUT, "then": REFERENCES, "after": OUTPUT}
RELIABILITY = [
    *("reliability", "--references", "refs", "--documents", "ids"),
    *("--baseline", "before", "--adapted", "then", "--final", "after"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder: it has references and the output of a system."""
    monkeypatch.chdir(tmp_path)
    for name, text in HELD_OUT.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "out").write_text(OUTPUT)
    return tmp_path


def values(capsys, *arguments):
    """The values of every row and column that a command prints as JSON."""
    assert run(["evaluate", *arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    return {
        next(iter(row.values())): {name: cell["value"] for name, cell in row.items() if isinstance(cell, dict)}
        for row in rows
    }


def error(capsys, *arguments):
    """The one line that a command that fails prints, and its exit code."""
    code = run(["evaluate", *arguments])
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    return code, line.removeprefix("banditmt: ").removeprefix("Invalid value: ")


# The same lines, however they are written.


@pytest.mark.parametrize(
    "references",
    [
        REFERENCES.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + REFERENCES.encode(),
        REFERENCES.rstrip("\n").encode(),
        gzip.compress(REFERENCES.encode()),
    ],
    ids=["Windows line ends", "byte order mark", "no line end at the end", "gzipped"],
)
def test_the_same_lines_have_the_same_score(capsys, folder, references):
    (folder / "refs").write_bytes(references)
    found = values(capsys, "ter", "--references", "refs", "--hypotheses", "out")
    assert found["out"]["TER"] == 40.0


def test_an_empty_line_is_a_translation_without_words(capsys, folder):
    (folder / "out").write_text("the dog bites the lady\n\n")
    found = values(capsys, "ter", "--references", "refs", "--hypotheses", "out")
    assert found["out"]["TER"] == 70.0


def test_a_word_that_is_written_like_no_number_is_a_word(capsys, folder):
    (folder / "refs").write_text("nan inf\nNaN -inf\n")
    (folder / "out").write_text("nan inf\nnan x\n")
    assert values(capsys, "recall", "--subwords", "--references", "refs", "--hypotheses", "out") == {
        "out": {"R0": 50.0, "R1": None, "R0+1": 50.0}
    }


# Files that cannot be read.


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("nowhere", "nowhere: no such file or directory"),
        (".", ".: is a directory"),
        ("out/file", "out/file: not a directory"),
        ("cut.gz", "cut.gz:1: is a damaged or truncated gzip file"),
        ("latin", "latin:1: is not UTF-8 (byte 0xe4 at position 1); convert it with iconv"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["ter", "--references", "refs", "--hypotheses", "FILE"],
        ["ter", "--references", "FILE", "--hypotheses", "out"],
        ["slope", "--tsv", "FILE"],
        ["recall", "--language", "en", "--training", "FILE", "--references", "refs", "--hypotheses", "out"],
        ["repetition", "--sources", "FILE"],
        ["repetition", "--sources", "out", "--documents", "FILE"],
        [*RELIABILITY[:-1], "FILE"],
    ],
    ids=lambda words: " ".join(words),
)
def test_a_file_that_cannot_be_read_is_named(capsys, folder, name, complaint, command):
    (folder / "cut.gz").write_bytes(gzip.compress(REFERENCES.encode())[:20])
    (folder / "latin").write_bytes("ä\n".encode("latin-1"))
    code, line = error(capsys, *(name if word == "FILE" else word for word in command))
    assert code == 1
    assert line.startswith(complaint)


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_figure_that_cannot_be_written_is_named(capsys, folder, suffix):
    (folder / f"figure.{suffix}").symlink_to("/dev/full/figure")
    code, line = error(capsys, "repetition", "--sources", "out", "--figure", f"figure.{suffix}")
    assert (code, line) == (1, f"figure.{suffix}: not a directory")


# Texts that do not belong together.


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ter", "--references", "refs"], "--references and --hypotheses go together"),
        (["ter"], "give --references and --hypotheses, or --tsv, or --run"),
        (["ter", "--references", "one", "--hypotheses", "out"], "out has 2 sentences, but the references have 1"),
        (["repetition"], "give --sources, or --tsv, or --run"),
        (["repetition", "--documents", "ids"], "--documents needs exactly one file of sources"),
        (
            ["repetition", "--sources", "out", "--sources", "refs", "--documents", "ids"],
            "--documents needs exactly one file of sources",
        ),
        (["repetition", "--sources", "out", "--documents", "one"], "there are 1 document ids for 2 sentences"),
        (["repetition", "--sources", "out", "--documents", "gap"], "document id 2 is empty: every sentence needs one"),
        (["reliability"], "give --references, --documents, --baseline, --adapted and --final, or --tsv, or --run"),
        (RELIABILITY[:-2], "--references, --documents, --baseline, --adapted and --final go together"),
        ([*RELIABILITY[:-1], "one"], "final has 1 sentences, but the references have 2"),
        ([*RELIABILITY, "--documents", "one"], "there are 1 document ids for 2 sentences"),
        ([*RELIABILITY, "--references", "gap"], "reference 2 is empty: a translation cannot be compared with it"),
        ([*RELIABILITY, "--run", "x"], "give --references, --documents, --baseline"),
        (["reliability", "--run", "x"], "--run is given three times, for baseline, adapted, final in this order"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_combinations_are_refused(capsys, folder, arguments, complaint):
    (folder / "one").write_text("one line\n")
    (folder / "gap").write_text("d1\n\n")
    code, line = error(capsys, *arguments)
    assert code == 2
    assert line.startswith(complaint)


def test_two_texts_of_one_name_are_refused(capsys, folder):
    code, line = error(capsys, "repetition", "--sources", "out", "--sources", "./out")
    assert (code, line) == (1, "two files are called out; give them names: NAME=PATH")


def test_a_document_with_the_name_of_its_text_is_refused(capsys, folder):
    code, line = error(capsys, "repetition", "--sources", "d1=out", "--documents", "ids")
    assert (code, line) == (1, "both the text and a document are called d1: give the text another name, NAME=FILE")


# TSV files


def test_a_table_gives_every_command_its_columns(capsys, folder):
    columns = zip(*(text.splitlines() for text in HELD_OUT.values()), OUTPUT.splitlines(), strict=True)
    header = ["reference", "document", "baseline", "adapted", "final", "source"]
    (folder / "all.tsv").write_text("".join("\t".join(row) + "\n" for row in [header, *columns]))
    assert values(capsys, "reliability", "--tsv", "all.tsv", "--metric", "ter")["d1"] == {
        "baseline": 40.0,
        "adapted": 0.0,
        "final": 40.0,
        "gain": -40.0,
        "drift": 40.0,
    }
    assert list(values(capsys, "repetition", "--tsv", "all.tsv")) == ["all", "d1", "d2"]
    assert values(capsys, "ter", "--tsv", "all.tsv")["adapted"]["TER"] == 0.0


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("repetition", "table.tsv:1: its first line should name the columns, but source is missing"),
        (
            "reliability",
            "table.tsv:1: its first line should name the columns, but document, baseline, final is missing",
        ),
    ],
)
def test_a_missing_column_is_named(capsys, folder, command, complaint):
    (folder / "table.tsv").write_text("reference\tadapted\na\tb\n")
    assert error(capsys, command, "--tsv", "table.tsv") == (1, complaint)


def test_a_table_without_rows_has_nothing_to_evaluate(capsys, folder):
    (folder / "table.tsv").write_text("reference\tmine\n")
    code, line = error(capsys, "ter", "--tsv", "table.tsv")
    assert code == 2
    assert line.startswith("there is nothing to evaluate: hypotheses and references have no sentences")


@pytest.mark.parametrize("cell", ["a\rb", "x" * 200_000], ids=["a carriage return in a cell", "a very long cell"])
def test_any_cell_is_text(capsys, folder, cell):
    (folder / "table.tsv").write_text(f"reference\tmine\na b\t{cell}\n", newline="")
    assert list(values(capsys, "ter", "--tsv", "table.tsv")) == ["mine"]


# Runs of a store

DOCUMENTS = ["a"] * 3 + ["b"] * 4 + ["c"]
PAIRS = [(f"satz {number} mit vier", f"sentence {number} with four", name) for number, name in enumerate(DOCUMENTS)]


@pytest.fixture
def played(folder):
    """A store with runs of two participants with equal names, by phase: ``post`` has documents, and ``dev`` has not."""
    address = f"sqlite:{folder / 'store.db'}"
    store = open_store(address)
    feedback = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
    phase = Phase("post", Layout.plain(len(PAIRS)), repeatable=True, feedback=feedback, documents=True)
    load_phase(store, phase, PAIRS, language="en")
    load_phase(store, tasks.DEV, tasks.pairs(tasks.DEV), language="en")
    service = Service(store)
    gold = {source: reference for source, reference, _ in PAIRS}
    translators = {
        "baseline": lambda sentence: sentence.source,
        "adapted": lambda sentence: gold[sentence.source],
        "final": lambda sentence: gold[sentence.source].replace("four", "five"),
    }
    runs: dict[str, list[str]] = {"post": [], "dev": []}
    for name, translate in translators.items():
        player = tasks.participant(store, service, name)
        runs["post"].append(service.open_run(player, "post", "same").run)
        tasks.play(service, player, runs["post"][-1], translate=translate)
        runs["dev"].append(service.open_run(player, "dev", "same").run)
        tasks.play(service, player, runs["dev"][-1])
    store.close()
    return address, runs


def options(address, runs):
    return [*(word for each in runs for word in ("--run", each)), "--store", address]


def test_runs_of_equal_names_are_told_apart(capsys, played):
    address, runs = played
    assert list(values(capsys, "ter", *options(address, runs["post"]))) == [
        "baseline/same/1",
        "adapted/same/1",
        "final/same/1",
    ]


def test_the_reliability_of_three_runs_is_that_of_the_last_thirds_of_documents(capsys, played):
    address, runs = played
    assert run(["evaluate", "reliability", *options(address, runs["post"]), "--metric", "ter", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {
        row["document"]: {name: row[name]["value"] for name in ("adapted", "final", "drift")} for row in found["rows"]
    }
    forgotten = {"adapted": 0.0, "final": 25.0, "drift": 25.0}
    assert rows == {"document 1": forgotten, "document 2": forgotten, "mean": forgotten}
    assert found["notes"] == ["left out: 1 documents of fewer than three sentences"]


def test_the_repetition_rate_of_what_a_run_was_given(capsys, played):
    address, runs = played
    assert list(values(capsys, "repetition", *options(address, runs["post"][:1]))) == [
        "post",
        "document 1",
        "document 2",
        "document 3",
    ]
    assert list(values(capsys, "repetition", *options(address, [runs["post"][0], runs["dev"][0]]))) == ["post", "dev"]


def test_runs_that_do_not_fit_a_command_are_refused(capsys, played):
    address, runs = played
    assert error(capsys, "repetition", *options(address, runs["dev"])) == (
        1,
        "two of these runs are of phase dev: they have the same sources",
    )
    assert error(capsys, "reliability", *options(address, runs["dev"])) == (
        1,
        "phase dev has no documents, and reliability is measured by document",
    )
    assert error(capsys, "ter", *options(address, [runs["post"][0], runs["dev"][0]])) == (
        1,
        "these runs are of different phases: dev, post",
    )


# Outputs


@pytest.mark.parametrize(
    "command",
    [
        ["recall", "--language", "en", "--references", "refs", "--hypotheses", "out", "--hypotheses", "then"],
        ["ter", "--references", "refs", "--hypotheses", "out", "--hypotheses", "then"],
        ["sentence-bleu", "--references", "refs", "--hypotheses", "out", "--hypotheses", "then"],
        ["slope", "--references", "refs", "--hypotheses", "out", "--block-words", "3"],
        RELIABILITY,
        ["repetition", "--sources", "out"],
    ],
    ids=lambda words: words[0],
)
def test_every_command_prints_every_format_and_draws_a_figure(capsys, folder, command):
    assert run(["evaluate", *command]) == 0
    assert "|v:1" in capsys.readouterr().out
    assert run(["evaluate", *command, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"rows", "signatures", "lower_is_better", "notes"}
    assert run(["evaluate", *command, "--csv"]) == 0
    assert capsys.readouterr().out.startswith(("system,", "document,", "text,"))
    assert run(["evaluate", *command, "--latex", "--figure", "figure.svg"]) == 0
    assert r"\begin{tabular}" in capsys.readouterr().out
    assert (folder / "figure.svg").read_text().startswith("<svg")


def test_notes_go_with_the_table_and_beside_the_csv(capsys, folder):
    command = ["evaluate", "ter", "--references", "refs", "--hypotheses", "out"]
    note = "no intervals: they need at least 10 sentences, and there are 2\n"
    assert run(command) == 0
    assert note in capsys.readouterr().out
    assert run([*command, "--csv"]) == 0
    printed = capsys.readouterr()
    assert note not in printed.out
    assert printed.err == note
