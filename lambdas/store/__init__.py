"""Where everything is kept: one small interface, embedded (SQLite) or in the cloud (DynamoDB)."""

from lambdas.store.documents import Document, DocumentKind
from lambdas.store.interface import Shelf, Store, StoreAddressError, StoreError

__all__ = ["Document", "DocumentKind", "Shelf", "Store", "StoreAddressError", "StoreError", "open_store"]


def open_store(address: str) -> Store:
    """Open ``sqlite:PATH`` or ``dynamodb:REGION-OR-URL``; anything else is refused with what is possible.

    An engine is imported only when it is used: playing on one machine never loads boto3, the cloud never SQLite.
    """
    engine, _, place = address.partition(":")
    if engine == "sqlite" and place:
        from lambdas.store.sqlite import SQLiteStore

        return SQLiteStore.open(place)
    if engine == "dynamodb" and place:
        from lambdas.store.dynamodb import DynamoDBStore

        return DynamoDBStore.open(place)
    raise StoreAddressError(f"a store is sqlite:PATH or dynamodb:REGION-OR-URL, but got {address!r}")
