"""The documents are true: their commands parse, and their links, paths, alarms and results exist."""

import calendar
import re
import shlex
from pathlib import Path

import pytest
import stopwordsiso
import typer.main

from benchmarks.studies.summary import read_studies, summary
from simulator.cli import app
from simulator.cloud.template import SamTemplate

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "client_sdk/README.md", "client_sdk/java/README.md"),
    *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))),
]
PACKAGES = ["benchmarks", "client_sdk", "corpora", "lambdas", "leaderboard", "learners", "simulator", "task", "tests"]
NOT_AUTHORS = {"WMT", *calendar.month_name, *calendar.month_abbr}  # words before a year that is not a citation's
ORGANISERS_HANDBOOK = (ROOT / "docs" / "organising.md").read_text()

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(banditmt [^`]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_PATH = re.compile(rf"`((?:{'|'.join([*PACKAGES, 'docs'])})/[\w./-]*)[`:]")
_CITATION = re.compile(r"[A-Z][\w'-]+(?: et al\.| and [A-Z][\w'-]+)? (?:19|20)\d\d\b")
_TEST = re.compile(r"`(tests/[\w/]+\.py)((?:::\w+)+)`")
_OPERATORS = {"&&", "||", "|", ";", ">", "&"}


def commands(text):
    """Yield every ``banditmt`` command in the code blocks of a document, as a list of words."""
    for _, block in _FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from _banditmt(line)


def mentions(text):
    """Yield every ``banditmt`` command in the sentences of a document, which need not be complete."""
    for inline in _INLINE.findall(_FENCED.sub("", text)):
        yield from _banditmt(inline.replace("\n", " "))


def _banditmt(line):
    """Yield the commands in a line of shell. N becomes a number, and an ellipsis is left out."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # not shell, but part of a program
        return
    while words:
        end = next((number for number, word in enumerate(words) if word in _OPERATORS), len(words))
        command, words = words[:end], words[end + 1 :]
        if command[:1] == ["sudo"]:
            command = command[3:]  # sudo -u USER
        if command and command[0].rpartition("/")[2] == "banditmt":
            yield ["1" if word == "N" else word for word in command[1:] if word != "..."]


def parse(words):
    """Parse a command line as the program does, without running it."""
    command, context = typer.main.get_command(app), None
    while True:
        context = command.make_context(command.name, list(words), parent=context)
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not rest or not hasattr(command, "resolve_command"):
            return
        _, command, words = command.resolve_command(context, rest)


def usage_error(words):
    """Return the kind of error in a command line and its message, or None."""
    try:
        parse(words)
    except typer.TyperException as error:
        return type(error).__name__, f"banditmt {' '.join(words)}: {error.format_message()}"
    return None


def test_commands_are_found_in_documents():
    assert len(list(commands(ORGANISERS_HANDBOOK))) > 30
    assert ["admin", "participant", "add", "acme"] in list(commands(ORGANISERS_HANDBOOK))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["admin", "partcipant", "list"], "UsageError"),
        (["admin", "export"], "MissingParameter"),
        (["serve", "--prot", "1"], "NoSuchOption"),
        (["serve", "--port", "high"], "BadParameter"),
    ],
)
def test_errors_in_commands_are_found(words, kind):
    found = usage_error(words)
    assert found is not None
    assert found[0] == kind


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_parses(document):
    text = (ROOT / document).read_text()
    incomplete = ("MissingParameter", "NoArgsIsHelpError")  # allowed in a sentence, such as "banditmt admin"
    assert [found for found in map(usage_error, commands(text)) if found] == []
    assert [found for found in map(usage_error, mentions(text)) if found and found[0] not in incomplete] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_has_a_target(document):
    path = ROOT / document
    for link in _LINK.findall(_FENCED.sub("", path.read_text())):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://")):
            continue
        found = (path.parent / target).resolve() if target else path
        assert found.exists(), f"{document}: {link}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", found.read_text(), re.MULTILINE)
            assert anchor in [_anchor(heading) for heading in headings], f"{document}: {link}"


def _anchor(heading):
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_exists(document):
    for path in _PATH.findall((ROOT / document).read_text()):
        assert (ROOT / path).exists(), f"{document}: {path}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_exists(document):
    for path, names in _TEST.findall((ROOT / document).read_text()):
        source = (ROOT / path).read_text()
        for name in names.split("::")[1:]:
            assert re.search(rf"^\s*(def |class )?{name}\b", source, re.MULTILINE), f"{document}: {path}::{name}"


def test_the_handbook_explains_every_alarm_and_no_other():
    rows = re.findall(r"^\| `(\w+)` \|", ORGANISERS_HANDBOOK, re.MULTILINE)
    alarms = [row for row in rows if row[0].isupper()]
    assert sorted(alarms) == sorted(SamTemplate.load("prod").resources("AWS::CloudWatch::Alarm"))


def test_the_handbook_explains_every_widget_of_the_dashboard():
    titles = re.findall(r'"title": "([^"]+)"', (ROOT / "template.yaml").read_text())
    assert titles
    for title in titles:
        assert f"| {title} |" in ORGANISERS_HANDBOOK


def test_the_handbook_explains_every_parameter_of_the_stack():
    template = (ROOT / "template.yaml").read_text()
    parameters = re.findall(r"^  (\w+):$", template.partition("Mappings:")[0].partition("Parameters:")[2], re.MULTILINE)
    assert len(parameters) == 6
    for parameter in parameters:
        assert f"| Parameter {parameter} |" in ORGANISERS_HANDBOOK


def test_every_citation_is_listed_in_papers_md():
    papers = (ROOT / "docs" / "papers.md").read_text()
    listed = set(re.findall(r"^(?:\| )?\*\*(.+? \d{4})\.\*\*", papers, re.MULTILINE))
    assert len(listed) > 20
    sources = [ROOT / document for document in DOCUMENTS if document != "docs/papers.md"]
    sources += [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    for path in sources:
        text = re.sub(r"\s+(# )?", " ", path.read_text())  # a citation may continue on the next line of a comment
        cited = {citation for citation in _CITATION.findall(text) if citation.split()[0] not in NOT_AUTHORS}
        assert cited <= listed, f"{path.relative_to(ROOT)}: {cited - listed}"


def test_evaluation_md_lists_the_languages_with_stop_words():
    text = (ROOT / "docs" / "evaluation.md").read_text()
    listed = re.search(r"stopwords-iso for ([a-z,\s]+ and [a-z]+);", text)
    assert listed is not None
    assert re.findall(r"\b[a-z]{2}\b", listed[1]) == sorted(stopwordsiso.langs())


# results


def test_the_table_in_learning_md_has_the_results_of_the_studies():
    results = ROOT / "benchmarks" / "studies" / "results"
    studies = read_studies([results / "learning", results / "learning-debian"])
    assert summary(studies) in (ROOT / "docs" / "learning.md").read_text()
