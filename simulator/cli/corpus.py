"""``banditmt corpus``: make tasks, of synthetic or of real text, and look at them."""

import json
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from corpora.checking import find_problems
from corpora.cleaning import Counts
from corpora.debian import INTERFACE_PACKAGES, MANUAL_PACKAGES, Apt, interface_pairs, manual_pairs, packages_for
from corpora.debian.apt import Package
from corpora.errors import CorpusError
from corpora.importing import Material, import_task
from corpora.readers import SUPPORTED_INPUTS, read_input
from corpora.statistics import measure, out_of_tolerance
from corpora.synthesis import LANGUAGES, LICENCE, synthesise
from corpora.task import Pair, Task, require_free_path
from leaderboard.metrics.bleu import sentence_bleu
from simulator.cli import corpus_tables
from simulator.cli.progress_bars import progress_bars
from simulator.scales import SCALES, ScaleName, cut_phases
from task.description import TaskDescription
from task.feedback import FeedbackSpec
from task.languages import LanguagePair, is_language
from task.layout import Layout
from task.phases import PHASES

app = typer.Typer(
    name="corpus", help="Make tasks, of synthetic or of real text, and look at them.", no_args_is_help=True
)

DEBIAN_CACHE = Path("~/.cache/banditmt/debian")
DEBIAN_LICENCE = "those of the packages, mostly GPL and LGPL: for use on this machine, not for passing on"
ENGLISH = "en"

Out = Annotated[Path, typer.Option("--out", help="The task directory to make.")]
TaskPath = Annotated[Path, typer.Argument(metavar="TASK", help="A task directory.")]
Seed = Annotated[int, typer.Option(help="The same seed makes the same task.", min=0)]
Processes = Annotated[int, typer.Option(help="Processes to spread the work over.", min=1, max=64)]
Perturbation = Annotated[str, typer.Option(help="How feedback is blurred: none, or such as granular:5 or binary:0.3.")]
Dev = Annotated[int | None, typer.Option(help="Rounds of the dev phase.", min=1)]
Training = Annotated[int | None, typer.Option(help="Rounds of the training phase.", min=1)]


def _language(code: str) -> str:
    if not is_language(code):
        raise typer.BadParameter(f"{code!r} is no language code such as de or pt-BR")
    return code


@app.command()
def synth(
    out: Out,
    scale: Annotated[
        ScaleName, typer.Option(help="demo: seconds; dev: a real dev phase; full: as large as WMT 2017.")
    ] = ScaleName.DEMO,
    seed: Seed = 1,
    training: Training = None,
    dev: Dev = None,
    mock: Annotated[int | None, typer.Option(help="Rounds of the mock phase.", min=1)] = None,
    out_of_domain: Annotated[int | None, typer.Option(help="Out-of-domain pairs.", min=1)] = None,
    departments: Annotated[
        int | None, typer.Option(help="How much of the shop there is; all 35 unless for a demo.", min=1)
    ] = None,
    perturbation: Perturbation = "none",
    processes: Processes = 2,
) -> None:
    """Generate a German-English e-commerce task with a news-like out-of-domain side."""
    from corpora.synth import CorpusGenerator  # its lexicon takes a moment to load

    size = SCALES[scale].resized(mock=mock, dev=dev, training=training, out_of_domain=out_of_domain)
    departments = departments or size.departments
    description = _describe(LANGUAGES, seed, CorpusGenerator(seed, departments=departments).name, LICENCE, perturbation)
    factory = partial(CorpusGenerator, departments=departments)
    with _progress("generating", total=size.lines) as advance:
        synthesise(out, description, size.phases, size.out_of_domain, factory, processes=processes, progress=advance)
    _announce(out)


@app.command("import")
def import_(
    out: Out,
    source: Annotated[str, typer.Option(help="Language code of the source.", callback=_language)],
    target: Annotated[str, typer.Option(help="Language code of the target.", callback=_language)],
    in_domain: Annotated[list[str], typer.Option(help=f"Text to translate (may be repeated): {SUPPORTED_INPUTS}.")],
    out_of_domain: Annotated[list[str] | None, typer.Option(help="Text to pre-train on, likewise.")] = None,
    licence: Annotated[str, typer.Option(help="Licence of the text, for the record.")] = "unknown",
    seed: Seed = 1,
    dev: Dev = None,
    training: Training = None,
    documents: Annotated[bool, typer.Option(help="Keep documents together, and their ids.")] = False,
    unique: Annotated[bool, typer.Option(help="Leave out pairs that came before.")] = False,
    perturbation: Perturbation = "none",
    processes: Processes = 2,
) -> None:
    """Make a task of real text: clean it as the task paper did, shuffle it and cut it into phases."""
    languages = (source, target)
    description = _describe(languages, seed, "import", licence, perturbation)
    material = Material(
        in_domain=_read_all(in_domain, languages),
        out_of_domain=_read_all(out_of_domain, languages) if out_of_domain else None,
        keep_documents=documents,
        unique=unique,
    )
    _import(out, description, material, lambda pairs: cut_phases(pairs, dev=dev, training=training), processes)


@app.command()
def debian(
    out: Out,
    language: Annotated[str, typer.Option(help="The language to translate into English.", callback=_language)] = "de",
    cache: Annotated[Path, typer.Option(help="Where downloads are kept.")] = DEBIAN_CACHE,
    seed: Seed = 1,
    dev: Dev = None,
    training: Training = None,
    perturbation: Perturbation = "none",
    processes: Processes = 2,
) -> None:
    """Make a task of what Debian ships: packages are downloaded, not installed; an interrupted download goes on."""
    description = _describe((language, ENGLISH), seed, "debian", DEBIAN_LICENCE, perturbation)
    require_free_path(out)
    apt = Apt(cache.expanduser(), (language, ENGLISH))
    typer.echo("asking apt what there is", err=True)
    apt.update()
    interfaces = _fetch(apt, packages_for(INTERFACE_PACKAGES, language))
    manuals = _fetch(apt, packages_for(MANUAL_PACKAGES, language))
    material = Material(interface_pairs(apt, interfaces, language), manual_pairs(apt, manuals, language))
    _import(out, description, material, lambda pairs: cut_phases(pairs, dev=dev, training=training), processes)


