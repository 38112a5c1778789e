"""The storage of simulated servers: SQLite with faults at every statement, and DynamoDB tables in memory.

Below ``SimulatedSQLiteStore`` is a real SQLite file, and below ``SimulatedTables`` a dictionary. What the stores do
with them, with their errors and their delays is the code under test.
"""

import sqlite3
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, ReadTimeoutError

from lambdas.store.sqlite import SQLiteStore
from tests.simulation import faults

if TYPE_CHECKING:
    from tests.simulation.servers import ServerProcess

FLUSH_SECONDS, SLOW_SECONDS = 0.02, 8.0  # at most
_WRITES = ("INSERT", "UPDATE", "DELETE", "COMMIT")


class InterruptedThreadError(BaseException):
    """A thread was interrupted, as by Ctrl-C."""


class SimulatedConnection:
    """A SQLite connection of one server process, which waits and fails as the fault plan says."""

    def __init__(self, connection: sqlite3.Connection, process: "ServerProcess") -> None:
        self._connection, self._process = connection, process

    @property
    def in_transaction(self) -> bool:
        return self._process.is_alive and self._connection.in_transaction

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        process, plan = self._process, self._process.plan
        process.check_alive()
        if statement == "ROLLBACK":  # the end of a transaction, which SQLite itself does when nobody else does
            return self._connection.execute(statement)
        is_write = statement.split(None, 1)[0] in _WRITES
        process.pause(plan.duration(FLUSH_SECONDS / 10))
        process.crash_if(plan.draw(faults.PROCESS[:1]))
        fault = plan.draw(faults.DISK)
        if fault == "thread interrupted":
            raise InterruptedThreadError
        if fault == "statement fails before":
            if self._connection.in_transaction and plan.chance(0.5):
                self._connection.rollback()  # as SQLite does after some errors
            raise sqlite3.OperationalError("disk I/O error")
        cursor = self._connection.execute(statement, values)
        slow = SLOW_SECONDS if fault == "slow disk" else FLUSH_SECONDS
        is_commit = is_write and not self._connection.in_transaction
        process.pause(plan.duration(slow if is_commit else slow / 10))
        process.crash_if(plan.draw(faults.PROCESS[1:]))
        if fault == "statement fails after":  # such as a flush that fails when the log is already written
            raise sqlite3.OperationalError("disk I/O error")
        return cursor

    def executemany(self, statement: str, rows: Any) -> None:
        self._connection.executemany(statement, rows)

    def commit(self) -> None:
        self.execute("COMMIT")

    def rollback(self) -> None:
        if self._process.is_alive:
            self._connection.rollback()

    def crash(self) -> None:
        """End as the connection of a killed process does: what was not committed is gone."""
        self._connection.rollback()
        self._connection.close()

    def close(self) -> None:
        if self._process.is_alive:
            self._connection.close()


class SimulatedSQLiteStore(SQLiteStore):
    """A SQLite store whose connections belong to a server process."""

    process: "ServerProcess"

    def _connect(self) -> sqlite3.Connection:
        self.process.check_alive()
        connection = SimulatedConnection(super()._connect(), self.process)
        self.process.connections.append(connection)
        return connection  # type: ignore[return-value] # it has the methods that the store uses


class ConditionalCheckFailedError(ClientError):
    """The condition of a write was not met."""


