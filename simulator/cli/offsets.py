"""``banditmt offsets``: what a run has learned from post-edits, as a file of its own."""

import json
from pathlib import Path
from typing import Annotated

import typer

from learners.errors import SnapshotError
from simulator.cli.stores import JsonOption


def offsets(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of a run of an ADAPT system: RUNS/PHASE/NAME.")
    ],
    output: Annotated[Path | None, typer.Option("--output", help="Write the offsets to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the size of what a run has learned from post-edits: its offsets to the base model.

    With --output, the offsets are also written to a file. Added to the base model, they give the adapted model; removed
    from it, they leave the base model as it was.
    """
    from learners.adaptation.offsets import Offsets
    from learners.run_folder import RunFolder

    run_folder = RunFolder(folder)
    details = run_folder.details()
    found = details and run_folder.load_snapshot(details)
    if not details or not found:
        raise SnapshotError(f"{folder} has no snapshot of a run: give the folder of a run, RUNS/PHASE/NAME")
    rounds, state = found
    if "offsets" not in state.values:
        raise SnapshotError(f"{details.system} in {folder} has no offsets: only networks that learn from post-edits do")
    learned = Offsets.from_snapshot(state.part("offsets"))
    if output:
        learned.save(output)
    rows = sum(len(table.numbers) for table in learned.tables.values())
    if as_json:
        values = {"system": details.system, "rounds": rounds, "base": learned.base}
        values |= {"bytes": learned.nbytes, "parameters": learned.parameters}
        typer.echo(json.dumps({**values, "tensors": len(learned.tensors), "embedding_rows": rows}, indent=2))
        return
    typer.echo(
        f"{details.system} after {rounds:,} rounds: {learned.nbytes:,} bytes, {learned.parameters:,} parameters "
        f"in {len(learned.tensors):,} tensors and {rows:,} rows of embeddings"
    )
