"""Plays copy-source runs on the service without HTTP, through the service object or through the Lambda functions."""

import contextlib
import json
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
from moto import mock_aws

from lambdas import wiring
from lambdas.answers import Sentence
from lambdas.handlers import read, score
from lambdas.service import Service
from lambdas.store import Store
from lambdas.store.dynamodb import PATIENT_CONFIG, DynamoDBStore
from lambdas.store.sqlite import SQLiteStore

VOCABULARY_SIZE = 5_000

Play = Callable[[Service, str, str], int]  # plays a run with an API key as a system; returns the number of rounds


def sentence_pairs(count: int, seed: int = 17) -> Iterator[tuple[str, str]]:
    """Yield sources and references of 6.6 tokens on average; about half of the tokens are the same on both sides."""
    rng = random.Random(seed)
    german, english = ([f"{side}{rank:04d}" for rank in range(VOCABULARY_SIZE)] for side in ("wort", "word"))
    for _ in range(count):
        length = rng.randint(1, 3) if rng.random() < 0.45 else min(25, 8 + int(rng.expovariate(0.4)))
        ranks = [int(VOCABULARY_SIZE * rng.random() ** 3) for _ in range(length)]
        source = [german[rank] for rank in ranks]
        reference = [english[rank] if rank % 2 else german[rank] for rank in ranks]
        yield " ".join(source), " ".join(reference)


def play_service(service: Service, key: str, system: str, phase: str = "dev") -> int:
    """Play a run on the service object, with a key check in every round as over HTTP. Return the number of rounds."""
    run = service.open_run(service.authenticate(key), phase, system).run
    sentence: Sentence | None = service.sentence(service.authenticate(key), run)
    rounds = 0
    while sentence is not None:
        sentence = service.translate(service.authenticate(key), run, sentence.id, sentence.source).next
        rounds += 1
    return rounds


def play_handlers(service: Service, key: str, system: str) -> int:
    """Play a run on the functions, with the events of API Gateway. Return the number of rounds."""
    wiring.use_service(service)
    run = _call(read.handler, "POST", "/v1/runs", key, {"phase": "dev", "system": system})["run"]
    sentence, rounds = _call(read.handler, "GET", f"/v1/runs/{run}/sentence", key), 0
    while sentence:
        body = {"id": sentence["id"], "translation": sentence["source"]}
        sentence, rounds = _call(score.handler, "POST", f"/v1/runs/{run}/translations", key, body)["next"], rounds + 1
    return rounds


def _call(handler: Callable[..., Any], method: str, path: str, key: str, body: object = None) -> Any:
    event = {
        "resource": path,
        "path": path,
        "httpMethod": method,
        "headers": {"X-Api-Key": key},
        "multiValueHeaders": {"X-Api-Key": [key]},
        "requestContext": {"requestId": "bench", "stage": "", "path": path},
        "body": json.dumps(body) if body else None,
        "isBase64Encoded": False,
    }
    response = handler(event, None)
    assert response["statusCode"] == 200, response
    return json.loads(response["body"])


@contextlib.contextmanager
def sqlite_store(synchronous: str) -> Iterator[Store]:
    """Open a temporary SQLite store: ``normal`` or ``full``, as in lambdas/store/sqlite.py."""
    with tempfile.TemporaryDirectory() as folder:
        store = SQLiteStore.open(f"{Path(folder) / 'store.db'}?synchronous={synchronous}")
        yield store
        store.close()


@contextlib.contextmanager
def moto_store(prefix: str = "bench") -> Iterator[DynamoDBStore]:
    """Open a DynamoDB store on moto, the mock of AWS, in this process."""
    os.environ.update(AWS_ACCESS_KEY_ID="bench", AWS_SECRET_ACCESS_KEY="bench")
    with mock_aws():
        yield DynamoDBStore(
            boto3.client("dynamodb", region_name="us-east-1", config=PATIENT_CONFIG), prefix, may_create=True
        )