def _refusal(code: str, status: int) -> ClientError:
    kind = ConditionalCheckFailedError if code == "ConditionalCheckFailedException" else ClientError
    return kind({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Simulated")  # type: ignore[typeddict-item]


class SimulatedTables:
    """A client of DynamoDB tables in memory, with the calls and expressions that the store uses."""

    class exceptions:  # noqa: N801 (the name that boto3 gives it)
        ConditionalCheckFailedException = ConditionalCheckFailedError

    def __init__(self, tables: dict[str, dict[str, dict[Any, Any]]], process: "ServerProcess | None" = None) -> None:
        self._tables, self._process = tables, process

    def describe_table(self, *, TableName: str) -> None:  # noqa: N803 (the names of boto3)
        """Every table exists."""

    def get_item(self, *, TableName: str, Key: Any, **_: Any) -> dict[str, Any]:  # noqa: N803
        item = self._call(lambda: self._rows(TableName, Key).get(_sort_key(Key)))
        return {"Item": item} if item else {}

    def put_item(
        self,
        *,
        TableName: str,  # noqa: N803
        Item: Any,  # noqa: N803
        ConditionExpression: str = "",  # noqa: N803
        ExpressionAttributeValues: Any = None,  # noqa: N803
        **_: Any,
    ) -> None:
        def put() -> None:
            rows, key = self._rows(TableName, Item), _sort_key(Item)
            known = rows.get(key)
            if ConditionExpression == "attribute_not_exists(pk)":
                is_met = known is None
            elif ConditionExpression == "#json IN (:known, :written)":
                is_met = known is not None and known["json"] in ExpressionAttributeValues.values()
            else:
                assert not ConditionExpression, ConditionExpression
                is_met = True
            if not is_met:
                raise _refusal("ConditionalCheckFailedException", 400)
            rows[key] = Item

        self._call(put, is_write=True)

    def delete_item(self, *, TableName: str, Key: Any) -> None:  # noqa: N803
        self._call(lambda: self._rows(TableName, Key).pop(_sort_key(Key), None), is_write=True)

    def batch_write_item(self, *, RequestItems: Any) -> dict[str, Any]:  # noqa: N803
        for table, requests in RequestItems.items():
            for request in requests:
                item = request["PutRequest"]["Item"]
                self._rows(table, item)[_sort_key(item)] = item
        return {"UnprocessedItems": {}}

    def query(
        self,
        *,
        TableName: str,  # noqa: N803
        KeyConditionExpression: str,  # noqa: N803
        ExpressionAttributeValues: Any,  # noqa: N803
        ScanIndexForward: bool,  # noqa: N803
        Limit: int | None = None,  # noqa: N803
        **_: Any,
    ) -> dict[str, Any]:
        assert KeyConditionExpression in ("pk = :pk", "pk = :pk AND sk >= :start"), KeyConditionExpression

        def find() -> list[Any]:
            rows = self._rows(TableName, {"pk": ExpressionAttributeValues[":pk"]})
            start = ExpressionAttributeValues.get(":start")
            keys = sorted(key for key in rows if start is None or key >= _value(start))
            return [rows[key] for key in (keys if ScanIndexForward else keys[::-1])][:Limit]

        return {"Items": self._call(find)}

    def close(self) -> None:
        """Do nothing: the tables outlive their clients."""

    def _rows(self, table: str, key: Any) -> dict[Any, Any]:
        return self._tables.setdefault(table, {}).setdefault(key["pk"]["S"], {})

    def _call(self, call: Any, *, is_write: bool = False) -> Any:
        if self._process is None:
            return call()
        process, plan = self._process, self._process.plan
        process.check_alive()
        process.pause(plan.duration(FLUSH_SECONDS))
        process.crash_if(plan.draw(faults.PROCESS[:1]))
        fault = plan.draw(faults.TABLE)
        if fault == "table throttled":
            raise _refusal("ProvisionedThroughputExceededException", 400)
        if fault == "table silent before":
            raise ReadTimeoutError(endpoint_url="simulated")
        result = call()
        process.pause(plan.duration(FLUSH_SECONDS))
        process.crash_if(plan.draw(faults.PROCESS[1:]))
        if fault == "table silent after":
            raise ReadTimeoutError(endpoint_url="simulated")
        if fault == "table repeats a write" and is_write:  # as boto3 does when a response was lost
            result = call()
        return result


def _sort_key(key: Any) -> Any:
    return _value(key["sk"])


def _value(attribute: Any) -> Any:
    return int(attribute["N"]) if "N" in attribute else attribute["S"]
