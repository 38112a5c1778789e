"""The store in the cloud: three DynamoDB tables, so that a role can be granted access to each of them separately.

    PREFIX-task         pk (S) kind, sk (S) name         documents, and blocks of source sentences
    PREFIX-references   pk (S) phase, sk (S) number      blocks of references
    PREFIX-ledger       pk (S) run, sk (N) index         openings at -1, then rounds

Reads are strongly consistent. Every ledger item repeats the opening of its run. So the last item of a run is enough to
resume it, and a reader of the stream needs no further read. Rewards are stored as decimal text, because the smallest
DynamoDB number is 1e-130, and the reward of a very short translation can be smaller.
"""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import parse_qsl

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as NoConnectionError

from lambdas.errors import UnavailableError
from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import StoreAddressError, StoreError, TextSide, parse_document
from task.rounds import Round, RoundResult, Run, RunProgress

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

DEFAULT_PREFIX = "banditmt"
MAX_BLOCK_BYTES = 390_000  # an item has at most 400 kB, keys included
OPENING_INDEX = -1  # the sort key of a run's opening: before its first round
MAX_BATCH_ITEMS = 25  # the limit of BatchWriteItem
MAX_BATCH_ATTEMPTS = 8

PATIENT_CONFIG = Config(
    retries={"mode": "standard", "total_max_attempts": 5},
    connect_timeout=5,
    read_timeout=20,
    max_pool_connections=64,
    tcp_keepalive=True,
    parameter_validation=False,  # all requests are built in this module; validating one costs more than building it
)
# A function has ten seconds. Three attempts of a second and a half, with pauses of up to one and two seconds between
# them, leave enough time to report that the storage is silent. Repeating a write is harmless: if a conditional write
# succeeded and only its response was lost, its repetition fails, and the service recognises the round as its own.
FUNCTION_CONFIG = PATIENT_CONFIG.merge(
    Config(retries={"mode": "standard", "total_max_attempts": 3}, connect_timeout=0.5, read_timeout=1)
)
_SORT_KEY_TYPES = {"task": "S", "references": "S", "ledger": "N"}  # by table
_IF_ABSENT = "attribute_not_exists(pk)"
_BUSY_CODES = {
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "ReplicatedWriteConflictException",
    "LimitExceededException",
}

Item = dict[str, Any]
Result = TypeVar("Result")


