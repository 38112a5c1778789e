"""Makes a task of real text: clean it, shuffle it, cut it into phases."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from corpora.cleaning import Counts, Settings, clean_all
from corpora.errors import CorpusError
from corpora.spool import Spool
from corpora.task import PROGRESS_STEP, Pair, TaskWriter, in_served_order, write_pairs
from task.description import OUT_OF_DOMAIN, TaskDescription
from task.layout import Layout
from task.limits import MAX_IN_DOMAIN_TOKENS, MAX_OUT_OF_DOMAIN_TOKENS

Progress = Callable[[int], None]  # is told how many more pairs have been read


@dataclass(frozen=True, slots=True)
class Material:
    """What a task is made of. The streams are read once."""

    in_domain: Iterable[Pair]
    out_of_domain: Iterable[Pair] | None
    keep_documents: bool = False  # document ids are kept, and their sentences stay together
    unique: bool = False  # pairs that came before, after cleaning, are left out


def import_task(
    path: Path,
    description: TaskDescription,
    material: Material,
    cut: Callable[[int], Mapping[str, Layout]],
    *,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> dict[str, Counts]:
    """Write a task and return what cleaning did to its two sides.

    ``cut`` decides, from the number of clean in-domain pairs, how the phases are laid out; it refuses what is too few.
    """
    languages = description.languages
    counts = {"in-domain": Counts()}
    with TaskWriter(path, description) as writer:
        if material.out_of_domain is not None:
            counts[OUT_OF_DOMAIN] = news = Counts()
            settings = Settings(*languages, MAX_OUT_OF_DOMAIN_TOKENS)
            pairs = _cleaned(material.out_of_domain, settings, news, material, processes, progress)
            documents = material.keep_documents
            files = write_pairs(writer.directory, OUT_OF_DOMAIN, languages, pairs, documents=documents)
            writer.add(OUT_OF_DOMAIN, files, cleaning=news.as_record())
        with Spool(writer.directory / "spool") as spool:
            settings = Settings(*languages, MAX_IN_DOMAIN_TOKENS)
            shop = counts["in-domain"]
            for pair in _cleaned(material.in_domain, settings, shop, material, processes, progress):
                spool.add(pair)
            if not spool:
                raise CorpusError("no in-domain pair is left after cleaning")
            served = _phases(spool, description.seed, cut(len(spool)), material.keep_documents)
            for phase, layout, pairs in served:
                files = write_pairs(writer.directory, phase, languages, pairs, documents=material.keep_documents)
                writer.add(phase, files, layout, cleaning=shop.as_record() if phase == "training" else None)
    return counts


def _cleaned(
    pairs: Iterable[Pair], settings: Settings, counts: Counts, material: Material, processes: int, progress: Progress
) -> Iterator[Pair]:
    def watched() -> Iterator[Pair]:
        for number, pair in enumerate(pairs, start=1):
            if number % PROGRESS_STEP == 0:
                progress(PROGRESS_STEP)
            yield pair

    cleaned = clean_all(watched(), settings, counts, processes=processes)
    return without_repetitions(cleaned, counts) if material.unique else cleaned


def without_repetitions(pairs: Iterable[Pair], counts: Counts) -> Iterator[Pair]:
    """Leave out pairs that came before, counted as a step of cleaning of its own."""
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
    """The phases one after the other, each with its own part of the shuffled pairs, in the order served."""
    numbers = iter(spool.shuffled(seed, keep_documents=keep_documents))
    for phase, layout in layouts.items():
        distinct = spool.read(islice(numbers, layout.distinct))
        yield phase, layout, in_served_order(distinct, layout, phase)
