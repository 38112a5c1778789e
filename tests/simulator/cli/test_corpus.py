"""``banditmt corpus``: every command, and its errors, which are one line each."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import ModuleType

import pytest

from corpora.debian import debian_corpus
from corpora.debian.apt import Package
from corpora.line_files import LineWriter
from corpora.task import Pair, Task
from simulator.cli import run
from task.description import AboutTask
from task.feedback import FeedbackSpec
from tests.corpora.fakes import FakeGenerator
from tests.corpora.tasks import write_task


@pytest.fixture
def fake_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("corpora.synth")
    module.CorpusGenerator = FakeGenerator  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "corpora.synth", module)


def words(number: int) -> str:
    """Return a number in letters: cleaning removes sources with several numerals."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    file = tmp_path / "shop.tsv"
    rows = [f"Ware {words(n)}, rot\tGood {words(n)}, red\tdoc-{n // 10}" for n in range(2000)]
    file.write_text("\n".join([*rows, rows[0], "2 x 3\t2 by 3\tdoc", "nichts\t\tdoc"]) + "\n")
    return file


@pytest.mark.usefixtures("fake_generator")
def test_synth_writes_a_valid_task(tmp_path, capsys):
    out = tmp_path / "task"
    assert run(["corpus", "synth", "--out", str(out), "--processes", "1", "--out-of-domain", "500"]) == 0
    assert "out-of-domain 500, mock 48, dev 4,000, training 10,000 lines" in capsys.readouterr().out
    assert run(["corpus", "check", str(out)]) == 0
    assert capsys.readouterr().out == f"{out} is valid\n"
    description = Task.open(out).description
    assert (description.generator, description.licence, description.seed) == ("synth 0/3", "CC0-1.0", 1)


ABOUT = ["--title", "Läden", "--contact", "org@example.org", "--out-of-domain-url", "https://example.org/news"]


def test_dialogue_writes_a_task_that_can_be_scored_for_consistency(tmp_path, capsys):
    arguments = ["--dev", "292", "--training", "1211", "--out-of-domain", "300", "--processes", "1"]
    assert run(["corpus", "dialogue", "--out", str(tmp_path / "task"), *arguments]) == 0
    assert "out-of-domain 300, mock 48, dev 292, training 1,211 lines" in capsys.readouterr().out
    assert run(["corpus", "check", str(tmp_path / "task")]) == 0
    sets = tmp_path / "task" / "contrastive"
    assert run(["evaluate", "contrastive", "--set", str(sets), "--lines", str(tmp_path / "lines")]) == 0
    assert run(["corpus", "dialogue", "--out", str(tmp_path / "task")]) == 1
    assert "already exists" in capsys.readouterr().err


@pytest.mark.usefixtures("fake_generator")
def test_synth_writes_what_the_organiser_says_about_the_task(tmp_path):
    assert run(["corpus", "synth", "--out", str(tmp_path / "task"), "--processes", "1", *ABOUT]) == 0
    about = Task.open(tmp_path / "task").description.about
    assert about == AboutTask("Läden", "org@example.org", "https://example.org/news")


def test_import_writes_what_the_organiser_says_about_the_task(tmp_path, tsv):
    options = ["--source", "de", "--target", "en", "--in-domain", str(tsv), "--processes", "1", "--licence", "CC0-1.0"]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *options, *ABOUT]) == 0
    description = Task.open(tmp_path / "task").description
    assert description.about == AboutTask("Läden", "org@example.org", "https://example.org/news")
    assert description.licence == "CC0-1.0"


@pytest.mark.parametrize(
    ("option", "text", "complaint"),
    [
        ("--title", "x" * 101, "the title has 101 characters, but at most 100 are allowed"),
        ("--contact", "a\nb", "the contact is one line of printable characters"),
        ("--out-of-domain-url", "ftp://example.org", "the out-of-domain URL is not an address of the web"),
        ("--licence", "CC0\u202e", "the licence is one line of printable characters"),
    ],
)
def test_import_refuses_what_cannot_be_shown(option, text, complaint, tmp_path, tsv, capsys):
    options = ["--source", "de", "--target", "en", "--in-domain", str(tsv), option, text]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *options]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert not (tmp_path / "task").exists()


