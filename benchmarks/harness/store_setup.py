"""A script that creates the store of a load test with the packages of the working tree that will serve it.

    python store_setup.py STORE ROUNDS PARTICIPANTS

It prints the API keys of the participants, one per line. It imports nothing of the benchmarks, because another tree may
not have them.
"""

import sys
from pathlib import Path

from lambdas.registry import Registry
from lambdas.store import open_store
from lambdas.task_loader import load_phase
from task.layout import Layout
from task.phases import Phase

SENTENCE, REFERENCE = "baumwolle , farbe blau , größe xl", "cotton , blue , size xl"


def prepare_store(path: Path, rounds: int, participants: int = 1) -> list[str]:
    """Create a store with a dev phase of this many rounds. Return the API keys of its participants."""
    store = open_store(f"sqlite:{path}")
    load_phase(store, Phase("dev", Layout.plain(rounds), repeatable=True), [(SENTENCE, REFERENCE)] * rounds)
    keys = [Registry(store).add_participant(f"client-{number}") for number in range(participants)]
    store.close()
    return keys


if __name__ == "__main__":
    print(*prepare_store(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])), sep="\n")
