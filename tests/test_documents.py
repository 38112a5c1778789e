"""The documents tell the truth: their commands can be typed, their alarms ring, their links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

from benchmarks.studies.learning import STUDY
from benchmarks.studies.summary import kept, summary
from simulator.cli import app
from simulator.cloud.template import SamTemplate

ROOT = Path(__file__).parent.parent
DOCUMENTS = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
HANDBOOK = (ROOT / "docs" / "organising.md").read_text()

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`(banditmt [^`]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_OPERATORS = {"&&", "||", "|", ";", ">", "&"}


def commands(text):
    """Every ``banditmt`` command in the code blocks of a document, as words."""
    for _, block in _FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from _banditmt(line)


def mentions(text):
    """Those within its sentences, which need not be complete."""
    for inline in _INLINE.findall(_FENCED.sub("", text)):
        yield from _banditmt(inline.replace("\n", " "))


def _banditmt(line):
    """The commands of a line of a shell; what is left open is filled in or left out."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a part of a program
        return
    while words:
        end = next((number for number, word in enumerate(words) if word in _OPERATORS), len(words))
        command, words = words[:end], words[end + 1 :]
        if command[:1] == ["sudo"]:
            command = command[3:]  # sudo -u USER
        if command and command[0].rpartition("/")[2] == "banditmt":
            yield ["1" if word == "N" else word for word in command[1:] if word != "..."]


def parse(words):
    """Parse a command line as the program would, without doing anything."""
    command, context = typer.main.get_command(app), None
    while True:
        context = command.make_context(command.name, list(words), parent=context)
        rest = [*getattr(context, "_protected_args", []), *context.args]
        if not rest or not hasattr(command, "resolve_command"):
            return
        _, command, words = command.resolve_command(context, rest)


def complaint(words):
    """The kind of error that a command line is, and what is said about it."""
    try:
        parse(words)
    except typer.TyperException as wrong:
        return type(wrong).__name__, f"banditmt {' '.join(words)}: {wrong.format_message()}"
    return None


def test_there_are_commands_to_check():
    assert len(list(commands(HANDBOOK))) > 30
    assert ["admin", "participant", "add", "acme"] in list(commands(HANDBOOK))


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["admin", "partcipant", "list"], "UsageError"),
        (["admin", "export"], "MissingParameter"),
        (["serve", "--prot", "1"], "NoSuchOption"),
        (["serve", "--port", "high"], "BadParameter"),
    ],
)
def test_what_is_wrong_is_noticed(words, kind):
    found = complaint(words)
    assert found is not None
    assert found[0] == kind


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_command_can_be_typed(document):
    text = (ROOT / document).read_text()
    incomplete = ("MissingParameter", "NoArgsIsHelpError")  # allowed in a sentence, as in "banditmt admin"
    assert [found for found in map(complaint, commands(text)) if found] == []
    assert [found for found in map(complaint, mentions(text)) if found and found[0] not in incomplete] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_somewhere(document):
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
    """As GitHub makes them."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_alarm_is_explained_and_no_other():
    rows = re.findall(r"^\| `(\w+)` \|", HANDBOOK, re.MULTILINE)
    alarms = [row for row in rows if row[0].isupper()]
    assert sorted(alarms) == sorted(SamTemplate.load("prod").resources("AWS::CloudWatch::Alarm"))


def test_every_widget_of_the_dashboard_is_explained():
    titles = re.findall(r'"title": "([^"]+)"', (ROOT / "template.yaml").read_text())
    assert titles
    for title in titles:
        assert f"| {title} |" in HANDBOOK


def test_every_parameter_of_the_stack_is_answered():
    template = (ROOT / "template.yaml").read_text()
    parameters = re.findall(r"^  (\w+):$", template.partition("Mappings:")[0].partition("Parameters:")[2], re.MULTILINE)
    assert len(parameters) == 4
    for parameter in parameters:
        assert f"| Parameter {parameter} |" in HANDBOOK


# results


def test_the_table_of_learning_is_what_the_studies_left():
    results = ROOT / "benchmarks" / "studies" / "results"
    studies = kept([results / "learning", results / "learning-debian"], STUDY.measured_against)
    assert summary(studies, STUDY.measured_against) in (ROOT / "docs" / "learning.md").read_text()
