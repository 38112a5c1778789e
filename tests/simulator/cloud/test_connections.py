"""The table of open connections."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing

import pytest

from simulator.cloud.connections import ConnectionCounts, ConnectionTable, OpenConnection, network_of


@pytest.fixture
def client() -> Iterator[socket.socket]:
    with closing(socket.socket()) as unconnected:
        yield unconnected


def added(table: ConnectionTable, client: socket.socket, address: str) -> OpenConnection:
    connection = table.add(client, address)
    assert connection is not None
    return connection


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
    ],
)
def test_the_addresses_of_one_customer_count_as_one(address: str, network: str) -> None:
    assert network_of(address) == network


def test_the_last_place_of_a_network_goes_to_its_newest_connection(client: socket.socket) -> None:
    table = ConnectionTable(limit=10, per_network=2)
    first, second, third = (added(table, client, f"2001:db8::{number}") for number in range(3))
    assert (first.closing.is_set(), second.closing.is_set()) == (True, False)
    assert set(table.all()) == {second, third}


def test_a_connection_at_work_is_not_evicted(client: socket.socket) -> None:
    table = ConnectionTable(limit=2, per_network=2)
    first, second = (added(table, client, "192.0.2.1") for _ in range(2))
    assert table.start_work(first)
    added(table, client, "192.0.2.1")
    assert (first.closing.is_set(), second.closing.is_set()) == (False, True)
    assert not table.start_work(second)  # too late
    table.finish_work(first)
    for _ in range(2):
        added(table, client, "192.0.2.1")
    assert first.closing.is_set()


def test_without_a_waiting_connection_there_is_no_room(client: socket.socket) -> None:
    table = ConnectionTable(limit=1, per_network=1)
    working = added(table, client, "192.0.2.1")
    table.start_work(working)
    assert table.add(client, "192.0.2.1") is None
    assert table.add(client, "192.0.2.2") is None
    table.remove(working)
    table.remove(working)  # a second time changes nothing
    assert table.add(client, "192.0.2.2") is not None


def test_networks_without_connections_are_forgotten(client: socket.socket) -> None:
    table = ConnectionTable(limit=5, per_network=5)
    for number in range(100):
        table.remove(added(table, client, f"192.0.2.{number}"))
    assert len(table._counts) == 0


def test_processes_know_which_of_them_has_fewer_connections() -> None:
    counts = ConnectionCounts(3)
    counts.use(1)
    assert not counts.has_more_than_another()
    counts.publish(2)
    assert counts.has_more_than_another()

    def catch_up_with(other: int, connections: int) -> int:
        counts.use(other)
        counts.publish(connections)
        return counts.has_more_than_another()

    for other, connections in ((0, 2), (2, 3)):
        child = os.fork()
        if child == 0:
            os._exit(catch_up_with(other, connections))
        is_ahead = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert is_ahead == 1
    assert not counts.has_more_than_another()  # 2, 2 and 3
    counts.use(1)  # as a process that replaces the one with this number
    counts.publish(1)
    assert not counts.has_more_than_another()
