"""The commands of ``banditmt admin`` that load tasks, release logs, and export, import and back up stores."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from corpora.task import Task
from lambdas.archive import Archive, export
from lambdas.registry import Registry
from lambdas.store import Store, StoreError
from lambdas.store.sqlite import SQLiteStore
from simulator.cli.progress_bars import load_with_progress, progress_bars
from simulator.cli.stores import JsonOption, StoreOption, open_existing_store, open_or_create_store
from simulator.feedback_log import release_log
from simulator.tasks import DEFAULT_STORE

app = typer.Typer()

ArchivePath = Annotated[Path, typer.Argument(metavar="FILE", help="The archive: gzipped JSON lines.")]


@app.command("load")
def load_into_store(
    task: Annotated[Path, typer.Argument(metavar="TASK", help="A task directory.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Load a task into a store. Loaded phases stay as they are; an interrupted load resumes."""
    Task.open(task)  # so that no store is created for a directory that is not a task
    opened = open_or_create_store(store)
    load_with_progress(opened, task)
    for record in Registry(opened).phases():
        typer.echo(f"{record.phase.name}: {record.phase.layout.total:,} rounds, {record.state.value}")


@app.command("export")
def export_archive(
    file: ArchivePath,
    store: StoreOption = DEFAULT_STORE,
    with_texts: Annotated[bool, typer.Option("--with-texts", help="Include sources and references.")] = False,
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="Include the hashes of API keys and the keys that sign sentence ids.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write an archive of a store.

    It contains the ledger, and everything else that the leaderboard is computed from. Rounds of a phase that shows
    post-edits contain their references.
    """
    opened = open_existing_store(store)
    with _bar("exporting", _count_rounds(opened)) as advance:
        runs, rounds = export(opened, file, texts=with_texts, keys=with_keys, progress=advance)
    if not with_texts:
        _warn_about_post_edits(opened)
    size = file.stat().st_size
    if as_json:
        typer.echo(json.dumps({"archive": str(file), "runs": runs, "rounds": rounds, "bytes": size}))
        return
    extra = " with texts" * with_texts + " with keys" * with_keys
    typer.echo(f"{file}: {rounds:,} rounds of {runs:,} runs{extra}, {size:,} bytes")


def _warn_about_post_edits(store: Store) -> None:
    """Say whose rounds contain references, because an archive without texts looks as if it had none."""
    phases = [record.phase.name for record in Registry(store).phases() if record.feedback.shows_post_edits]
    if phases:
        typer.echo(
            f"the rounds of {', '.join(phases)} contain their references, which participants received as post-edits: "
            "publish this archive only if the references may be public",
            err=True,
        )


@app.command("import")
def import_archive(file: ArchivePath, store: StoreOption = DEFAULT_STORE, as_json: JsonOption = False) -> None:
    """Restore an archive into an empty store. An interrupted import resumes."""
    with _bar("checking", None) as advance:
        archive = Archive.open(file, progress=advance)
    opened = open_or_create_store(store)
    with _bar("importing", archive.rounds) as advance:
        archive.restore(opened, progress=advance)
    if as_json:
        typer.echo(json.dumps({"store": store, "runs": archive.runs, "rounds": archive.rounds}))
        return
    typer.echo(f"{archive.rounds:,} rounds of {archive.runs:,} runs are in {store}")
    if not archive.header.texts:
        typer.echo(
            "it has no sentences: load the same task with `banditmt admin load` before runs are played or verified"
        )
    if not archive.header.keys:
        typer.echo("it has no keys: create new ones with `banditmt admin key rotate NAME`")


@app.command("release-log")
def release_feedback_log(
    file: Annotated[Path, typer.Argument(metavar="OUT", help="The log: OUT.jsonl, OUT.jsonl.gz or OUT.parquet.")],
    phase: Annotated[str, typer.Option(help="The phase whose finished runs are released.")],
    store: StoreOption = DEFAULT_STORE,
    as_json: JsonOption = False,
) -> None:
    """Write what an offline learner needs from finished runs.

    A data card, README.md, is written beside the log. There are no references in it.
    """
    opened = open_existing_store(store)
    with _bar("releasing", None) as advance:
        released = release_log(opened, phase, file, progress=advance)
    if as_json:
        typer.echo(json.dumps({**asdict(released), "log": str(released.log), "card": str(released.card)}))
    else:
        typer.echo(
            f"{released.log}: {released.rounds:,} rounds of {released.runs:,} runs, "
            f"{released.with_probability:,} with a probability; described in {released.card}"
        )
    if released.is_early:
        typer.echo(
            f"phase {phase} is not over: the log has the first {released.rounds_per_run:,} rounds of each run, and "
            "participants who read it know their sentences before they are served",
            err=True,
        )


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    store: StoreOption = DEFAULT_STORE,
) -> None:
    """Copy a SQLite store while it is in use. The copy contains references and hashed keys."""
    opened = open_existing_store(store)
    if not isinstance(opened, SQLiteStore):
        raise StoreError("DynamoDB backs itself up (point-in-time recovery); to copy its contents, use `admin export`")
    opened.backup(file)
    typer.echo(
        f"{file}: {file.stat().st_size:,} bytes; to restore it, stop the service and replace the store's file by it"
    )


def _count_rounds(store: Store) -> int:
    """Return how many rounds a store has."""
    registry = Registry(store)
    runs = [run for record in registry.phases() for run in registry.runs(record.phase.name)]
    return sum(progress.pending for run in runs if (progress := store.progress(run.id)))


@contextmanager
def _bar(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    with progress_bars(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()) as bars:
        task = bars.add_task(what, total=total)
        yield lambda rounds: bars.advance(task, rounds)