@pytest.mark.usefixtures("fake_generator")
def test_synth_can_show_post_edits_in_documents(tmp_path, capsys):
    sizes = ["--mock", "2", "--dev", "292", "--training", "1211", "--out-of-domain", "3"]
    options = ["--feedback", "post-edit", "--metric", "chrf", "--documents"]
    assert run(["corpus", "synth", "--out", str(tmp_path / "task"), *sizes, *options]) == 0
    phase = Task.open(tmp_path / "task").description.phase("dev")
    assert (phase.feedback.kind, phase.feedback.metric.name, phase.documents) == ("post-edit", "chrf", True)
    assert run(["corpus", "check", str(tmp_path / "task")]) == 0


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (["--feedback", "gossip"], "'gossip' is not one of 'bandit', 'post-edit'"),
        (["--metric", "stars"], "unknown metric 'stars'; known are sentence-bleu, chrf"),
    ],
)
def test_unknown_feedback_is_refused(tmp_path, capsys, option, complaint):
    assert run(["corpus", "synth", "--out", str(tmp_path / "task"), *option]) != 0
    assert complaint in capsys.readouterr().err
    assert not (tmp_path / "task").exists()


def test_synth_can_add_noise_to_the_feedback(tmp_path):
    sizes = ["--mock", "3", "--dev", "580", "--training", "1233", "--out-of-domain", "2", "--processes", "1"]
    arguments = ["--out", str(tmp_path / "task"), "--noise", "granular:5", "--seed", "9", *sizes]
    assert run(["corpus", "synth", *arguments]) == 0
    description = Task.open(tmp_path / "task").description
    assert description.feedback == FeedbackSpec("granular:5", seed=9)
    assert description.signature.endswith("|perturb:granular:5")


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["--training", "9999"], 1, "nearest: 9,989 or 10,000"),
        (["--noise", "loud:1"], 1, "unknown feedback noise 'loud:1'"),
        (["--scale", "huge"], 2, "'huge' is not one of"),
        (["--seed", "-1"], 2, "greater than or equal to 0"),
        (["--out-of-domain", "0"], 2, "greater than or equal to 1"),
        (["--departments", "0"], 2, "greater than or equal to 1"),
    ],
)
@pytest.mark.usefixtures("fake_generator")
def test_synth_refuses_invalid_options(tmp_path, capsys, arguments, code, complaint):
    assert run(["corpus", "synth", "--out", str(tmp_path / "task"), *arguments]) == code
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_synth_refuses_more_departments_than_there_are(tmp_path, capsys):
    assert run(["corpus", "synth", "--out", str(tmp_path / "task"), "--departments", "99"]) == 1
    assert capsys.readouterr().err == "banditmt: the shop cannot have 99 departments; choose 1 to 35\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("out", [".", "..", "/", "elsewhere/.."])
