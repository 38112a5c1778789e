"""Generates a synthetic task. Each part is generated and written in its own process."""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from corpora.errors import CorpusError
from corpora.parallel import process_pool
from corpora.scales import Scale
from corpora.task import Task, TaskWriter, in_served_order, write_pairs
from task.description import EMPTY_ABOUT, OUT_OF_DOMAIN, UNKNOWN_DOCUMENT, AboutTask, FileSummary, TaskDescription
from task.feedback import BANDIT_FEEDBACK, FeedbackSpec
from task.languages import LanguagePair
from task.layout import Layout

LANGUAGES = LanguagePair("de", "en")
LICENCE = "CC0-1.0"  # the sentences have no author
POLL_SECONDS = 0.2  # between two reports of progress

Progress = Callable[[int], None]  # receives the number of further pairs that are written


class PairGenerator(Protocol):
    """Yields the pairs of a corpus; ``corpora.synth.CorpusGenerator`` is one.

    Out-of-domain lines may have documents, too.
    """

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str] | tuple[str, str, str]]: ...

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]: ...

    def in_domain_documents(self, phase: str, count: int) -> Iterator[tuple[str, str, str]]: ...


GeneratorFactory = Callable[
    [int], PairGenerator
]  # from a seed; it is sent to other processes, so it must be importable


