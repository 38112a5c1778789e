"""``banditmt evaluate``: measures of translation and of adaptation, on files or on runs of a store."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpora.line_files import read_lines
from leaderboard.metrics.learning_curve import CurveModel, ErrorRate, LearningCurveError, slope_signature
from leaderboard.metrics.repetition import WindowPolicy, repetition_counts, repetition_signature
from leaderboard.metrics.sentence_bleu import Smoothing
from simulator.cli.evaluate_contrastive import contrastive
from simulator.cli.evaluate_off_policy import off_policy
from simulator.cli.evaluate_options import HypothesisFiles, Output, References, TableOrRuns, read_hypotheses
from simulator.cli.option_groups import expand_option_groups
from simulator.evaluation import (
    DOCUMENT,
    REFERENCE,
    SOURCE,
    EvaluatedTexts,
    TextError,
    read_named_files,
    read_table,
)

if TYPE_CHECKING:  # numpy takes a moment to load, and only these commands need it
    from leaderboard.evaluation.figures import Figure
    from leaderboard.evaluation.measures import Measure

app = typer.Typer(
    name="evaluate",
    help="Measure how good translations are, and how systems adapt. The texts come from files or runs.",
    no_args_is_help=True,
)
app.command()(contrastive)
app.command("off-policy")(off_policy)


@app.command()
@expand_option_groups
def recall(
    *,
    files: HypothesisFiles,
    others: TableOrRuns,
    language: Annotated[
        str | None,
        typer.Option(help="Language of the references, whose stop words do not count. Required unless --subwords."),
    ] = None,
    subwords: Annotated[bool, typer.Option(help="Count every token, stop words included.")] = False,
    training: Annotated[
        Path | None, typer.Option(help="Target side of the training text. Count only words that it does not have.")
    ] = None,
    repetitions: Annotated[
        int, typer.Option(help="Report words with up to this many earlier references: 1 for R0 and R1.", min=0, max=9)
    ] = 1,
    output: Output,
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
    _score(measures, read_hypotheses(files, others), output)


@app.command()
@expand_option_groups
def ter(files: HypothesisFiles, others: TableOrRuns, output: Output) -> None:
    """Measure translation edit rate (TER), and corpus BLEU."""
    from leaderboard.evaluation.measures import bleu_measure, ter_measure

    _score([ter_measure(), bleu_measure()], read_hypotheses(files, others), output)


@app.command("sentence-bleu")
@expand_option_groups
def sentence_bleu(
    *,
    files: HypothesisFiles,
    others: TableOrRuns,
    smoothing: Annotated[Smoothing, typer.Option(help="How sentence BLEU is smoothed.")] = Smoothing.ADD_ONE_HIGHER,
    output: Output,
) -> None:
    """Measure the mean of sentence BLEU, and corpus BLEU."""
    from leaderboard.evaluation.measures import bleu_measure, sentence_bleu_measure

    _score([sentence_bleu_measure(smoothing), bleu_measure()], read_hypotheses(files, others), output)


@app.command()
@expand_option_groups
def slope(
    *,
    files: HypothesisFiles,
    others: TableOrRuns,
    error: Annotated[ErrorRate, typer.Option(help="How the error of a block is measured.")] = ErrorRate.TER,
    model: Annotated[
        CurveModel, typer.Option(help="Fit the error of each block, or the error over all blocks so far.")
    ] = CurveModel.UNIT,
    block_words: Annotated[int, typer.Option(help="Reference words per block.", min=1)] = 1_000,
    output: Output,
) -> None:
    """Measure the percentage slope S of the learning curve.

    A system learns if S is below 100, and forgets if S is above 100.
    """
    from leaderboard.evaluation.comparison import EvaluationError
    from leaderboard.evaluation.figures import learning_figure
    from leaderboard.evaluation.learning import learning_curves
    from leaderboard.evaluation.reports import slope_report

    texts = read_hypotheses(files, others)
    try:
        curves = learning_curves(texts.systems, texts.references, error=error, model=model, block_words=block_words)
    except (EvaluationError, LearningCurveError) as wrong:
        raise typer.BadParameter(str(wrong)) from None
    report = slope_report(curves, slope_signature(error, model, f"{block_words}w"))
    output.write(report, lambda: learning_figure(curves, model, error))


class DocumentMetric(StrEnum):
    """How the held-out part of a document is scored."""

    BLEU = "bleu"
    TER = "ter"


@dataclass(frozen=True, slots=True)
class ReliabilityFiles:
    """Files of the held-out parts of all documents."""

    references: References = None
    documents: Annotated[Path | None, typer.Option(help="File with the document id of each line.")] = None
    baseline: Annotated[Path | None, typer.Option(help="Output without adaptation.")] = None
    adapted: Annotated[Path | None, typer.Option(help="Output after adapting up to and including each document.")] = (
        None
    )
    final: Annotated[Path | None, typer.Option(help="Output after adapting to all documents.")] = None


@app.command()
@expand_option_groups
def reliability(
    *,
    files: ReliabilityFiles,
    others: TableOrRuns,
    metric: Annotated[DocumentMetric, typer.Option(help="How a document is scored.")] = DocumentMetric.BLEU,
    output: Output,
) -> None:
    """Measure what a system forgets while it keeps adapting.

    Prints its backward reliability: for each document, the gain after adapting to it, and the drift since then. Files
    and the TSV file (columns reference, document, baseline, adapted, final) have the held-out parts only. Of three runs
    (--run BASELINE --run ADAPTED --run FINAL), the last third of each document counts.
    """
    from leaderboard.evaluation.comparison import EvaluationError
    from leaderboard.evaluation.documents import score_documents
    from leaderboard.evaluation.figures import reliability_figure
    from leaderboard.evaluation.measures import bleu_measure, ter_measure
    from leaderboard.evaluation.reports import reliability_report

    measure = ter_measure() if metric is DocumentMetric.TER else bleu_measure()
    texts, notes = _read_held_out_parts(files, others)
    try:
        found = score_documents(texts.systems, texts.references, texts.documents, measure)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    report = reliability_report(found, measure.name, measure.signature, notes)
    output.write(report, lambda: reliability_figure(found, measure.name))


def _read_held_out_parts(files: ReliabilityFiles, others: TableOrRuns) -> tuple[EvaluatedTexts, tuple[str, ...]]:
    """Return the held-out parts of documents as translated by three systems, and notes on what is left out."""
    from leaderboard.evaluation.documents import ADAPTED, BASELINE, FINAL

    names = (BASELINE, ADAPTED, FINAL)
    paths = (files.references, files.documents, files.baseline, files.adapted, files.final)
    options = "--references, --documents, --baseline, --adapted and --final"
    others.refuse_other_inputs(files=any(paths), options=options)
    if others.runs:
        return _last_thirds(others, names)
    if others.tsv:
        texts = read_table(others.tsv, (REFERENCE, DOCUMENT, *names))
        return texts, ()
    given = [path for path in paths if path]
    if len(given) < len(paths):
        raise typer.BadParameter(f"{options} go together")
    references, documents, *outputs = (list(read_lines(path)) for path in given)
    return EvaluatedTexts(dict(zip(names, outputs, strict=True)), references, documents=documents), ()


def _last_thirds(others: TableOrRuns, names: Sequence[str]) -> tuple[EvaluatedTexts, tuple[str, ...]]:
    """Return the last third of each document of a phase, as three runs translated it."""
    from leaderboard.evaluation.comparison import EvaluationError, check_aligned
    from leaderboard.evaluation.documents import held_out_places

    if len(others.runs or ()) != len(names):
        raise typer.BadParameter(f"--run is given three times, for {', '.join(names)} in this order")
    texts = others.read_runs()
    if not texts.documents:
        raise TextError(f"phase {texts.phase} has no documents, and reliability is measured by document")
    systems = dict(zip(names, texts.systems.values(), strict=True))
    try:
        check_aligned(systems, texts.references)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    places, too_short = held_out_places(texts.documents)
    if not places:
        raise TextError("no document has three sentences, of which the last third could be held out")
    held_out = EvaluatedTexts(
        {name: [output[place] for place in places] for name, output in systems.items()},
        [texts.references[place] for place in places],
        documents=[texts.documents[place] for place in places],
    )
    return held_out, (f"left out: {len(too_short):,} documents of fewer than three sentences",) if too_short else ()


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Files of source sentences and their documents."""

    sources: Annotated[
        list[str] | None, typer.Option(help="File of source sentences, or NAME=FILE. Repeat it for several texts.")
    ] = None
    documents: Annotated[
        Path | None, typer.Option(help="File with the document id of each line, to print a rate per document.")
    ] = None


