"""``banditmt evaluate``: measures on files, on a table, and on what a ledger holds."""

import gzip
import json

import pytest

from lambdas.service import Service
from lambdas.store import open_store
from simulator.cli import run
from tests.lambdas import tasks

REFERENCES = "the terrier bites the woman\nthe man bites the terrier\n"
STATIC = "the dog bites the lady\nthe dog bites the man\n"
ADAPTED = "the dog bites the lady\nthe terrier bites the man\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """References, the output of a static system, and the gzipped output of one that adapts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.en").write_text(REFERENCES)
    (tmp_path / "static.en").write_text(STATIC)
    (tmp_path / "adapted.en.gz").write_bytes(gzip.compress(ADAPTED.encode()))
    return ["--references", "refs.en", "--hypotheses", "static.en", "--hypotheses", "adapted.en.gz"]


def values(capsys, *arguments):
    """The values of every row and column that a command prints as JSON."""
    assert run(["evaluate", *arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    return {
        next(iter(row.values())): {name: cell["value"] for name, cell in row.items() if isinstance(cell, dict)}
        for row in rows
    }


def test_recall_on_files(capsys, files):
    found = values(capsys, "recall", "--language", "en", *files)
    assert found["static"] == {"R0": pytest.approx(100 / 3), "R1": 50.0, "R0+1": 40.0}
    assert found["adapted"] == {"R0": pytest.approx(100 / 3), "R1": 100.0, "R0+1": 60.0}


def test_recall_of_novel_words_and_of_all_tokens(capsys, files, tmp_path):
    (tmp_path / "training.en").write_text("the woman bites\n")
    novel = values(capsys, "recall", "--language", "en", "--training", "training.en", *files)
    assert novel["adapted"] == {"R0": 0.0, "R1": 100.0, "R0+1": 50.0}
    assert values(capsys, "recall", "--subwords", *files)["adapted"]["R0"] == pytest.approx(60.0)


def test_ter_and_sentence_bleu_stand_beside_bleu(capsys, files):
    assert list(values(capsys, "ter", *files)["static"]) == ["TER", "BLEU"]
    found = values(capsys, "sentence-bleu", "--smoothing", "grounded", *files)
    assert found["adapted"]["SBLEU"] > found["static"]["SBLEU"]


def test_systems_can_be_named(capsys, files):
    named = ["--references", "refs.en", "--hypotheses", "one=static.en", "--hypotheses", "two=static.en"]
    assert list(values(capsys, "ter", *named)) == ["one", "two"]


def test_the_table_says_what_its_numbers_mean(capsys, files):
    assert run(["evaluate", "ter", *files]) == 0
    printed = capsys.readouterr().out
    assert "TER (lower is better)" in printed
    assert "TER|nrefs:1|case:mixed|tok:none|norm:no|punct:yes|asian:no|v:1" in printed


def test_csv_and_latex(capsys, files):
    assert run(["evaluate", "ter", *files, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("static,40.0,")
    assert run(["evaluate", "ter", *files, "--latex"]) == 0
    assert "static & 40.0" in capsys.readouterr().out


def test_a_table_of_columns(capsys, tmp_path):
    table = tmp_path / "outputs.tsv"
    table.write_text('reference\tdocument\tmine\n"a" b\td1\t"a" c\nb\td2\tb\n')
    assert values(capsys, "ter", "--tsv", str(table)) == {"mine": {"TER": pytest.approx(100 / 3), "BLEU": 0.0}}


def test_a_figure_of_differences(files, tmp_path):
    assert run(["evaluate", "recall", "--language", "en", *files, "--figure", "recall.svg"]) == 0
    assert (tmp_path / "recall.svg").stat().st_size > 1_000


def test_the_slope_and_its_figure(capsys, files, tmp_path):
    found = values(capsys, "slope", *files, "--block-words", "3", "--figure", "slope.svg")
    assert found["static"]["S"] == pytest.approx(100.0)
    assert found["static"]["blocks"] == 2
    assert (tmp_path / "slope.svg").exists()


def test_reliability_by_document(capsys, files, tmp_path):
    (tmp_path / "documents").write_text("d1\nd2\n")
    (tmp_path / "final.en").write_text(STATIC)
    outputs = ["--baseline", "static.en", "--adapted", "adapted.en.gz", "--final", "final.en"]
    arguments = ["--references", "refs.en", "--documents", "documents", *outputs, "--metric", "ter"]
    found = values(capsys, "reliability", *arguments)
    assert found["d1"] == {"baseline": 40.0, "adapted": 40.0, "final": 40.0, "gain": 0.0, "drift": 0.0}
    assert list(found) == ["d1", "d2", "mean"]


def test_repetition_of_a_text_and_its_documents(capsys, tmp_path):
    (tmp_path / "text").write_text("a b c d a b c d\nx y z w\n")
    (tmp_path / "documents").write_text("d1\nd2\n")
    found = values(
        capsys, "repetition", "--sources", str(tmp_path / "text"), "--documents", str(tmp_path / "documents")
    )
    assert found["d1"]["RR"] == pytest.approx(55.34, abs=0.01)
    assert found["d2"]["RR"] == 0.0
    assert list(found) == ["text", "d1", "d2"]


@pytest.fixture
def played(tmp_path):
    """A store with a finished run and one that has just begun; returns its address and the ids of both."""
    address = f"sqlite:{tmp_path / 'store.db'}"
    store = open_store(address)
    tasks.load(store)
    service = Service(store)
    player = tasks.participant(store, service, "acme")
    runs = []
    for system, rounds in (("copy", None), ("begun", 3)):
        runs.append(service.open_run(player, "dev", system).run)
        tasks.play(service, player, runs[-1], rounds=rounds, translate=lambda sentence: sentence.source)
    store.close()
    return address, runs


def test_runs_of_a_store(capsys, played):
    address, (finished, _) = played
    found = values(capsys, "ter", "--run", finished, "--store", address)
    assert 0 < found["copy"]["TER"] <= 100


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["recall", "--language", "tlh"],
            "no stop words for language 'tlh' (did you mean 'tl'?); docs/evaluation.md lists",
        ),
        (["recall", "--language", ""], "no stop words for language ''; docs/evaluation.md lists"),
        (["recall"], "give either --language, whose stop words do not count, or --subwords"),
        (["recall", "--subwords", "--language", "en"], "give either --language"),
        (["slope"], "static: a learning curve needs at least 2 blocks with errors, but got 1 (of 1 blocks)"),
        (["ter", "--figure", "figure.gif"], "--figure ends with .svg, .png, .pdf, but got figure.gif"),
        (["ter", "--figure", "."], "--figure ends with .svg, .png, .pdf, but got"),
        (["ter", "--figure", "folder.svg"], "--figure folder.svg is a folder: give the name of a file in it"),
        (["ter", "--figure", "no/such/figure.svg"], "--figure no/such/figure.svg: there is no folder no/such"),
        (["ter", "--json", "--csv"], "--json, --csv and --latex exclude each other"),
        (["ter", "--tsv", "x.tsv"], "give --references and --hypotheses, or --tsv, or --run"),
        (["sentence-bleu", "--smoothing", "magic"], "'magic' is not one of 'add-one-higher', 'add-one'"),
    ],
)
def test_wrong_usage_is_one_line(capsys, files, tmp_path, arguments, complaint):
    (tmp_path / "folder.svg").mkdir()
    assert run(["evaluate", *arguments, *files]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert complaint in line


@pytest.mark.parametrize(
    ("references", "complaint"),
    [
        ("one line\n", "static has 2 sentences, but the references have 1"),
        ("a line\n\n", "reference 2 is empty"),
        ("", "there is nothing to evaluate"),
    ],
)
def test_texts_that_do_not_belong_together_are_refused(capsys, files, tmp_path, references, complaint):
    (tmp_path / "refs.en").write_text(references)
    assert run(["evaluate", "ter", *files]) == 2
    assert complaint in capsys.readouterr().err


def test_a_figure_of_differences_needs_two_systems(capsys, files):
    assert run(["evaluate", "ter", *files[:4], "--figure", "figure.svg"]) == 2
    assert "give at least two" in capsys.readouterr().err


def test_two_systems_of_one_name_are_refused(capsys, files):
    assert run(["evaluate", "ter", *files, "--hypotheses", "static.en"]) == 1
    assert "two files are called static; give them names: NAME=PATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("mine\ta\n", ":1: its first line should name the columns, but reference is missing"),
        ("", ":1: its first line should name the columns, but reference is missing"),
        ("reference\tmine\tmine\n", ":1: names the column 'mine' twice"),
        ("reference\tmine\nonly one\n", ":2: has 1 columns, but the header has 2"),
        ("reference\tsource\na\tb\n", "there is no system to evaluate"),
    ],
)
def test_a_table_that_is_none_is_refused(capsys, tmp_path, content, complaint):
    (tmp_path / "table.tsv").write_text(content)
    assert run(["evaluate", "ter", "--tsv", str(tmp_path / "table.tsv")]) == 1
    assert complaint in capsys.readouterr().err


