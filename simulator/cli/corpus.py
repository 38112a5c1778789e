"""``banditmt corpus``: create tasks from synthetic or real text, and look at them."""

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from corpora.checking import find_problems
from corpora.debian import DebianCorpus, InDomainText, describe_debian_task
from corpora.document_statistics import measure_documents
from corpora.errors import CorpusError
from corpora.phase_cutting import cut_phases
from corpora.readers import SUPPORTED_INPUTS
from corpora.sampling import sample_pairs
from corpora.scales import DIALOGUES, SCALES, ScaleName
from corpora.statistics import measure_task, statistics_record
from corpora.synthesis import synthesise_dialogues, synthesise_task, synthetic_ceiling
from corpora.task import DESCRIPTION_FILE, Task, require_free_path
from corpora.task_import import RawCorpus, describe_import, import_task, read_raw_corpus
from leaderboard.metrics.bleu import sentence_bleu
from leaderboard.metrics.repetition import repetition_counts
from simulator.cli import corpus_tables
from simulator.cli.progress_bars import count_bar, download_bar
from task.atomic_files import open_staged
from task.description import AboutTask, TaskDescription
from task.feedback import METRICS, NO_NOISE, SENTENCE_BLEU, FeedbackKind, FeedbackSpec, find_metric
from task.languages import LanguagePair, is_language
from task.phases import PHASES
from task.public_texts import check_public_text

app = typer.Typer(
    name="corpus", help="Create tasks from synthetic or real text, and look at them.", no_args_is_help=True
)

DEBIAN_CACHE = Path("~/.cache/banditmt/debian")
NO_OUT_OF_DOMAIN = (
    "note: there is no out-of-domain text, so no seed model can be trained on this task: only copy-source and systems "
    "with a model of their own can play it, and participants get no text to train on. --out-of-domain FILE adds it"
)

Out = Annotated[Path, typer.Option("--out", help="The task directory to create.")]
TaskPath = Annotated[Path, typer.Argument(metavar="TASK", help="A task directory.")]
Seed = Annotated[int, typer.Option(help="The random seed. The same seed gives the same task.", min=0)]
Processes = Annotated[int, typer.Option(help="The number of processes.", min=1, max=64)]
Noise = Annotated[
    str,
    typer.Option(help="Feedback noise: none, granular:N, high-variance:X, skewed:X or binary:X, such as granular:5."),
]
Feedback = Annotated[
    FeedbackKind, typer.Option(help="What participants receive: a number, or also the post-edit after each round.")
]
MetricName = Annotated[str, typer.Option("--metric", help=f"What scores translations: {' or '.join(METRICS)}.")]
Title = Annotated[str, typer.Option(help="The title of the task, for participants.")]
Contact = Annotated[str, typer.Option(help="Whom participants ask: an address or a URL.")]
OutOfDomainUrl = Annotated[str, typer.Option(help="Where participants find the out-of-domain text on the web.")]
Dev = Annotated[int | None, typer.Option(help="Rounds of the dev phase.", min=1)]
Training = Annotated[int | None, typer.Option(help="Rounds of the training phase.", min=1)]


def _language(code: str) -> str:
    if not is_language(code):
        raise typer.BadParameter(f"{code!r} is not a language code such as de or pt-BR")
    return code


