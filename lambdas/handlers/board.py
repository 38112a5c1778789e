"""The function that follows the ledger: keeps one small summary per run, from which the leaderboard is answered.

DynamoDB delivers the entries of one run in order, to one invocation at a time, but may deliver them again, and may lose
some to the queue of failures: rounds that are known change nothing, and rounds that are missing are read from the
ledger. So any batch can be repeated, and all of it can be rebuilt.
"""

import base64
import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from lambdas import wiring
from lambdas.observability import tracer
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.store import Store, StoreError, open_store
from lambdas.store.dynamodb import OPENING_INDEX, to_round
from task.rounds import Round

Record = Mapping[str, Any]


def fold(store: Store, records: Iterable[Record]) -> int:
    """Bring the summaries of all runs in a batch up to date; tell how many changed."""
    delivered: dict[str, list[Round]] = {}
    for record in records:
        if record["eventName"] != "INSERT":
            continue  # entries are never changed; if an organiser removes some, the board is rebuilt
        image = record["dynamodb"]["NewImage"]
        if int(image["sk"]["N"]) != OPENING_INDEX:
            delivered.setdefault(image["pk"]["S"], []).append(_round(image))
    return sum(_follow(store, rounds) for rounds in delivered.values())


def _follow(store: Store, rounds: list[Round]) -> bool:
    run = rounds[0].run
    phase = Registry(store).phase(run.phase)
    if phase is None:
        raise StoreError(f"run {run.id} is of phase {run.phase}, which is not loaded")
    return Scoreboard(store).follow(phase, run, sorted(rounds, key=lambda each: each.index))


def _round(image: Mapping[str, Any]) -> Round:
    """A ledger item as the stream delivers it: bytes come in base64."""
    return to_round({**image, "statistics": {"B": base64.b64decode(image["statistics"]["B"])}})


@cache
def _store() -> Store:
    return open_store(os.environ[wiring.STORE_VARIABLE])


@tracer.capture_lambda_handler(capture_response=False, capture_error=False)
def handler(event: Mapping[str, Any], context: Any) -> None:  # noqa: ARG001
    """Fold one batch. What fails is delivered again, in halves, and in the end put aside by the event source."""
    fold(_store(), event["Records"])