@app.command()
@expand_option_groups
def repetition(
    *,
    files: SourceFiles,
    others: TableOrRuns,
    window: Annotated[int, typer.Option(help="Words per window.", min=4)] = 1_000,
    policy: Annotated[
        WindowPolicy, typer.Option(help="Whether windows slide by one word, or lie side by side.")
    ] = WindowPolicy.SLIDING,
    output: Output,
) -> None:
    """Measure how much a text repeats itself.

    Prints the repetition rate. The higher it is, the more a system can gain by adapting. The text is that of the
    sources: of files, of the column source of a TSV file, or of the rounds that a run has played.
    """
    from leaderboard.evaluation.figures import repetition_figure
    from leaderboard.evaluation.reports import repetition_report

    texts = _read_sources(files, others)
    for name, text in texts.items():
        if not any(sentence.strip() for sentence in text):
            raise typer.BadParameter(f"{name} has no words: there is nothing to measure")
    counts = {name: repetition_counts(text, window=window, policy=policy) for name, text in texts.items()}
    report = repetition_report(counts, repetition_signature(policy, window))
    output.write(report, lambda: repetition_figure(counts))


def _read_sources(files: SourceFiles, others: TableOrRuns) -> dict[str, Sequence[str]]:
    """Return the sentences of each text, and of each document if there is only one text and its documents are known."""
    others.refuse_other_inputs(files=bool(files.sources or files.documents), options="--sources")
    documents: Sequence[str] = ()
    if others.runs:
        phases = others.read_phases()
        texts = {phase: each.sources for phase, each in phases.items()}
        if len(phases) == 1:
            (documents,) = (each.documents for each in phases.values())
    elif others.tsv:
        table = read_table(others.tsv, (SOURCE,))
        texts, documents = {others.tsv.name.partition(".")[0]: table.sources}, table.documents
    else:
        if not files.sources or (files.documents and len(files.sources) > 1):
            raise typer.BadParameter("--documents needs exactly one file of sources")
        texts = read_named_files(files.sources)
        documents = list(read_lines(files.documents)) if files.documents else ()
    return {**texts, **_by_document(texts, documents)} if documents else texts