def _fetch(apt: Apt, names: list[str]) -> list[Package]:
    packages, missing = apt.locate(names)
    if missing:
        typer.echo(f"not in this release: {', '.join(missing)}", err=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with progress_bars(*columns) as bar:
        task = bar.add_task("downloading", total=sum(package.size for package in packages))
        apt.fetch(packages, progress=lambda size: bar.advance(task, size))
    return packages


@app.command()
def check(task: TaskPath) -> None:
    """Look at every line of a task; say what is wrong and where."""
    found = 0
    for problem in find_problems(task):
        found += 1
        typer.echo(problem)
    if found:
        raise typer.Exit(1)
    typer.echo(f"{task} is sound")


@app.command()
def stats(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK...", help="One task, or several to compare.")],
    phase: Annotated[list[str] | None, typer.Option(help="Only this phase for the in-domain side.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option(help="Print a Markdown table.")] = False,
) -> None:
    """Print the statistics of tasks beside those of the task paper, and mark what is out of tolerance."""
    for name in phase or ():
        _require_phase(name)
    found = {str(path): measure(Task.open(path), sentence_bleu, parts=phase) for path in tasks}
    if as_json:
        records: dict[str, Any] = {}
        for name, statistics in found.items():
            numbers = {key: None if math.isnan(value) else value for key, value in statistics.flat().items()}
            records[name] = {**numbers, "out_of_tolerance": out_of_tolerance(statistics)}
        typer.echo(json.dumps(records if len(records) > 1 else next(iter(records.values())), indent=2))
    else:
        _print_table(corpus_tables.statistics_table(found), markdown=markdown)


@app.command()
def sample(
    task: TaskPath,
    number: Annotated[int, typer.Option("-n", "--number", help="How many pairs.", min=1)] = 50,
    part: Annotated[str, typer.Option(help="out-of-domain, mock, dev or training.")] = "training",
    seed: Seed = 1,
    markdown: Annotated[bool, typer.Option(help="Print a Markdown table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Show random pairs of a task."""
    opened = Task.open(task)
    lines = opened.rounds(part)
    wanted = set(random.Random(seed).sample(range(lines), min(number, lines)))
    chosen = [(index, pair) for index, pair in enumerate(opened.pairs(part)) if index in wanted]
    if as_json:
        for index, pair in chosen:
            typer.echo(
                json.dumps({"line": index + 1, "source": pair.source, "target": pair.target}, ensure_ascii=False)
            )
        return
    _print_table(corpus_tables.sample_table(chosen, opened.description), markdown=markdown)


@app.command()
def ceiling(
    task: TaskPath,
    phase: Annotated[str, typer.Option(help="mock, dev or training.")] = "training",
    number: Annotated[int, typer.Option("--sample", help="Sentences to draw.", min=1)] = 1000,
) -> None:
    """Print the expected score of the best possible output on a synthetic task."""
    from corpora.synth import SYNTHETIC, CorpusGenerator

    description = Task.open(task).description
    if not description.generator.startswith(SYNTHETIC):
        raise CorpusError(f"{task} was made by {description.generator!r}; only synthetic tasks know their ceiling")
    _require_phase(phase)
    typer.echo(
        f"{CorpusGenerator.named(description.generator, description.seed).ceiling(phase, sentence_bleu, number):.4f}"
    )


def _require_phase(name: str) -> None:
    if name not in PHASES:
        raise CorpusError(f"no phase is called {name!r}; known are {', '.join(PHASES)}")


def _describe(
    languages: tuple[str, str], seed: int, generator: str, licence: str, perturbation: str
) -> TaskDescription:
    """The description of a task that has yet to be written; what can never be one is refused here."""
    if languages[0] == languages[1]:
        raise CorpusError(f"source and target are both {languages[0]!r}: name two languages")
    return TaskDescription(LanguagePair(*languages), generator, licence, FeedbackSpec(perturbation, seed))


def _read_all(inputs: list[str], languages: tuple[str, str]) -> Iterator[Pair]:
    return chain.from_iterable([read_input(given, languages) for given in inputs])


def _import(
    out: Path,
    description: TaskDescription,
    material: Material,
    cutter: Callable[[int], dict[str, Layout]],
    processes: int,
) -> None:
    with _progress("reading and cleaning", total=None) as advance:
        counts = import_task(out, description, material, cutter, processes=processes, progress=advance)
    _report_cleaning(counts)
    _announce(out)


def _report_cleaning(counts: dict[str, Counts]) -> None:
    for side, numbers in counts.items():
        _print_table(corpus_tables.cleaning_table(side, numbers), markdown=False)


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with progress_bars(*columns) as bar:
        task = bar.add_task(what, total=total)
        yield lambda pairs: bar.advance(task, pairs)


def _announce(out: Path) -> None:
    task = Task.open(out)
    sizes = ", ".join(f"{part} {task.rounds(part):,}" for part in task.parts)
    typer.echo(f"{out}: {sizes} lines")


def _print_table(table: corpus_tables.Table, *, markdown: bool) -> None:
    if markdown:
        typer.echo(table.markdown())
    else:
        Console().print(table.rich(), highlight=False)
