"""Writes a synthetic task: each part is generated and packed by a process of its own."""

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from corpora.parallel import pool
from corpora.task import TaskWriter, in_served_order, write_pairs
from task.description import OUT_OF_DOMAIN, FileSummary, TaskDescription
from task.layout import Layout

LANGUAGES = ("de", "en")
LICENCE = "CC0-1.0"  # nobody wrote these sentences
POLLING = 0.2  # seconds between two looks at the progress


class PairGenerator(Protocol):
    """Where the sentences come from; ``corpora.synth.CorpusGenerator`` is one."""

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]: ...

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]: ...


GeneratorFactory = Callable[
    [int], PairGenerator
]  # from the seed; it travels to other processes, so it has to be importable


@dataclass(frozen=True, slots=True)
class Job:
    """One part of a task, to be generated in whatever process."""

    directory: Path
    part: str
    layout: Layout | None  # of a phase
    count: int  # distinct pairs
    seed: int
    generator: GeneratorFactory

    def run(self, progress: Callable[[int], None]) -> dict[str, FileSummary]:
        generator = self.generator(self.seed)
        if self.layout is None:
            pairs = generator.out_of_domain(self.count)
        else:
            pairs = in_served_order(generator.in_domain(self.part, self.count), self.layout, self.part)
        return write_pairs(self.directory, self.part, LANGUAGES, pairs, progress=progress)


def synthesise(
    path: Path,
    description: TaskDescription,
    phases: Mapping[str, Layout],
    out_of_domain: int,
    generator: GeneratorFactory,
    *,
    processes: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write the task; ``progress`` is told of pairs as they are written."""
    with TaskWriter(path, description) as writer:
        seed = description.seed
        jobs = [Job(writer.directory, OUT_OF_DOMAIN, None, out_of_domain, seed, generator)]
        jobs += [
            Job(writer.directory, name, layout, layout.distinct, seed, generator) for name, layout in phases.items()
        ]
        jobs.sort(key=lambda job: -job.count)  # the long ones first, so that no process waits for the last
        for job, files in zip(jobs, _run(jobs, processes, progress), strict=True):
            writer.add(job.part, files, job.layout)


def _run(jobs: list[Job], processes: int, progress: Callable[[int], None]) -> list[dict[str, FileSummary]]:
    if processes == 1:
        return [job.run(progress) for job in jobs]
    context = multiprocessing.get_context("spawn")
    shared = _Shared(context.Value("Q", 0), context.Event())
    with pool(processes, _keep, shared) as workers:
        futures = [workers.submit(_run_elsewhere, job) for job in jobs]
        try:
            _watch(set(futures), shared, progress)
            return [future.result() for future in futures]
        except BaseException:
            shared.stop.set()  # also when the user interrupts: the processes end at their next report
            workers.shutdown(cancel_futures=True)  # and are waited for: what they write is removed next
            raise


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all processes can see."""

    written: Any  # a number of pairs
    stop: Any  # an event


def _watch(pending: set[Future[dict[str, FileSummary]]], shared: _Shared, progress: Callable[[int], None]) -> None:
    """Report what the processes have written until all are done; the first that fails ends it all."""
    reported = 0
    while pending:
        done, pending = wait(pending, timeout=POLLING, return_when=FIRST_EXCEPTION)
        written = shared.written.value
        progress(written - reported)
        reported = written
        for future in done:
            future.result()


class _StoppedError(Exception):
    """Another process failed, or the user has had enough."""


_shared: _Shared | None = None  # set in the processes that generate


def _keep(shared: _Shared) -> None:
    global _shared
    _shared = shared


def _run_elsewhere(job: Job) -> dict[str, FileSummary]:
    return job.run(_report)


def _report(pairs: int) -> None:
    assert _shared is not None
    if _shared.stop.is_set():
        raise _StoppedError
    with _shared.written.get_lock():
        _shared.written.value += pairs