@app.command()
def synth(
    out: Out,
    scale: Annotated[
        ScaleName, typer.Option(help="demo: seconds to generate; dev: a full dev phase; full: the size of WMT 2017.")
    ] = ScaleName.DEMO,
    seed: Seed = 1,
    training: Training = None,
    dev: Dev = None,
    mock: Annotated[int | None, typer.Option(help="Rounds of the mock phase.", min=1)] = None,
    out_of_domain: Annotated[int | None, typer.Option(help="Out-of-domain pairs.", min=1)] = None,
    departments: Annotated[
        int | None, typer.Option(help="Departments of the shop: by default 3 for demo, else all 35.", min=1)
    ] = None,
    feedback: Feedback = FeedbackKind.BANDIT,
    metric: MetricName = SENTENCE_BLEU.name,
    noise: Noise = NO_NOISE,
    documents: Annotated[
        bool,
        typer.Option(
            help="Serve pages of products of one category as documents, and tell participants where they begin."
        ),
    ] = False,
    title: Title = "",
    contact: Contact = "",
    out_of_domain_url: OutOfDomainUrl = "",
    processes: Processes = 2,
) -> None:
    """Generate a German-English e-commerce task.

    Its out-of-domain side is news.
    """
    preset = SCALES[scale].without_held_out if feedback is FeedbackKind.POST_EDIT else SCALES[scale]
    size = preset.resized(mock=mock, dev=dev, training=training, out_of_domain=out_of_domain)
    spec = FeedbackSpec(noise, seed, feedback, find_metric(metric))
    about = AboutTask(title, contact, out_of_domain_url)
    with count_bar("generating", total=size.lines) as advance:
        task = synthesise_task(
            out,
            size,
            seed=seed,
            departments=departments,
            feedback=spec,
            documents=documents,
            about=about,
            processes=processes,
            progress=advance,
        )
    typer.echo(corpus_tables.task_summary(task))


@app.command()
def dialogue(
    out: Out,
    seed: Seed = 1,
    training: Training = None,
    dev: Dev = None,
    out_of_domain: Annotated[int | None, typer.Option(help="Pairs to train on.", min=1)] = None,
    feedback: Feedback = FeedbackKind.BANDIT,
    metric: MetricName = SENTENCE_BLEU.name,
    noise: Noise = NO_NOISE,
    title: Title = "",
    contact: Contact = "",
    out_of_domain_url: OutOfDomainUrl = "",
    processes: Processes = 2,
) -> None:
    """Generate an English-German task of dialogues that need context.

    The folder contrastive of the task has test sets of consistency, for `banditmt evaluate contrastive`.
    """
    preset = DIALOGUES.without_held_out if feedback is FeedbackKind.POST_EDIT else DIALOGUES
    size = preset.resized(dev=dev, training=training, out_of_domain=out_of_domain)
    spec = FeedbackSpec(noise, seed, feedback, find_metric(metric))
    about = AboutTask(title, contact, out_of_domain_url)
    with count_bar("generating", total=size.lines) as advance:
        task = synthesise_dialogues(
            out, size, seed=seed, feedback=spec, about=about, processes=processes, progress=advance
        )
    typer.echo(corpus_tables.task_summary(task))


@app.command("import")
def import_(
    out: Out,
    source: Annotated[str, typer.Option(help="Language code of the source.", callback=_language)],
    target: Annotated[str, typer.Option(help="Language code of the target.", callback=_language)],
    in_domain: Annotated[
        list[str], typer.Option(help=f"In-domain text, for the phases. May be repeated. Formats: {SUPPORTED_INPUTS}.")
    ],
    out_of_domain: Annotated[
        list[str] | None, typer.Option(help="Out-of-domain text, for pre-training. Same formats.")
    ] = None,
    licence: Annotated[str, typer.Option(help="Licence of the text, for the record.")] = "unknown",
    seed: Seed = 1,
    dev: Dev = None,
    training: Training = None,
    documents: Annotated[
        bool, typer.Option(help="Keep documents together, and tell participants where they begin.")
    ] = False,
    unique: Annotated[bool, typer.Option(help="Leave out pairs that occurred before.")] = False,
    tokenised: Annotated[
        bool, typer.Option(help="The text is tokenised already: keep its tokens, punctuation and decimal commas.")
    ] = False,
    feedback: Feedback = FeedbackKind.BANDIT,
    metric: MetricName = SENTENCE_BLEU.name,
    noise: Noise = NO_NOISE,
    title: Title = "",
    contact: Contact = "",
    out_of_domain_url: OutOfDomainUrl = "",
    processes: Processes = 2,
) -> None:
    """Import real text: clean it, shuffle both sides and cut the in-domain side into phases.

    The cleaning is that of Sokolov et al. 2017, section 2.
    """
    check_public_text(licence, "the licence")
    languages = LanguagePair(source, target)
    spec = FeedbackSpec(noise, seed, feedback, find_metric(metric))
    about = AboutTask(title, contact, out_of_domain_url)
    description = describe_import(languages, licence=licence, seed=seed, feedback=spec, documents=documents)
    raw = read_raw_corpus(
        languages, in_domain, out_of_domain or (), keep_documents=documents, unique=unique, tokenised=tokenised
    )
    _import(out, replace(description, about=about), raw, dev, training, processes)
    if not out_of_domain:
        typer.echo(NO_OUT_OF_DOMAIN, err=True)