def test_an_unknown_run_is_refused(capsys, played):
    assert run(["evaluate", "ter", "--run", "nonsense", "--store", played[0]]) == 1
    assert "there is no run nonsense in this store" in capsys.readouterr().err


def test_runs_of_different_lengths_are_refused(capsys, played):
    address, (finished, begun) = played
    assert run(["evaluate", "ter", "--run", finished, "--run", begun, "--store", address]) == 2
    assert "begun has 3 sentences, but the references have" in capsys.readouterr().err


def test_a_run_is_not_compared_with_itself(capsys, played):
    address, (finished, _) = played
    assert run(["evaluate", "ter", "--run", finished, "--run", finished, "--store", address]) == 1
    assert "a run is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["repetition", "--sources", "empty"], "empty has no words: there is nothing to measure"),
        (["repetition", "--sources", "refs.en", "--window", "3"], "Input should be greater than or equal to 4"),
        (["recall", "--language", "en", "--training", "empty"], "empty has no words: without --training"),
        (["recall", "--language", "en", "--repetitions", "100000000"], "Input should be less than or equal to 9"),
    ],
)
def test_what_cannot_be_measured_is_refused(capsys, files, tmp_path, arguments, complaint):
    (tmp_path / "empty").write_text("\n")
    given = arguments if arguments[0] == "repetition" else [*arguments, *files]
    assert run(["evaluate", *given]) == 2
    assert complaint in capsys.readouterr().err


def test_the_signature_does_not_depend_on_the_case_of_the_language(capsys, files):
    assert run(["evaluate", "recall", "--language", "EN", *files]) == 0
    assert "|stop:en/iso-" in capsys.readouterr().out
