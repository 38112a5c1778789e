"""What a million rounds cost on AWS: counts the calls to DynamoDB of a run through the functions, at list prices."""

from collections import Counter
from typing import Any

from benchmarks.harness.playing import moto_store, play_handlers, sentence_pairs
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.task_loader import load_phase
from task.feedback import BANDIT_FEEDBACK, FeedbackKind, FeedbackSpec
from task.layout import Layout
from task.phases import Phase

ROUNDS = 300

# List prices in us-east-1, November 2026, in dollars per million.
REST_REQUESTS, LAMBDA_REQUESTS, WRITE_UNITS, READ_UNITS = 3.50, 0.20, 0.625, 0.125
HTTP_REQUESTS = 1.00  # of an HTTP API, which has no keys, usage plans or validation
DOLLARS_PER_GB_SECOND = 0.0000133334  # of Lambda on arm64
GB_SECONDS_PER_REQUEST = 0.5 * 0.016  # 512 MB for 16 ms: an estimate, most of it waiting for the write
DOLLARS_PER_GB_MONTH = 0.25 + 0.20  # of storage, with point-in-time recovery


def count_calls(feedback: FeedbackSpec = BANDIT_FEEDBACK) -> dict[str, float]:
    """Return the calls to DynamoDB, the write units and the stored bytes per round.

    Nothing expires from the cache of the function meanwhile: that would depend on how fast the machine is.
    """
    counts: Counter[str] = Counter()

    def count(params: dict[str, Any], model: Any, **_: Any) -> None:
        counts[model.name] += 1
        if model.name == "PutItem":
            counts["stored bytes"] += _item_bytes(params["Item"])
            counts["write units"] += -(-_item_bytes(params["Item"]) // 1024)

    with moto_store() as store:
        phase = Phase("dev", Layout.plain(ROUNDS), repeatable=True, feedback=feedback)
        load_phase(store, phase, sentence_pairs(ROUNDS), language="en")
        key, service = Registry(store).add_participant("bench"), Service(store, staleness=float("inf"))
        play_handlers(service, key, "warming-up")
        store._client.meta.events.register("provide-client-params.dynamodb.*", count)
        play_handlers(service, key, "counted")
    return {name: number / ROUNDS for name, number in counts.items()}


def _item_bytes(item: dict[str, dict[str, Any]]) -> int:
    """Return the size of an item as DynamoDB computes it.

    Names and strings count in UTF-8. A number takes a byte for two digits, and one more.
    """
    size = 0
    for name, typed in item.items():
        ((kind, value),) = typed.items()
        size += len(name) + (len(value) // 2 + 2 if kind == "N" else len(value.encode() if kind == "S" else value))
    return size


def main() -> None:
    per_round = count_calls()
    for name, count in sorted(per_round.items()):
        print(f"{name:16}{count:10.3f} per round")
    reads = sum(count for name, count in per_round.items() if name in ("GetItem", "Query"))
    dollars = {
        "API Gateway, REST": REST_REQUESTS,
        "Lambda, requests": LAMBDA_REQUESTS,
        "Lambda, time": GB_SECONDS_PER_REQUEST * DOLLARS_PER_GB_SECOND * 1e6,
        "DynamoDB, writes": per_round["write units"] * WRITE_UNITS,
        "DynamoDB, reads": reads * READ_UNITS,
    }
    print(f"\nper million rounds ({ROUNDS} counted)")
    for name, price in dollars.items():
        print(f"{name:24}{price:8.3f} $")
    print(f"{'total':24}{sum(dollars.values()):8.3f} $")
    with_http = sum(dollars.values()) - REST_REQUESTS + HTTP_REQUESTS
    print(f"{'total, HTTP API':24}{with_http:8.3f} $")
    print(f"{'... with own metering':24}{with_http + WRITE_UNITS:8.3f} $  (one more write unit per round)")
    print(f"{'storage, per month':24}{per_round['stored bytes'] / 1e3 * DOLLARS_PER_GB_MONTH:8.3f} $")
    print("\nwith post-edits")
    for name, count in sorted(count_calls(FeedbackSpec(kind=FeedbackKind.POST_EDIT)).items()):
        print(f"{name:16}{count:10.3f} per round")


if __name__ == "__main__":
    main()