@app.command()
def debian(
    out: Out,
    language: Annotated[
        str, typer.Option(help="The language to translate into English, or from it.", callback=_language)
    ] = "de",
    from_english: Annotated[bool, typer.Option("--from-english", help="Translate from English.")] = False,
    text: Annotated[
        InDomainText | None,
        typer.Option(
            help="The text of the phases: strings of interfaces, or manuals as documents in natural order. "
            "Default: manuals if the feedback is post-edits, else interfaces."
        ),
    ] = None,
    cache: Annotated[Path, typer.Option(help="The directory for downloads.")] = DEBIAN_CACHE,
    seed: Seed = 1,
    dev: Dev = None,
    training: Training = None,
    feedback: Feedback = FeedbackKind.BANDIT,
    metric: MetricName = SENTENCE_BLEU.name,
    noise: Noise = NO_NOISE,
    documents: Annotated[
        bool,
        typer.Option(
            help="Keep manuals or message catalogues together as documents, and tell participants where they begin. "
            "Manuals always are."
        ),
    ] = False,
    title: Title = "",
    contact: Contact = "",
    out_of_domain_url: OutOfDomainUrl = "",
    processes: Processes = 2,
) -> None:
    """Import text from Debian packages.

    The packages are downloaded, but not installed. An interrupted download resumes.
    """
    spec = FeedbackSpec(noise, seed, feedback, find_metric(metric))
    about = AboutTask(title, contact, out_of_domain_url)
    if text is None:
        text = InDomainText.MANUALS if feedback is FeedbackKind.POST_EDIT else InDomainText.INTERFACES
    documents = documents or text is InDomainText.MANUALS
    description = describe_debian_task(
        language, text=text, from_english=from_english, seed=seed, feedback=spec, documents=documents
    )
    require_free_path(out)
    corpus = DebianCorpus(cache.expanduser(), language)
    typer.echo("updating the package lists", err=True)
    if missing := corpus.locate():
        typer.echo(f"not in this release: {', '.join(missing)}", err=True)
    with download_bar(sum(package.size for package in corpus.packages)) as advance:
        corpus.download(advance)
    raw = corpus.read(text=text, from_english=from_english, keep_documents=documents)
    _import(out, replace(description, about=about), raw, dev, training, processes)


def _import(
    out: Path, description: TaskDescription, raw: RawCorpus, dev: int | None, training: int | None, processes: int
) -> None:
    held_out = not description.feedback.shows_post_edits
    warnings: list[str] = []  # printed after the progress bar
    with count_bar("reading and cleaning") as advance:
        counts = import_task(
            out,
            description,
            raw,
            lambda pairs: cut_phases(pairs, dev=dev, training=training, held_out=held_out),
            processes=processes,
            progress=advance,
            warn=warnings.append,
        )
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    for side, numbers in counts.items():
        _print_table(corpus_tables.cleaning_table(side, numbers), markdown=False)
    typer.echo(corpus_tables.task_summary(Task.open(out)))


@app.command("feedback")
def set_feedback(
    task: TaskPath,
    phase: Annotated[str, typer.Option(help="The phase: mock, dev or training.")],
    noise: Noise,
) -> None:
    """Set the feedback noise of one phase, before the task is loaded: granular:20 rounds rewards to steps of 0.05."""
    description = Task.open(task).description
    if phase not in description.phases:
        raise CorpusError(f"{task} has no phase {phase}; its phases are {', '.join(description.phases)}")
    spec = replace(description.phase(phase).feedback, noise=noise)
    changed = replace(description, phase_feedback={**description.phase_feedback, phase: spec})
    with open_staged(task / DESCRIPTION_FILE) as file:
        file.write(changed.to_json().encode())
    typer.echo(f"phase {phase}: {spec.signature}")


