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
from task.description import OUT_OF_DOMAIN, TaskDescription
from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.languages import LanguagePair
from task.layout import Layout
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS

IN_DOMAIN = "in-domain"

Progress = Callable[[int], None]  # receives the number of further pairs that are read


@dataclass(frozen=True, slots=True)
class RawCorpus:
    """The text that a task is made of, before cleaning. Its streams are read once."""

    in_domain: Iterable[Pair]
    out_of_domain: Iterable[Pair] | None
    keep_documents: bool = False  # keep document ids, and keep the sentences of a document together
    unique: bool = False  # leave out pairs that occurred before, compared after cleaning


def read_raw_corpus(
    languages: LanguagePair,
    in_domain: Sequence[str],
    out_of_domain: Sequence[str] = (),
    *,
    keep_documents: bool = False,
    unique: bool = False,
) -> RawCorpus:
    """Return the text of input files, given as on the command line."""
    return RawCorpus(
        chain.from_iterable([read_input(given, languages) for given in in_domain]),
        chain.from_iterable([read_input(given, languages) for given in out_of_domain]) if out_of_domain else None,
        keep_documents,
        unique,
    )


def describe_import(
    languages: LanguagePair,
    *,
    generator: str = "import",
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
) -> dict[str, CleaningCounts]:
    """Write a task and return what cleaning did to each of its sides.

    ``cut`` returns the layouts of the phases for the number of clean in-domain pairs, or raises if there are too few.
    """
    languages, documents = description.languages, raw.keep_documents
    counts = {IN_DOMAIN: CleaningCounts()}
    with TaskWriter(path, description) as writer:
        if raw.out_of_domain is not None:
            counts[OUT_OF_DOMAIN] = out_of_domain_counts = CleaningCounts()
            settings = CleaningSettings(*languages, MAX_OUT_OF_DOMAIN_TOKENS)
            pairs = _clean(raw.out_of_domain, settings, out_of_domain_counts, raw.unique, processes, progress)
            files = write_pairs(writer.directory, OUT_OF_DOMAIN, languages, pairs, documents=documents)
            writer.add(OUT_OF_DOMAIN, files, cleaning=out_of_domain_counts.as_record())
        with Spool(writer.directory / "spool") as spool:
            settings = CleaningSettings(*languages, MAX_IN_DOMAIN_TOKENS)
            for pair in _clean(raw.in_domain, settings, counts[IN_DOMAIN], raw.unique, processes, progress):
                spool.add(pair)
            if not spool:
                raise CorpusError("no in-domain pair is left after cleaning")
            cleaning = counts[IN_DOMAIN].as_record()
            for phase, layout, pairs in _phases(spool, description.seed, cut(len(spool)), documents):
                files = write_pairs(writer.directory, phase, languages, pairs, documents=documents)
                writer.add(phase, files, layout, cleaning=cleaning if phase == "training" else None)
    return counts


def _clean(
    pairs: Iterable[Pair],
    settings: CleaningSettings,
    counts: CleaningCounts,
    unique: bool,
    processes: int,
    progress: Progress,
) -> Iterator[Pair]:
    def reported() -> Iterator[Pair]:
        for number, pair in enumerate(pairs, start=1):
            if number % PROGRESS_STEP == 0:
                progress(PROGRESS_STEP)
            yield pair

    cleaned = clean_all(reported(), settings, counts, processes=processes)
    return without_repetitions(cleaned, counts) if unique else cleaned


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