def synthesise_task(
    path: Path,
    scale: Scale,
    *,
    seed: int = 1,
    departments: int | None = None,
    feedback: FeedbackSpec = BANDIT_FEEDBACK,
    documents: bool = False,
    about: AboutTask = EMPTY_ABOUT,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> Task:
    """Generate a German-English e-commerce task with an out-of-domain side of news, and return it.

    Args:
        path: The directory to create.
        scale: The layouts of the phases and the size of the out-of-domain side.
        seed: The same seed gives the same task. It is also the seed of the feedback noise.
        departments: The number of departments of the shop; by default that of the scale.
        feedback: The feedback of all phases. Post-edits need a scale without held-out passes.
        documents: Whether lines come in documents, the pages of one category, which participants see.
        about: What participants should know of the task beside its text.
        processes: The number of processes; it does not change the text.
        progress: Receives the number of further pairs that are written.

    Raises:
        TaskError: The path is in use.
        CorpusError: The shop has fewer departments.
        LayoutError: A phase would show post-edits and have held-out passes.
    """
    from corpora.synth import CorpusGenerator  # takes a sixth of a second to import

    departments = departments or scale.departments
    generator = CorpusGenerator(seed, departments=departments)
    description = TaskDescription(
        LANGUAGES, generator.name, LICENCE, replace(feedback, seed=seed), about=about, serves_documents=documents
    )
    write_generated_task(
        path,
        description,
        scale.phases,
        scale.out_of_domain,
        partial(CorpusGenerator, departments=departments),
        processes=processes,
        progress=progress,
    )
    return Task.open(path)


def synthesise_dialogues(
    path: Path,
    scale: Scale,
    *,
    seed: int = 1,
    feedback: FeedbackSpec = BANDIT_FEEDBACK,
    about: AboutTask = EMPTY_ABOUT,
    processes: int = 1,
    progress: Progress = lambda _: None,
) -> Task:
    """Generate an English-German task of dialogues with contrastive sets, and return it.

    Phases are served in documents. The arguments are those of ``synthesise_task``, and so are the errors.
    """
    from corpora.dialogue.generator import GENERATOR_NAME, DialogueGenerator  # takes a moment to import

    description = TaskDescription(
        LanguagePair("en", "de"),
        GENERATOR_NAME,
        LICENCE,
        replace(feedback, seed=seed),
        about=about,
        serves_documents=True,
    )
    write_generated_task(
        path,
        description,
        scale.phases,
        scale.out_of_domain,
        DialogueGenerator,
        processes=processes,
        progress=progress,
        write_more=DialogueGenerator(seed).write_contrastive_sets,
    )
    return Task.open(path)


@dataclass(frozen=True, slots=True)
class _PartJob:
    """One part of a task, which any process can generate."""

    directory: Path
    part: str
    layout: Layout | None  # None for the out-of-domain side
    count: int  # distinct pairs
    seed: int
    documents: bool
    languages: LanguagePair
    make_generator: GeneratorFactory

    def run(self, progress: Progress) -> dict[str, FileSummary]:
        """Generate and write the part."""
        generator = self.make_generator(self.seed)
        pairs: Iterator[tuple[str, ...]]
        if self.layout is None:
            pairs = (
                pair if len(pair) == 3 else (*pair, UNKNOWN_DOCUMENT) for pair in generator.out_of_domain(self.count)
            )
        elif self.documents:
            pairs = in_served_order(generator.in_domain_documents(self.part, self.count), self.layout, self.part)
        else:
            pairs = in_served_order(generator.in_domain(self.part, self.count), self.layout, self.part)
        return write_pairs(
            self.directory, self.part, self.languages, pairs, documents=self.documents, progress=progress
        )


def synthetic_ceiling(task: Task, phase: str, score: Callable[[str, str], float], sample: int) -> float:
    """Return the expected score of the best possible output in a phase, estimated on ``sample`` sentences.

    Raises CorpusError if the task is not synthetic, or is from another version of the generator.
    """
    from corpora.synth import SYNTHETIC, CorpusGenerator

    generator = task.description.generator
    if not generator.startswith(SYNTHETIC):
        raise CorpusError(f"{task.path} was made by {generator!r}; only synthetic tasks have a known ceiling")
    return CorpusGenerator.named(generator, task.description.seed).ceiling(phase, score, sample)


def write_generated_task(
    path: Path,
    description: TaskDescription,
    phases: Mapping[str, Layout],
    out_of_domain: int,
    make_generator: GeneratorFactory,
    *,
    processes: int = 1,
    progress: Progress = lambda _: None,
    write_more: Callable[[Path], None] = lambda _: None,
) -> None:
    """Write a task of generated pairs: ``out_of_domain`` of them, and the distinct pairs of each phase.

    ``write_more`` can write further files into the directory of the task, which then appears as a whole.
    """
    with TaskWriter(path, description) as writer:
        directory, seed, documents = writer.directory, description.seed, description.serves_documents
        parts: list[tuple[str, Layout | None, int]] = [(OUT_OF_DOMAIN, None, out_of_domain)]
        parts += [(name, layout, layout.distinct) for name, layout in phases.items()]
        jobs = [_PartJob(directory, *part, seed, documents, description.languages, make_generator) for part in parts]
        jobs.sort(key=lambda job: -job.count)  # long jobs first, so that all processes end at about the same time
        for job, files in zip(jobs, _run(jobs, processes, progress), strict=True):
            writer.add(job.part, files, job.layout)
        write_more(directory)


def _run(jobs: list[_PartJob], processes: int, progress: Progress) -> list[dict[str, FileSummary]]:
    if processes == 1:
        return [job.run(progress) for job in jobs]
    context = multiprocessing.get_context("spawn")
    shared = _Shared(context.Value("Q", 0), context.Event())
    with process_pool(processes, _set_shared, shared) as workers:
        futures = [workers.submit(_run_in_process, job) for job in jobs]
        try:
            _watch(set(futures), shared, progress)
            return [future.result() for future in futures]
        except BaseException:
            shared.stop.set()  # also after Ctrl-C: the processes end at their next report
            workers.shutdown(cancel_futures=True)  # waits for them, since their files are removed next
            raise


@dataclass(frozen=True, slots=True)
class _Shared:
    """State that all processes share."""

    written: Any  # a counter of pairs
    stop: Any  # an event


def _watch(pending: set[Future[dict[str, FileSummary]]], shared: _Shared, progress: Progress) -> None:
    """Report progress until all jobs are done. Raises the error of the first job that fails."""
    reported = 0
    while pending:
        done, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
        written = shared.written.value
        progress(written - reported)
        reported = written
        for future in done:
            future.result()


class _StoppedError(Exception):
    """Another process failed, or the user interrupted the work."""


_shared: _Shared | None = None  # set in each process that generates


def _set_shared(shared: _Shared) -> None:
    global _shared
    _shared = shared


def _run_in_process(job: _PartJob) -> dict[str, FileSummary]:
    return job.run(_report)


def _report(pairs: int) -> None:
    """Add to the shared counter. Raises _StoppedError if the work is to end."""
    assert _shared is not None
    if _shared.stop.is_set():
        raise _StoppedError
    with _shared.written.get_lock():
        _shared.written.value += pairs