@pytest.mark.usefixtures("fake_generator")
def test_the_task_directory_must_have_a_name(tmp_path, capsys, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    assert run(["corpus", "synth", "--out", out]) == 1
    complaint = f"{out} does not name a new directory; give the name of the directory to create"
    assert capsys.readouterr().err == f"banditmt: {complaint}\n"
    assert list(tmp_path.iterdir()) == []


TERMINATED = """
if __name__ == "__main__":  # the processes that generate need none of this
    import corpora.synth
    from simulator.cli import main
    from tests.corpora.fakes import TerminatingGenerator

    corpora.synth.CorpusGenerator = TerminatingGenerator
    main()
"""


def test_sigterm_leaves_no_files(tmp_path):
    program, out = tmp_path / "terminated.py", tmp_path / "task"
    program.write_text(TERMINATED)
    arguments = ["corpus", "synth", "--out", str(out), "--out-of-domain", "1000000", "--processes", "2"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "banditmt: terminated\n")
    assert list(tmp_path.iterdir()) == [program]


def test_import_cleans_cuts_and_reports(tmp_path, capsys, tsv):
    out = tmp_path / "task"
    arguments = ["--source", "de", "--target", "en", "--in-domain", str(tsv), "--out-of-domain", str(tsv), "--unique"]
    assert run(["corpus", "import", "--out", str(out), *arguments, "--licence", "MIT", "--processes", "1"]) == 0
    printed = capsys.readouterr().out
    assert "2,003 pairs read, 2,000 kept" in printed
    assert "several numerals" in printed
    assert "out-of-domain 2,000, mock 48, dev" in printed
    assert run(["corpus", "check", str(out)]) == 0
    description = Task.open(out).description
    assert description.cleaning["training"] == {
        "read": 2003,
        "more than 10,000 characters": 0,
        "non-printing characters": 0,
        "entities": 0,
        "punctuation": 0,
        "lowercase": 0,
        "pre-tokenise": 0,
        "tokenise": 0,
        "decimal points": 0,
        "empty side": 1,
        "several numerals": 1,
        "more than 25 tokens": 0,
        "repeated": 1,
    }
    assert not description.has_documents
    assert description.generator == "import 2"


def test_importing_an_exported_text_as_tokenised_changes_nothing(tmp_path):
    rows = [f"Ware {words(n)}: „neu“, z. B.\tit's the king's good {words(n)} &amp; don't" for n in range(1200)]
    given = tmp_path / "raw.tsv"
    given.write_text("\n".join(rows) + "\n")
    languages = ["--source", "de", "--target", "en", "--processes", "1"]
    texts = []
    for number, options in enumerate(([], ["--tokenised"], ["--tokenised"])):
        out = tmp_path / f"task-{number}"
        sides = ["--in-domain", str(given), "--out-of-domain", str(given)]
        assert run(["corpus", "import", "--out", str(out), *languages, *sides, *options]) == 0
        assert run(["corpus", "check", str(out)]) == 0
        texts.append(sorted(Task.open(out).pairs("out-of-domain")))
        given = f"{out}/out-of-domain.de.gz,{out}/out-of-domain.en.gz"
    assert texts[0] == texts[1] == texts[2]
    assert texts[0][0] == ('ware a : " neu " , z. b.', "it 's the king 's good a & don 't", "")


def test_import_without_out_of_domain_text_says_what_is_missing(tmp_path, capsys, tsv):
    arguments = ["--source", "de", "--target", "en", "--in-domain", str(tsv), "--processes", "1"]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *arguments]) == 0
    assert "no seed model can be trained on this task: only copy-source" in capsys.readouterr().err


def test_import_warns_of_text_without_spaces(tmp_path, capsys, tsv):
    rows = [line.split("\t") for line in tsv.read_text().splitlines()][:1050]
    tsv.write_text("".join(f"{row[0]}\tชุดเดรสสีแดงนี้เหมาะสำหรับฤดูร้อน\n" for row in rows))
    arguments = ["--source", "de", "--target", "th", "--in-domain", str(tsv), "--processes", "1"]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *arguments]) == 0
    warning, *_ = capsys.readouterr().err.splitlines()
    assert warning == (
        "warning: the text in th has no spaces between words, but scores count tokens that spaces separate: segment it"
        " into words first, and import it with banditmt corpus import --tokenised"
    )


def test_import_can_keep_documents(tmp_path, tsv):
    out = tmp_path / "task"
    arguments = ["--source", "de", "--target", "en", "--in-domain", str(tsv), "--documents", "--processes", "1"]
    assert run(["corpus", "import", "--out", str(out), *arguments]) == 0
    assert run(["corpus", "check", str(out)]) == 0
    assert next(Task.open(out).pairs("training")).document.startswith("doc-")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("missing.tsv", "missing.tsv: no such file or directory"),
        ("torn.tsv", "torn.tsv:3: has 1 columns, but the first line has 3"),
        ("few.tsv", "a task needs at least 1,000 clean in-domain pairs, but there are 1"),
        ("", "the input '' has an empty path; give one path, or several joined by commas"),
        ("few.tsv,", "the input 'few.tsv,' has an empty path; give one path, or several joined by commas"),
        (
            "few.tsv,,few.tsv",
            "the input 'few.tsv,,few.tsv' has an empty path; give one path, or several joined by commas",
        ),
    ],
)
def test_import_refuses_invalid_inputs(tmp_path, capsys, monkeypatch, given, complaint):
    monkeypatch.chdir(tmp_path)
    Path("torn.tsv").write_text("a\tb\tc\na\tb\tc\na\n")
    Path("few.tsv").write_text("a\tb\n")
    arguments = ["--out", "task", "--source", "de", "--target", "en", "--in-domain", given, "--processes", "1"]
    assert run(["corpus", "import", *arguments]) == 1
    assert capsys.readouterr().err.strip() == f"banditmt: {complaint}"
    assert {path.name for path in tmp_path.iterdir()} == {"torn.tsv", "few.tsv"}


