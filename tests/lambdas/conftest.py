"""The stores that tests run on: SQLite, DynamoDB emulated by moto in process, and by dynalite over HTTP.

Set BANDITMT_TEST_DYNAMODB to a region or to the URL of DynamoDB Local to run the tests on that, too. The tables that
they create there are deleted at the end.
"""

import os
import uuid
from contextlib import contextmanager

import boto3
import pytest
from moto import mock_aws

from lambdas.store.dynamodb import PATIENT_CONFIG, DynamoDBStore
from lambdas.store.sqlite import SQLiteStore

ENDPOINT = os.environ.get("BANDITMT_TEST_DYNAMODB")
DYNAMODB = ["moto", "dynalite", *(["endpoint"] if ENDPOINT else [])]


@contextmanager
def opened_sqlite(folder):
    store = SQLiteStore.open(f"{folder / 'store.db'}?synchronous=normal")
    yield store
    store.close()


@contextmanager
def opened_moto():
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        store = DynamoDBStore(boto3.client("dynamodb", region_name="us-east-1", config=PATIENT_CONFIG), may_create=True)
        store.prepare()
        yield store
        store.close()


@contextmanager
def opened_dynamodb(place):
    store = DynamoDBStore.open(f"{place}?prefix=test-{uuid.uuid4().hex}")
    store._may_create = True
    store.prepare()
    yield store
    for table in (store._task, store._references, store._ledger):
        store._client.delete_table(TableName=table)
    store.close()


@contextmanager
def opened(kind, request):
    if kind == "sqlite":
        with opened_sqlite(request.getfixturevalue("tmp_path")) as store:
            yield store
    elif kind == "moto":
        with opened_moto() as store:
            yield store
    else:
        place = request.getfixturevalue("dynalite_url") if kind == "dynalite" else ENDPOINT
        with opened_dynamodb(place) as store:
            yield store


@pytest.fixture(params=["sqlite", *DYNAMODB])
def store(request):
    """A store of every engine in turn."""
    with opened(request.param, request) as store:
        yield store


@pytest.fixture
def sqlite(tmp_path):
    with opened_sqlite(tmp_path) as store:
        yield store


@pytest.fixture
def moto():
    with opened_moto() as store:
        yield store