class DynamoDBStore:
    """A store in three DynamoDB tables; see ``Store`` for its methods."""

    def __init__(self, client: "DynamoDBClient", prefix: str = DEFAULT_PREFIX, *, may_create: bool = False) -> None:
        self._client = client
        self._task, self._references, self._ledger = (f"{prefix}-{table}" for table in _SORT_KEY_TYPES)
        self._may_create = may_create

    @classmethod
    def open(cls, place: str) -> Self:
        """Open ``REGION`` or ``http://HOST:PORT``, either with ``?prefix=NAME`` for the prefix of the table names.

        In a deployed stack, the prefix is the name of the stack.
        """
        target, question, options = place.partition("?")
        chosen = dict(parse_qsl(options))
        if question and set(chosen) != {"prefix"}:
            raise StoreAddressError(f"the only option of a DynamoDB store is prefix=NAME, but got {options!r}")
        is_url = target.startswith(("http://", "https://"))
        try:
            client = _client(endpoint_url=target, region_name=_region()) if is_url else _client(region_name=target)
        except (BotoCoreError, ValueError) as failure:
            raise StoreAddressError(f"not a region or address of DynamoDB: {target!r} ({failure})") from failure
        return cls(client, chosen.get("prefix", DEFAULT_PREFIX), may_create=is_url)

    def prepare(self) -> None:
        """Create missing tables on a local server. On AWS, the template creates them, with encryption and backups."""
        for table, kind in _SORT_KEY_TYPES.items():
            name = {"task": self._task, "references": self._references, "ledger": self._ledger}[table]
            if not self._exists(name):
                if not self._may_create:
                    raise StoreError(f"there is no table {name}: deploy template.yaml first, or name another prefix")
                self._create_table(name, kind)

    def close(self) -> None:
        self._client.close()

    # documents

    def document(self, kind: DocumentKind, name: str) -> Document | None:
        item = self._get(self._task, kind, {"S": name})
        return parse_document(kind, item["json"]["S"]) if item else None

    def documents(self, kind: DocumentKind) -> list[Document]:
        items = self._query(self._task, "pk = :pk", {":pk": {"S": kind}})
        return [parse_document(kind, item["json"]["S"]) for item in items]

    def create(self, kind: DocumentKind, name: str, document: Document) -> bool:
        return self._put_if_absent(self._task, _document_item(kind, name, document))

    def replace(self, kind: DocumentKind, name: str, document: Document) -> None:
        item = _document_item(kind, name, document)
        _call(lambda: self._client.put_item(TableName=self._task, Item=item))

    def delete(self, kind: DocumentKind, name: str) -> None:
        key: Any = {"pk": {"S": kind}, "sk": {"S": name}}
        _call(lambda: self._client.delete_item(TableName=self._task, Key=key))

    def compare_and_swap(self, kind: DocumentKind, name: str, known: Document, document: Document) -> bool:
        # the client repeats a write whose response was lost; it then finds its own document, which is a success too
        either = {":known": {"S": json.dumps(known)}, ":written": {"S": json.dumps(document)}}
        condition = "#json IN (:known, :written)"
        return self._put_if(
            self._task,
            _document_item(kind, name, document),
            condition,
            ExpressionAttributeNames={"#json": "json"},
            ExpressionAttributeValues=either,
        )

    # blocks

    def block(self, side: TextSide, phase: str, number: int) -> bytes | None:
        item = self._get(self._table_of(side), f"block/{phase}", {"S": f"{number:08d}"})
        return bytes(item["block"]["B"]) if item else None

    def put_blocks(self, side: TextSide, phase: str, blocks: Iterable[tuple[int, bytes]]) -> None:
        def items() -> Iterator[Item]:
            for number, block in blocks:
                if len(block) > MAX_BLOCK_BYTES:
                    raise StoreError(f"block {number} of {phase} has {len(block):,} bytes: load with smaller blocks")
                yield _block_item(phase, number, block)

        self._put_many(self._table_of(side), items())

    # the ledger

    def open_run(self, run: Run) -> None:
        self._put_if_absent(self._ledger, _run_item(run, OPENING_INDEX))

    def append(self, played: Round) -> bool:
        return self._put_if_absent(self._ledger, _round_item(played))

    def opening(self, run: str) -> Run | None:
        item = self._get(self._ledger, run, {"N": str(OPENING_INDEX)})
        return _to_run(item) if item else None

    def round(self, run: str, index: int) -> Round | None:
        item = self._get(self._ledger, run, {"N": str(index)})
        return to_round(item) if item else None

    def progress(self, run: str) -> RunProgress | None:
        newest = list(self._query(self._ledger, "pk = :pk", {":pk": {"S": run}}, newest=2))
        if not newest:
            return None
        if int(newest[0]["sk"]["N"]) == OPENING_INDEX:
            return RunProgress(_to_run(newest[0]), None)
        return RunProgress(_to_run(newest[0]), to_round(newest[0]), _link(newest[1]) if len(newest) > 1 else b"")

    def rounds(self, run: str, start: int = 0) -> Iterator[Round]:
        values = {":pk": {"S": run}, ":start": {"N": str(start)}}
        for item in self._query(self._ledger, "pk = :pk AND sk >= :start", values):
            yield to_round(item)

    def results(self, run: str, start: int = 0) -> Iterator[RoundResult]:
        values = {":pk": {"S": run}, ":start": {"N": str(start)}}
        projection = "sk, clean, #statistics, committed_at, link"  # statistics is a reserved word
        for item in self._query(self._ledger, "pk = :pk AND sk >= :start", values, projection=projection):
            statistics = bytes(item["statistics"]["B"])
            index, committed_at = int(item["sk"]["N"]), int(item["committed_at"]["N"])
            yield RoundResult(index, float(item["clean"]["S"]), statistics, committed_at, _link(item))

    def openings(self) -> Iterator[tuple[str, Run | None]]:
        runs: dict[str, None] = {}  # in order, without duplicates
        scan: Item = {"TableName": self._ledger, "ProjectionExpression": "pk", "ConsistentRead": True}
        while True:
            page = _call(lambda: self._client.scan(**scan))
            runs |= dict.fromkeys(item["pk"]["S"] for item in page["Items"])
            if "LastEvaluatedKey" not in page:
                break
            scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]
        for run in runs:
            yield run, self.opening(run)

    def restore_rounds(self, rounds: Iterable[Round]) -> None:
        self._put_many(self._ledger, map(_round_item, rounds))

    def reassign(self, run: Run) -> None:
        changed = {"participant": {"S": run.participant}, "system": {"S": run.system}}
        items = self._query(self._ledger, "pk = :pk", {":pk": {"S": run.id}})
        self._put_many(self._ledger, (item | changed for item in items))

    # the client

    def _table_of(self, side: TextSide) -> str:
        return self._references if side is TextSide.REFERENCES else self._task

    def _get(self, table: str, pk: str, sk: Mapping[str, str]) -> Item | None:
        key: Any = {"pk": {"S": pk}, "sk": sk}
        found = _call(lambda: self._client.get_item(TableName=table, Key=key, ConsistentRead=True))
        return found.get("Item")

    def _put_if_absent(self, table: str, item: Item) -> bool:
        return self._put_if(table, item, _IF_ABSENT)

    def _put_if(self, table: str, item: Item, condition: str, **expressions: Any) -> bool:
        try:
            _call(
                lambda: self._client.put_item(TableName=table, Item=item, ConditionExpression=condition, **expressions)
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def _query(
        self, table: str, condition: str, values: Item, *, newest: int = 0, projection: str | None = None
    ) -> Iterator[Item]:
        """Yield all items of a key in order, page by page, or only so many of the newest, latest first."""
        query: Item = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
            "ConsistentRead": True,
            "ScanIndexForward": not newest,
        }
        if newest:
            query["Limit"] = newest
        if projection:
            query |= {"ProjectionExpression": projection, "ExpressionAttributeNames": {"#statistics": "statistics"}}
        while True:
            page = _call(lambda: self._client.query(**query))
            yield from page["Items"]
            if newest or "LastEvaluatedKey" not in page:
                return
            query["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _put_many(self, table: str, items: Iterable[Item]) -> None:
        """Write items in batches, and overwrite those that are there."""
        pending = iter(items)
        while batch := list(islice(pending, MAX_BATCH_ITEMS)):
            self._write_batch({table: [{"PutRequest": {"Item": item}} for item in batch]})

    def _write_batch(self, requests: Item) -> None:
        for attempt in range(MAX_BATCH_ATTEMPTS):
            if attempt:
                time.sleep(0.05 * 2**attempt)
            requests = dict(_call(lambda: self._client.batch_write_item(RequestItems=requests))["UnprocessedItems"])  # noqa: B023
            if not requests:
                return
        raise UnavailableError("the storage accepts no more writes at the moment")

    def _exists(self, table: str) -> bool:
        try:
            _call(lambda: self._client.describe_table(TableName=table))
        except StoreError:
            return False
        return True

    def _create_table(self, name: str, sort_kind: Any) -> None:
        with suppress(self._client.exceptions.ResourceInUseException):  # another process is creating it
            self._client.create_table(
                TableName=name,
                BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": sort_kind},
                ],
                KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            )
        self._client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 60})