def _by_document(texts: dict[str, Sequence[str]], documents: Sequence[str]) -> dict[str, list[str]]:
    from leaderboard.evaluation.comparison import EvaluationError
    from leaderboard.evaluation.documents import group_by_document

    ((name, text),) = texts.items()
    try:
        grouped = group_by_document(documents, text)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    if name in grouped:
        raise TextError(f"both the text and a document are called {name}: give the text another name, NAME=FILE")
    return grouped


def _score(measures: Sequence["Measure"], texts: EvaluatedTexts, output: Output) -> None:
    """Score all systems on all measures; a figure shows their differences from the first."""
    from leaderboard.evaluation.comparison import EvaluationError, difference_curves, evaluate
    from leaderboard.evaluation.figures import difference_figure
    from leaderboard.evaluation.reports import score_report

    if output.figure and len(texts.systems) < 2:
        raise typer.BadParameter("--figure draws differences from the first system: give at least two systems")
    try:
        evaluation = evaluate(texts.systems, texts.references, measures)
    except EvaluationError as wrong:
        raise typer.BadParameter(str(wrong)) from None

    def draw() -> "Figure":
        curves = {measure.name: difference_curves(texts.systems, texts.references, measure) for measure in measures}
        return difference_figure(curves, next(iter(texts.systems)))

    output.write(score_report(evaluation), draw)
