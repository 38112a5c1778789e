"""What a run leaves behind, to be compared with another run of the same system."""

from contextlib import closing

from lambdas.registry import Registry
from lambdas.store import open_store
from learners.snapshot import Snapshot


def ledger(competition, spec):
    """Return the rounds of a run in the ledger, without the times."""
    with closing(open_store(competition.store)) as store:
        (run,) = [run for run in Registry(store).runs(competition.phase) if run.system == spec.label]
        return [
            (one.index, one.translation, one.observed_reward, one.true_reward, one.statistics, one.log_probability)
            for one in store.rounds(run.id)
        ]


def written(competition, spec):
    """Return the journal of a run byte by byte, and its last snapshot; another ledger has another run id."""
    folder = competition.run_folder(spec)
    snapshot = Snapshot.read(folder / "snapshot")
    del snapshot.values["run"]
    arrays = {name: array.tobytes() for name, array in snapshot.arrays.items()}
    return (folder / "journal.jsonl").read_bytes(), snapshot.values, arrays