@app.command()
def check(task: TaskPath) -> None:
    """Check every line of a task, and print what is wrong and where."""
    found = 0
    for problem in find_problems(task):
        found += 1
        typer.echo(problem)
    if found:
        raise typer.Exit(1)
    typer.echo(f"{task} is valid")


@app.command()
def stats(
    tasks: Annotated[list[Path], typer.Argument(metavar="TASK...", help="One task, or several to compare.")],
    phase: Annotated[
        list[str] | None, typer.Option(help="Limit the in-domain side to this phase. May be repeated.")
    ] = None,
    documents: Annotated[
        bool, typer.Option("--documents", help="Print a line for each document: repetition rate, unknown words.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    markdown: Annotated[bool, typer.Option(help="Print a Markdown table.")] = False,
    paper: Annotated[
        bool, typer.Option("--paper", help="Compare with the WMT 2017 task, and mark values that are far from its own.")
    ] = False,
) -> None:
    """Print the statistics of one task, or of several side by side.

    With --documents, describe the documents of one task instead.
    """
    for name in phase or ():
        _require_phase(name)
    if documents:
        if len(tasks) > 1:
            raise typer.BadParameter("--documents describes one task")
        measured = measure_documents(Task.open(tasks[0]), _repetition_rate, parts=phase)
        if as_json:
            typer.echo(json.dumps([asdict(one) for one in measured], indent=2, ensure_ascii=False))
        else:
            _print_table(corpus_tables.documents_table(measured), markdown=markdown)
        return
    found = {str(path): measure_task(Task.open(path), sentence_bleu, parts=phase) for path in tasks}
    if as_json:
        records = {name: statistics_record(statistics, with_paper=paper) for name, statistics in found.items()}
        typer.echo(json.dumps(records if len(records) > 1 else next(iter(records.values())), indent=2))
    else:
        _print_table(corpus_tables.statistics_table(found, with_paper=paper), markdown=markdown)


def _repetition_rate(sentences: Sequence[str]) -> float | None:
    return repetition_counts(sentences).rate


@app.command()
def sample(
    task: TaskPath,
    number: Annotated[int, typer.Option("-n", "--number", help="Number of pairs.", min=1)] = 50,
    part: Annotated[str, typer.Option(help="The part: out-of-domain, mock, dev or training.")] = "training",
    seed: Annotated[int, typer.Option(help="The random seed. The same seed gives the same pairs.", min=0)] = 1,
    markdown: Annotated[bool, typer.Option(help="Print a Markdown table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
) -> None:
    """Print random pairs of a task."""
    opened = Task.open(task)
    chosen = sample_pairs(opened, part, number, seed)
    if as_json:
        for line, pair in chosen:
            record = {"line": line, "source": pair.source, "target": pair.target}
            typer.echo(json.dumps(record, ensure_ascii=False))
        return
    _print_table(corpus_tables.sample_table(chosen, opened.description), markdown=markdown)


@app.command()
def ceiling(
    task: TaskPath,
    phase: Annotated[str, typer.Option(help="The phase: mock, dev or training.")] = "training",
    number: Annotated[int, typer.Option("--sample", help="Number of sentences to sample.", min=1)] = 1000,
) -> None:
    """Print the expected score of the best possible output.

    Only synthetic tasks have a known ceiling.
    """
    _require_phase(phase)
    typer.echo(f"{synthetic_ceiling(Task.open(task), phase, sentence_bleu, number):.4f}")


def _require_phase(name: str) -> None:
    if name not in PHASES:
        raise CorpusError(f"no phase is called {name!r}; the phases are {', '.join(PHASES)}")


def _print_table(table: corpus_tables.Table, *, markdown: bool) -> None:
    if markdown:
        typer.echo(table.markdown())
    else:
        Console().print(table.rich(), highlight=False)
