"""The board function: follows the ledger's stream and keeps one small summary per run, which the leaderboard reads.

DynamoDB delivers the entries of a run in order, to one invocation at a time. It may deliver entries twice, and after
repeated failures some end up in the dead-letter queue. A round that is already in the summary changes nothing, and
missing rounds are read from the ledger. So any batch can be repeated, and all summaries can be rebuilt.
"""

import base64
import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from lambdas import wiring
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store, StoreError, open_store
from lambdas.store.dynamodb import OPENING_INDEX, to_round
from task.rounds import Round

StreamRecord = Mapping[str, Any]


def update_summaries(store: Store, records: Iterable[StreamRecord]) -> int:
    """Update the summaries of all runs in a batch of the stream, and return how many changed."""
    delivered: dict[str, list[Round]] = {}
    for record in records:
        if record["eventName"] != "INSERT":
            continue  # the service never changes entries; after an organiser deletes some, the board is rebuilt
        image = record["dynamodb"]["NewImage"]
        if int(image["sk"]["N"]) != OPENING_INDEX:
            delivered.setdefault(image["pk"]["S"], []).append(_to_round(image))
    return sum(_update_summary(store, rounds) for rounds in delivered.values())


def _update_summary(store: Store, rounds: list[Round]) -> bool:
    run = rounds[0].run
    phase = Registry(store).phase(run.phase)
    if phase is None:
        raise StoreError(f"run {run.id} belongs to phase {run.phase}, which is not loaded")
    return Scoreboard(store).follow(phase, run, sorted(rounds, key=lambda each: each.index))


def _to_round(image: Mapping[str, Any]) -> Round:
    """Return the round in a stream record, where bytes are encoded in base64."""
    decoded = {name: {"B": base64.b64decode(value["B"])} for name, value in image.items() if "B" in value}
    return to_round({**image, **decoded})


@cache
def _store() -> Store:
    return open_store(os.environ[wiring.STORE_VARIABLE])


def handler(event: Mapping[str, Any], context: Any) -> None:  # noqa: ARG001
    """Process one batch. The event source repeats a failed batch in halves, and finally puts it in the queue."""
    update_summaries(_store(), event["Records"])
