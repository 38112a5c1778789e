"""Imports a task of real text: reads it, cleans it, shuffles it and cuts it into phases."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from corpora.cleaning import CleaningCounts, CleaningSettings, clean_all
from corpora.errors import CorpusError
from corpora.readers import read_input
from corpora.spool import Spool
from corpora.task import PROGRESS_STEP, Pair, TaskWriter, in_served_order, write_pairs
from corpora.unspaced_scripts import SegmentationCheck
from task.description import OUT_OF_DOMAIN, TaskDescription
from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.languages import LanguagePair
from task.layout import Layout
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS

IN_DOMAIN = "in-domain"

Progress = Callable[[int], None]  # receives the number of further pairs that are read
Warn = Callable[[str], None]  # receives a line for the user


@dataclass(frozen=True, slots=True)
class RawCorpus:
    """The text that a task is made of, before cleaning. Its streams are read once."""

    in_domain: Iterable[Pair]
    out_of_domain: Iterable[Pair] | None
    keep_documents: bool = False  # keep document ids, and keep the sentences of a document together
    unique: bool = False  # leave out pairs that occurred before, compared after cleaning
    tokenised: bool = False  # the text is tokenised already, and keeps its tokens


def read_raw_corpus(
    languages: LanguagePair,
    in_domain: Sequence[str],
    out_of_domain: Sequence[str] = (),
    *,
    keep_documents: bool = False,
    unique: bool = False,
    tokenised: bool = False,
) -> RawCorpus:
    """Return the text of input files, given as on the command line."""
    return RawCorpus(
        chain.from_iterable([read_input(given, languages) for given in in_domain]),
        chain.from_iterable([read_input(given, languages) for given in out_of_domain]) if out_of_domain else None,
        keep_documents,
        unique,
        tokenised,
    )


def describe_import(
    languages: LanguagePair,
    *,
    generator: str = "import 2",
    licence: str = "unknown",
    seed: int = 1,
    feedback: FeedbackSpec = BANDIT_FEEDBACK,
    documents: bool = False,
) -> TaskDescription:
    """Return the description of a task that is to be imported.

    ``documents`` tells participants where documents begin and end. Raises CorpusError if source and target are the
    same language.
    """
    if languages.source == languages.target:
        raise CorpusError(f"source and target are both {languages.source!r}: name two languages")
    return TaskDescription(languages, generator, licence, replace(feedback, seed=seed), serves_documents=documents)


def import_task(
    path: Path,
    description: TaskDescription,
    raw: RawCorpus,
    cut: Callable[[int], Mapping[str, Layout]],
    *,
    processes: int = 1,
    progress: Progress = lambda _: None,
    warn: Warn = lambda _: None,
) -> dict[str, CleaningCounts]:
    """Write a task and return what cleaning did to each of its sides.

    Both sides are shuffled by the seed of the description: text comes sorted, and its order must not decide what a
    phase or a part of the out-of-domain side consists of.

    Args:
        path: The directory to create.
        description: The languages, the seed and the feedback of the task.
        raw: The text.
        cut: Returns the layouts of the phases for the number of clean in-domain pairs, or raises if there are too few.
        processes: The number of processes; it does not change the task.
        progress: Receives the number of further pairs that are read.
        warn: Receives a line if the text has no spaces between words.

    Raises:
        CorpusError: No in-domain pair is left after cleaning, or an input is invalid.
        TaskError: The path is in use.
    """
    languages, documents, seed = description.languages, raw.keep_documents, description.seed
    segmentation = SegmentationCheck()
    counts = {IN_DOMAIN: CleaningCounts()}

    def fill(spool: Spool, pairs: Iterable[Pair], max_tokens: int, side_counts: CleaningCounts) -> None:
        settings = CleaningSettings(*languages, max_tokens, raw.tokenised)
        cleaned = clean_all(_watched(pairs, segmentation, progress), settings, side_counts, processes=processes)
        for pair in without_repetitions(cleaned, side_counts) if raw.unique else cleaned:
            spool.add(pair)

    with TaskWriter(path, description) as writer:
        if raw.out_of_domain is not None:
            counts[OUT_OF_DOMAIN] = CleaningCounts()
            with Spool(writer.directory / "spool") as spool:
                fill(spool, raw.out_of_domain, MAX_OUT_OF_DOMAIN_TOKENS, counts[OUT_OF_DOMAIN])
                shuffled = spool.read(spool.shuffled(seed, keep_documents=documents))
                files = write_pairs(writer.directory, OUT_OF_DOMAIN, languages, shuffled, documents=documents)
                writer.add(OUT_OF_DOMAIN, files, cleaning=counts[OUT_OF_DOMAIN].as_record())
        with Spool(writer.directory / "spool") as spool:
            fill(spool, raw.in_domain, MAX_IN_DOMAIN_TOKENS, counts[IN_DOMAIN])
            if not spool:
                raise CorpusError("no in-domain pair is left after cleaning")
            cleaning = counts[IN_DOMAIN].as_record()
            for phase, layout, pairs in _phases(spool, seed, cut(len(spool)), documents):
                files = write_pairs(writer.directory, phase, languages, pairs, documents=documents)
                writer.add(phase, files, layout, cleaning=cleaning if phase == "training" else None)
    if warning := segmentation.warning(languages):
        warn(warning)
    return counts


def _watched(pairs: Iterable[Pair], segmentation: SegmentationCheck, progress: Progress) -> Iterator[Pair]:
    """Yield the pairs, look at their segmentation, and report how many are read."""
    for number, pair in enumerate(pairs, start=1):
        if number % PROGRESS_STEP == 0:
            progress(PROGRESS_STEP)
        segmentation.add(pair)
        yield pair


def without_repetitions(pairs: Iterable[Pair], counts: CleaningCounts) -> Iterator[Pair]:
    """Yield the pairs that did not occur before, and count the others as removed by a step of their own."""
    counts.removed["repeated"] = 0
    seen: set[int] = set()
    for pair in pairs:
        identity = hash(pair[:2])
        if identity in seen:
            counts.removed["repeated"] += 1
            continue
        seen.add(identity)
        yield pair


def _phases(
    spool: Spool, seed: int, layouts: Mapping[str, Layout], keep_documents: bool
) -> Iterator[tuple[str, Layout, Iterator[Pair]]]:
    """Yield each phase with its layout and its share of the shuffled pairs, in the order served."""
    numbers = iter(spool.shuffled(seed, keep_documents=keep_documents))
    for phase, layout in layouts.items():
        distinct = spool.read(islice(numbers, layout.distinct))
        yield phase, layout, in_served_order(distinct, layout, phase)