def test_import_refuses_an_invalid_language_code(tmp_path, capsys, tsv):
    arguments = ["--source", "../x", "--target", "en", "--in-domain", str(tsv)]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *arguments]) == 2
    assert "'../x' is not a language code" in capsys.readouterr().err


def test_import_refuses_the_same_language_twice(tmp_path, capsys, tsv):
    arguments = ["--source", "de", "--target", "de", "--in-domain", str(tsv)]
    assert run(["corpus", "import", "--out", str(tmp_path / "task"), *arguments]) == 1
    assert capsys.readouterr().err == "banditmt: source and target are both 'de': name two languages\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--out", "taken"], "taken already exists"),
        (["--out", "."], ". does not name a new directory"),
        (["--out", "task", "--noise", "loud:1"], "unknown feedback noise 'loud:1'"),
        (["--out", "task", "--language", "en"], "source and target are both 'en'"),
    ],
)
def test_debian_refuses_invalid_options_before_it_downloads(tmp_path, capsys, monkeypatch, arguments, complaint):
    def no_apt(*_: object) -> None:
        raise AssertionError("apt was asked")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(debian_corpus, "Apt", no_apt)
    Path("taken").write_text("precious")
    assert run(["corpus", "debian", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"banditmt: {complaint}")
    assert error.count("\n") == 1


class FakeApt:
    """An apt that has all packages but the first of each list."""

    def __init__(self, cache: Path, languages: tuple[str, str]) -> None:
        assert (cache.name, languages[1]) == ("cache", "en")

    def update(self) -> None: ...

    def locate(self, names: list[str]) -> tuple[list[Package], list[str]]:
        return [Package(name, f"{name}.deb", 10, None) for name in names[1:]], names[:1]

    def fetch(self, packages: list[Package], progress: Callable[[int], None]) -> None:
        progress(10 * len(packages))


@pytest.mark.parametrize("language", ["de", "it"])
def test_debian_makes_documents_of_manuals_from_english(tmp_path, capsys, monkeypatch, language):
    read: dict[str, list[str]] = {}

    def documents(_apt, packages, _language):
        read["in-domain"] = [package.name for package in packages]
        return (Pair(f"linea {words(n)}", f"line {words(n)}", f"manual {n // 500}") for n in range(1500))

    def manuals(_apt, packages, _language):
        read["out-of-domain"] = [package.name for package in packages]
        return iter([Pair("pagina", "page")])

    monkeypatch.setattr(debian_corpus, "Apt", FakeApt)
    monkeypatch.setattr(debian_corpus, "document_pairs", documents)
    monkeypatch.setattr(debian_corpus, "manual_pairs", manuals)
    monkeypatch.setattr(debian_corpus, "interface_pairs", lambda *_: iter([Pair("finestra", "window")]))
    out, cache = tmp_path / "task", tmp_path / "cache"
    options = ["--language", language, "--cache", str(cache), "--processes", "1"]
    assert run(["corpus", "debian", "--out", str(out), "--feedback", "post-edit", "--from-english", *options]) == 0
    capsys.readouterr()
    task = Task.open(out)
    assert tuple(task.description.languages) == ("en", language)
    assert (task.description.generator, task.description.serves_documents) == ("debian manuals 1", True)
    assert read["in-domain"] == [f"gimp-help-{language}", "gimp-help-en", "gnome-user-docs"]
    assert not set(read["in-domain"]) & set(read["out-of-domain"])
    assert sorted(task.lines("out-of-domain", "en")) == ["page", "window"]
    served = [pair.document for pair in task.distinct_pairs("training")]
    assert len(list(groupby(served))) == len(set(served))  # no document is torn apart


def test_stats_of_documents(tmp_path, capsys):
    out = tmp_path / "task"
    size = ["--dev", "300", "--training", "300", "--out-of-domain", "300", "--processes", "1"]
    assert run(["corpus", "synth", "--out", str(out), "--documents", "--feedback", "post-edit", *size]) == 0
    capsys.readouterr()
    assert run(["corpus", "stats", str(out), "--documents", "--phase", "dev", "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    assert sum(one["sentences"] for one in documents) == Task.open(out).rounds("dev")
    assert all(one["phase"] == "dev" and 0 <= one["source_oov"] <= 1 for one in documents)
    assert run(["corpus", "stats", str(out), "--documents", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("| phase | document | sentences | source words | repetition rate |")
    assert run(["corpus", "stats", str(out), str(out), "--documents"]) == 2
    assert "--documents describes one task" in capsys.readouterr().err


def test_debian_imports_the_packages_of_apt(tmp_path, capsys, monkeypatch):
    texts = [Pair(f"ligne {words(n)}", f"line {words(n)}") for n in range(1500)]
    monkeypatch.setattr(debian_corpus, "Apt", FakeApt)
    monkeypatch.setattr(debian_corpus, "interface_pairs", lambda *_: iter(texts))
    monkeypatch.setattr(debian_corpus, "manual_pairs", lambda *_: iter(texts))
    out = tmp_path / "task"
    options = ["--language", "fr", "--cache", str(tmp_path / "cache"), "--processes", "1"]
    assert run(["corpus", "debian", "--out", str(out), *options]) == 0
    assert "not in this release: libreoffice-l10n-fr" in capsys.readouterr().err
    assert run(["corpus", "check", str(out)]) == 0
    assert Task.open(out).parts == ["out-of-domain", "mock", "dev", "training"]


def test_debian_without_apt_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert run(["corpus", "debian", "--out", str(tmp_path / "task"), "--cache", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("banditmt: apt-get is not installed")


def test_check_prints_every_problem(tmp_path, capsys):
    task = write_task(tmp_path / "task")
    (task.path / "mock.de.gz").unlink()
    with LineWriter(task.path / "mock.de.gz") as writer:
        for line in ("mock satz 0", "", "mock satz 2"):
            writer.write(line)
    assert run(["corpus", "check", str(task.path)]) == 1
    assert f"{task.path}/mock.de.gz:2: empty line\n" in capsys.readouterr().out


def test_stats_of_one_task_as_json(tmp_path, capsys):
    task = write_task(tmp_path / "task")
    assert run(["corpus", "stats", str(task.path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["in_domain_pairs"], found["out_of_domain_pairs"]) == (3 + 6 + 10, 5)
    assert found["in_domain_mean"] == 3
    assert "out_of_tolerance" not in found
    assert run(["corpus", "stats", str(task.path), "--json", "--paper"]) == 0
    assert "in_domain_mean" in json.loads(capsys.readouterr().out)["out_of_tolerance"]


def test_stats_of_one_phase_without_out_of_domain_side(tmp_path, capsys):
    task = write_task(tmp_path / "task")
    assert run(["corpus", "stats", str(task.path), "--json", "--phase", "dev"]) == 0
    assert json.loads(capsys.readouterr().out)["in_domain_pairs"] == 6


def test_stats_compares_tasks_in_one_table(tmp_path, capsys):
    paths = [str(write_task(tmp_path / name, out_of_domain=size).path) for name, size in (("a", 5), ("b", 6))]
    assert run(["corpus", "stats", *paths, "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"| statistic | {paths[0]} | {paths[1]} |"
    assert "| in-domain source tokens, mean | 3.0 | 3.0 |" in lines
    assert run(["corpus", "stats", *paths, "--markdown", "--paper"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"| statistic | paper | accepted | {paths[0]} | {paths[1]} |"
    assert "| out-of-domain pairs | 5,500,000 |  | 5 | 6 |" in lines
    assert "| in-domain source tokens, mean | 6.6 | 6.3 to 6.9 | ✗ 3.0 | ✗ 3.0 |" in lines
    assert run(["corpus", "stats", *paths, "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == set(paths)
    assert run(["corpus", "stats", *paths]) == 0
    assert "2017" not in capsys.readouterr().out
    assert run(["corpus", "stats", *paths, "--paper"]) == 0
    assert "outside the range of the WMT 2017 task" in capsys.readouterr().out


def test_sample_shows_the_same_pairs_for_the_same_seed(tmp_path, capsys):
    task = write_task(tmp_path / "task")
    printed = []
    for seed in ("1", "1", "2"):
        assert run(["corpus", "sample", str(task.path), "-n", "4", "--seed", seed, "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != printed[2]
    first = json.loads(printed[0].splitlines()[0])
    assert first["source"].replace("satz", "sentence") == first["target"]


def test_sample_of_a_side_as_table(tmp_path, capsys):
    task = write_task(tmp_path / "task")
    arguments = ["corpus", "sample", str(task.path), "--part", "out-of-domain", "-n", "99"]
    assert run([*arguments, "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["| line | de | en |", "| --- | --- | --- |", "| 1 | news satz 0 | news sentence 0 |"]
    assert len(lines) == 2 + 5
    assert run(arguments) == 0
    assert "news satz 4" in capsys.readouterr().out


def test_ceiling_of_a_synthetic_task(tmp_path, capsys):
    task = write_task(tmp_path / "task", generator="synth 5")
    assert run(["corpus", "ceiling", str(task.path), "--sample", "5"]) == 0
    assert 0.1 < float(capsys.readouterr().out) <= 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["ceiling", "task"], "task was made by 'test 1'; only synthetic tasks have a known ceiling"),
        (["stats", "nowhere"], "nowhere is not a task: it has no task.json"),
        (["sample", "nowhere"], "nowhere is not a task: it has no task.json"),
        (
            ["sample", "task", "--part", "test"],
            "task has no test.de.gz; its parts are out-of-domain, mock, dev, training",
        ),
        (["stats", "task", "--phase", "test"], "no phase is called 'test'; the phases are mock, dev, training"),
        (["stats", "task", "--phase", "out-of-domain"], "no phase is called 'out-of-domain'; the phases are mock, dev"),
    ],
)
def test_a_missing_task_part_or_phase_is_an_error(tmp_path, capsys, monkeypatch, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    write_task(Path("task"))
    assert run(["corpus", *arguments]) == 1
    assert complaint in capsys.readouterr().err


class TestFeedback:
    def test_a_phase_gets_its_own_rounding(self, tmp_path, capsys):
        shutil.copytree(Path(__file__).parents[2] / "fixtures" / "v0.1" / "task", tmp_path / "task")
        arguments = ["corpus", "feedback", str(tmp_path / "task"), "--phase", "training", "--noise", "granular:20"]
        assert run(arguments) == 0
        assert capsys.readouterr().out.endswith("|perturb:granular:20\n")
        description = Task.open(tmp_path / "task").description
        assert description.phase("training").feedback == FeedbackSpec("granular:20", seed=17)
        assert description.phase("dev").feedback == FeedbackSpec("high-variance:1", seed=17)
        assert run(["corpus", "check", str(tmp_path / "task")]) == 0

    @pytest.mark.parametrize(
        ("phase", "noise", "message"),
        [
            ("final", "granular:20", "has no phase final; its phases are mock, dev, training"),
            ("dev", "granular:x", "unknown feedback noise 'granular:x'"),
        ],
    )
    def test_what_is_refused(self, tmp_path, capsys, phase, noise, message):
        shutil.copytree(Path(__file__).parents[2] / "fixtures" / "v0.1" / "task", tmp_path / "task")
        before = (tmp_path / "task" / "task.json").read_text()
        assert run(["corpus", "feedback", str(tmp_path / "task"), "--phase", phase, "--noise", noise]) != 0
        assert message in capsys.readouterr().err
        assert (tmp_path / "task" / "task.json").read_text() == before
