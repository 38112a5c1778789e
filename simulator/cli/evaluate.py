"""``banditmt evaluate``: measures of translation and of adaptation, on files or on runs of a store."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from corpora.line_files import read_lines
from leaderboard.metrics.learning_curve import CurveModel, ErrorRate, LearningCurveError, slope_signature
from leaderboard.metrics.repetition import WindowPolicy, repetition_counts, repetition_signature
from leaderboard.metrics.sentence_bleu import Smoothing
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store
from simulator.evaluation import EvaluatedTexts, group_by_document, read_files, read_runs, read_table, split_name
from simulator.tasks import DEFAULT_STORE

if TYPE_CHECKING:  # numpy takes a moment to load, and only these commands need it
    from leaderboard.evaluation.measures import Measure
    from leaderboard.evaluation.reports import Report

app = typer.Typer(
    name="evaluate",
    help="Measure how good translations are, and how systems adapt. The texts come from files or runs.",
    no_args_is_help=True,
)


class DocumentMetric(StrEnum):
    """How the held-out part of a document is scored."""

    BLEU = "bleu"
    TER = "ter"


References = Annotated[Path | None, typer.Option(help="File of references.", show_default=False)]
Hypotheses = Annotated[
    list[str] | None,
    typer.Option(help="File of hypotheses, or NAME=FILE. Repeat it for several systems; the first is the baseline."),
]
Tsv = Annotated[
    Path | None,
    typer.Option(
        "--tsv", help="TSV file whose first line names the columns: reference, source, document, and the systems."
    ),
]
Runs = Annotated[
    list[str] | None, typer.Option("--run", help="The id of a run in the store; repeat it for several runs.")
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")]
Figure = Annotated[Path | None, typer.Option(help="Write a figure to this file: .svg, .png or .pdf.")]


@app.command()
def recall(
    language: Annotated[
        str | None,
        typer.Option(help="Language of the references, whose stop words do not count. Required unless --subwords."),
    ] = None,
    references: References = None,
    hypotheses: Hypotheses = None,
    tsv: Tsv = None,
    runs: Runs = None,
    store: StoreOption = DEFAULT_STORE,
    subwords: Annotated[bool, typer.Option(help="Count every token, stop words included.")] = False,
    training: Annotated[
        Path | None, typer.Option(help="Target side of the training text. Count only words that it does not have.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(help="Report words with up to this many earlier references: 1 for R0 and R1.", min=0, max=9)
    ] = 1,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
    figure: Figure = None,
) -> None:
    """Measure the recall of new words and of words seen once.

    Prints the recall of content words that no earlier reference has (R0), that exactly one has (R1), and both (R0+1).
    """
    from leaderboard.evaluation.measures import recall_measures

    if (language is None) != subwords:
        raise typer.BadParameter("give either --language, whose stop words do not count, or --subwords")
    known = {word for line in read_lines(training) for word in line.split()} if training else frozenset()
    if training and not known:
        raise typer.BadParameter(f"{training} has no words: without --training, all words count")
    try:
        measures = recall_measures(language, known=known, max_repetitions=repetitions)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    _score(measures, _texts(references, hypotheses, tsv, runs, store), as_json, as_csv, as_latex, figure)


@app.command()
def ter(
    references: References = None,
    hypotheses: Hypotheses = None,
    tsv: Tsv = None,
    runs: Runs = None,
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
    figure: Figure = None,
) -> None:
    """Measure translation edit rate (TER), and corpus BLEU."""
    from leaderboard.evaluation.measures import bleu_measure, ter_measure

    texts = _texts(references, hypotheses, tsv, runs, store)
    _score([ter_measure(), bleu_measure()], texts, as_json, as_csv, as_latex, figure)


@app.command("sentence-bleu")
def sentence_bleu(
    references: References = None,
    hypotheses: Hypotheses = None,
    tsv: Tsv = None,
    runs: Runs = None,
    store: StoreOption = DEFAULT_STORE,
    smoothing: Annotated[Smoothing, typer.Option(help="How sentence BLEU is smoothed.")] = Smoothing.ADD_ONE_HIGHER,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
    figure: Figure = None,
) -> None:
    """Measure the mean of sentence BLEU, and corpus BLEU."""
    from leaderboard.evaluation.measures import bleu_measure, sentence_bleu_measure

    texts = _texts(references, hypotheses, tsv, runs, store)
    _score([sentence_bleu_measure(smoothing), bleu_measure()], texts, as_json, as_csv, as_latex, figure)


@app.command()
def slope(
    references: References = None,
    hypotheses: Hypotheses = None,
    tsv: Tsv = None,
    runs: Runs = None,
    store: StoreOption = DEFAULT_STORE,
    error: Annotated[ErrorRate, typer.Option(help="How the error of a block is measured.")] = ErrorRate.TER,
    model: Annotated[
        CurveModel, typer.Option(help="Fit the error of each block, or the error over all blocks so far.")
    ] = CurveModel.UNIT,
    block_words: Annotated[int, typer.Option(help="Reference words per block.", min=1)] = 1_000,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
    figure: Figure = None,
) -> None:
    """Measure the percentage slope S of the learning curve.

    A system learns if S is below 100, and forgets if S is above 100.
    """
    from leaderboard.evaluation.comparison import EvaluationError
    from leaderboard.evaluation.figures import learning_figure, save_figure
    from leaderboard.evaluation.learning import learning_curves
    from leaderboard.evaluation.reports import slope_report

    texts = _texts(references, hypotheses, tsv, runs, store)
    try:
        curves = learning_curves(texts.systems, texts.references, error=error, model=model, block_words=block_words)
    except (EvaluationError, LearningCurveError) as wrong:
        raise typer.BadParameter(str(wrong)) from None
    if figure:
        _refuse_other_figures(figure)
        save_figure(learning_figure(curves, model, error), figure)
    signature = slope_signature(error, model, f"{block_words}w")
    _print(slope_report(curves, signature), as_json, as_csv, as_latex)


@app.command()
def reliability(
    references: Annotated[Path, typer.Option(help="References of the held-out parts of all documents.")],
    documents: Annotated[Path, typer.Option(help="File with the document id of each line.")],
    baseline: Annotated[Path, typer.Option(help="Output without adaptation.")],
    adapted: Annotated[Path, typer.Option(help="Output after adapting up to and including each document.")],
    final: Annotated[Path, typer.Option(help="Output after adapting to all documents.")],
    metric: Annotated[DocumentMetric, typer.Option(help="How a document is scored.")] = DocumentMetric.BLEU,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
) -> None:
    """Measure what a system forgets while it keeps adapting.

    Prints its backward reliability: for each document, the gain after adapting to it, and the drift since then.
    """
    from leaderboard.evaluation.comparison import EvaluationError, check_aligned
    from leaderboard.evaluation.measures import bleu_measure, ter_measure
    from leaderboard.evaluation.reports import reliability_report
    from leaderboard.metrics.reliability import DocumentScores, backward_reliability

    measure = ter_measure() if metric is DocumentMetric.TER else bleu_measure()
    ids, texts = list(read_lines(documents)), list(read_lines(references))
    outputs = {file.name: list(read_lines(file)) for file in (baseline, adapted, final)}
    try:
        check_aligned({documents.name: ids, **outputs}, texts)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    gold = group_by_document(ids, texts)
    grouped = [group_by_document(ids, list(read_lines(file))) for file in (baseline, adapted, final)]

    def score(document: str, output: dict[str, list[str]]) -> float:
        rows = measure.statistics(output[document], gold[document])
        return measure.score([sum(column) for column in zip(*rows, strict=True)]) or 0.0

    scores = [DocumentScores(name, *(score(name, output) for output in grouped)) for name in gold]
    found = backward_reliability(scores, higher_is_better=measure.higher_is_better)
    _print(reliability_report(found, measure.name, measure.signature), as_json, as_csv, as_latex)


@app.command()
def repetition(
    sources: Annotated[
        list[str], typer.Option(help="File of source sentences, or NAME=FILE. Repeat it for several texts.")
    ],
    documents: Annotated[
        Path | None, typer.Option(help="File with the document id of each line, to print a rate per document.")
    ] = None,
    window: Annotated[int, typer.Option(help="Words per window.", min=4)] = 1_000,
    policy: Annotated[
        WindowPolicy, typer.Option(help="Whether windows slide by one word, or lie side by side.")
    ] = WindowPolicy.SLIDING,
    as_json: JsonOption = False,
    as_csv: Csv = False,
    as_latex: Latex = False,
) -> None:
    """Measure how much a text repeats itself.

    Prints the repetition rate. The higher it is, the more a system can gain by adapting.
    """
    from leaderboard.evaluation.reports import repetition_report

    texts: dict[str, list[str]] = {}
    for each in sources:
        name, path = split_name(each)
        texts[name] = list(read_lines(path))
    if documents:
        if len(texts) > 1:
            raise typer.BadParameter("--documents needs exactly one file of sources")
        (text,) = texts.values()
        texts.update(group_by_document(list(read_lines(documents)), text))
    for name, text in texts.items():
        if not any(sentence.strip() for sentence in text):
            raise typer.BadParameter(f"{name} has no words: there is nothing to measure")
    counts = {name: repetition_counts(text, window=window, policy=policy) for name, text in texts.items()}
    _print(repetition_report(counts, repetition_signature(policy, window)), as_json, as_csv, as_latex)


def _texts(
    references: Path | None, hypotheses: Sequence[str] | None, tsv: Path | None, runs: Sequence[str] | None, store: str
) -> EvaluatedTexts:
    """Return the texts from the one source that the options name; raise BadParameter if they name none or several."""
    places = [bool(references or hypotheses), tsv is not None, bool(runs)]
    if sum(places) != 1:
        raise typer.BadParameter("give --references and --hypotheses, or --tsv, or --run")
    if tsv:
        return read_table(tsv)
    if runs:
        opened = open_existing_store(store)
        try:
            return read_runs(opened, runs)
        finally:
            opened.close()
    if not references or not hypotheses:
        raise typer.BadParameter("--references and --hypotheses go together")
    return read_files(references, hypotheses)


def _score(
    measures: Sequence["Measure"],
    texts: EvaluatedTexts,
    as_json: bool,
    as_csv: bool,
    as_latex: bool,
    figure: Path | None,
) -> None:
    from leaderboard.evaluation.comparison import EvaluationError, difference_curves, evaluate
    from leaderboard.evaluation.figures import difference_figure, save_figure
    from leaderboard.evaluation.reports import score_report

    try:
        evaluation = evaluate(texts.systems, texts.references, measures)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    if figure:
        _refuse_other_figures(figure)
        if len(texts.systems) < 2:
            raise typer.BadParameter("--figure draws differences from the first system: give at least two systems")
        curves = {measure.name: difference_curves(texts.systems, texts.references, measure) for measure in measures}
        save_figure(difference_figure(curves, next(iter(texts.systems))), figure)
    _print(score_report(evaluation), as_json, as_csv, as_latex)


def _refuse_other_figures(path: Path) -> None:
    from leaderboard.evaluation.figures import FORMATS

    if path.suffix not in FORMATS:
        raise typer.BadParameter(f"--figure ends with {', '.join(FORMATS)}, but got {path.name}")


def _print(report: "Report", as_json: bool, as_csv: bool, as_latex: bool) -> None:
    if sum((as_json, as_csv, as_latex)) > 1:
        raise typer.BadParameter("--json, --csv and --latex exclude each other")
    if as_json:
        typer.echo(json.dumps(report.as_dict(), ensure_ascii=False, indent=2))
    elif as_csv:
        typer.echo(report.to_csv(), nl=False)
    elif as_latex:
        typer.echo(report.to_latex(), nl=False)
    else:
        _print_table(report)


def _print_table(report: "Report") -> None:
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column(report.heading, overflow="fold")
    for column in report.columns:
        table.add_column(column + (" (lower is better)" if column in report.lower_is_better else ""), justify="right")
    for name, cells in report.rows:
        table.add_row(name, *(cell.text().replace(" (", "\n(") for cell in cells))
    console = Console()
    console.print(table)
    if any(cell.interval or cell.difference for _, cells in report.rows for cell in cells):
        console.print(
            "[low, high]: 95 % interval; (...): difference from the first row",
            style="dim",
            highlight=False,
            markup=False,
        )
    for signature in dict.fromkeys(report.signatures.values()):
        console.print(signature, style="dim", highlight=False, markup=False, soft_wrap=True)
