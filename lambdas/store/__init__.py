"""The storage of a task: one small interface, implemented by SQLite (embedded) and DynamoDB (in the cloud)."""

from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Store, StoreAddressError, StoreError, TextSide

__all__ = ["Document", "DocumentKind", "Store", "StoreAddressError", "StoreError", "TextSide", "open_store"]


def open_store(address: str) -> Store:
    """Open the store at an address: ``sqlite:PATH`` or ``dynamodb:REGION-OR-URL``.

    An engine is imported only when it is used: a local run never loads boto3, and the cloud never loads SQLite.

    Raises:
        StoreAddressError: The address names neither engine.
        StoreError: The file is not a store, or cannot be created.
    """
    engine, _, place = address.partition(":")
    if engine == "sqlite" and place:
        from lambdas.store.sqlite import SQLiteStore

        return SQLiteStore.open(place)
    if engine == "dynamodb" and place:
        from lambdas.store.dynamodb import DynamoDBStore

        return DynamoDBStore.open(place)
    raise StoreAddressError(f"a store is sqlite:PATH or dynamodb:REGION-OR-URL, but got {address!r}")