def _client(**place: str) -> "DynamoDBClient":
    """Return a client with its own session, because the default session is not thread-safe.

    DynamoDB-compatible servers require credentials but accept any. A function, recognised by an environment variable of
    the Lambda runtime, gets short timeouts. An organiser, who may load a task over a slow line, gets longer ones.
    """
    if "endpoint_url" in place and "AWS_ACCESS_KEY_ID" not in os.environ:
        place |= {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    config = FUNCTION_CONFIG if "AWS_LAMBDA_FUNCTION_NAME" in os.environ else PATIENT_CONFIG
    # The stubs accept options by name, but not unpacked from a dictionary.
    client: DynamoDBClient = boto3.Session().client("dynamodb", config=config, **place)  # type: ignore[call-overload]
    return client


def _region() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"


def _call(call: Callable[[], Result]) -> Result:
    """Make a call of the client and translate its errors.

    Raises:
        UnavailableError: The error is transient, and the call can be repeated.
        StoreError: The tables do not exist.
    """
    try:
        return call()
    except ClientError as refusal:
        code = refusal.response.get("Error", {}).get("Code", "")
        status = refusal.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _BUSY_CODES or status >= 500:
            raise UnavailableError from refusal
        if code == "ResourceNotFoundException":
            raise StoreError("the tables of the store do not exist: load a task or deploy the template") from refusal
        raise
    except (NoConnectionError, HTTPClientError) as failure:  # no connection, or no response in time
        raise UnavailableError from failure


def _document_item(kind: DocumentKind, name: str, document: Document) -> Item:
    return {"pk": {"S": kind}, "sk": {"S": name}, "json": {"S": json.dumps(document)}}


def _block_item(phase: str, number: int, block: bytes) -> Item:
    return {"pk": {"S": f"block/{phase}"}, "sk": {"S": f"{number:08d}"}, "block": {"B": block}}


def _run_item(run: Run, index: int) -> Item:
    return {
        "pk": {"S": run.id},
        "sk": {"N": str(index)},
        "participant": {"S": run.participant},
        "phase": {"S": run.phase},
        "system": {"S": run.system},
        "attempt": {"N": str(run.attempt)},
        "opened_at": {"N": str(run.opened_at)},
        "key": {"N": str(run.key)},
    }


def _round_item(played: Round) -> Item:
    item = {
        **_run_item(played.run, played.index),
        "translation": {"S": played.translation},
        "shown": {"S": repr(played.observed_reward)},
        "clean": {"S": repr(played.true_reward)},
        "statistics": {"B": played.statistics},
        "shown_ticks": {"N": str(played.observed_ticks)},
        "clean_ticks": {"N": str(played.true_ticks)},
        "committed_at": {"N": str(played.committed_at)},
    }
    if played.log_probability is not None:
        item["log_probability"] = {"S": repr(played.log_probability)}
    if played.post_edit is not None:
        item["post_edit"] = {"S": played.post_edit}
    if played.link:
        item["link"] = {"B": played.link}
    return item


def _to_run(item: Item) -> Run:
    return Run(
        item["pk"]["S"],
        item["participant"]["S"],
        item["phase"]["S"],
        item["system"]["S"],
        int(item["attempt"]["N"]),
        int(item["opened_at"]["N"]),
        int(item["key"]["N"]),
    )


def to_round(item: Item) -> Round:
    """Return the round that an item holds, whether a client or the stream delivered it."""
    return Round(
        _to_run(item),
        int(item["sk"]["N"]),
        item["translation"]["S"],
        float(item["shown"]["S"]),
        float(item["clean"]["S"]),
        bytes(item["statistics"]["B"]),
        int(item["shown_ticks"]["N"]),
        int(item["clean_ticks"]["N"]),
        int(item["committed_at"]["N"]),
        float(item["log_probability"]["S"]) if "log_probability" in item else None,
        item["post_edit"]["S"] if "post_edit" in item else None,
        _link(item),
    )


def _link(item: Item) -> bytes:
    """Return the link of a round; empty for an opening, and for a round of an earlier version."""
    return bytes(item["link"]["B"]) if "link" in item else b""
