"""The open connections of a server: how many there may be, and which of them makes room for another.

A client that waits for a response keeps its connection. Any other connection can be closed to make room: one that is
idle, whose client sends a request slowly, or whose client does not read a response. So a client that only holds
connections locks no other client out.
"""

import contextlib
import ipaddress
import mmap
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

IPV6_PREFIX_BITS = 64  # the network of one customer: its addresses count as one


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the network of an IPv6 address."""
    if ":" not in address:
        return address
    parsed = ipaddress.IPv6Address(address.partition("%")[0])
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, IPV6_PREFIX_BITS), strict=False))


@dataclass(slots=True, eq=False)
class OpenConnection:
    """One connection, and since when it has been waiting for its client."""

    socket: socket.socket
    network: str
    waiting_since: float | None  # on the monotonic clock; None while the application works on a request
    thread: threading.Thread | None = None
    closing: threading.Event = field(default_factory=threading.Event)  # ends a pause

    def stop_reading(self) -> None:
        """Let the thread of the connection read the end of input. It can still write a response."""
        self._shut_down(socket.SHUT_RD)

    def evict(self) -> None:
        """End whatever the thread of the connection waits for, so that the thread ends."""
        self._shut_down(socket.SHUT_RDWR)

    def _shut_down(self, how: int) -> None:
        self.closing.set()
        with contextlib.suppress(OSError):
            self.socket.shutdown(how)


class ConnectionCounts:
    """How many connections each of several forked processes has, so that they share the work evenly.

    Each process changes only its own number, in memory that all of them see.
    """

    def __init__(self, processes: int) -> None:
        self._counts = memoryview(mmap.mmap(-1, 8 * processes)).cast("q")
        self._own = 0

    def use(self, process: int) -> None:
        """Let this process be one of them. Another one, which it replaces, may have had its number before."""
        self._own = process
        self.publish(0)

    def publish(self, count: int) -> None:
        """Tell the other processes how many connections this one has."""
        self._counts[self._own] = count

    def has_more_than_another(self) -> bool:
        """Return whether this process has more connections than one of the others."""
        return self._counts[self._own] > min(self._counts)


class ConnectionTable:
    """The open connections: at most ``limit``, of which at most ``per_network`` from one network.

    Safe to share between threads.
    """

    def __init__(self, limit: int, per_network: int) -> None:
        self._limit, self._per_network = limit, per_network
        self._open: set[OpenConnection] = set()
        self._counts: Counter[str] = Counter()  # of connections by network
        self._lock = threading.Lock()

    def add(self, client: socket.socket, address: str) -> OpenConnection | None:
        """Add a connection, and evict another one if there is no room; return None if none can be evicted."""
        connection = OpenConnection(client, network_of(address), time.monotonic())
        with self._lock:
            if not self._make_room(connection.network):
                return None
            self._open.add(connection)
            self._counts[connection.network] += 1
        return connection

    def remove(self, connection: OpenConnection) -> None:
        """Remove a connection, unless it was evicted already."""
        with self._lock:
            self._remove(connection)

    def start_work(self, connection: OpenConnection) -> bool:
        """Protect a connection from eviction, while its client waits for a response; return False if it was evicted."""
        with self._lock:
            if connection not in self._open:
                return False
            connection.waiting_since = None
            return True

    def finish_work(self, connection: OpenConnection) -> None:
        """End the protection that ``start_work`` gave."""
        connection.waiting_since = time.monotonic()

    def __len__(self) -> int:
        return len(self._open)

    def all(self) -> list[OpenConnection]:
        with self._lock:
            return list(self._open)

    def _make_room(self, network: str) -> bool:
        """Evict the connection that has waited longest, from the network that has most of them."""
        if self._counts[network] >= self._per_network:
            candidates = [each for each in self._open if each.network == network]
        elif len(self._open) >= self._limit:
            candidates = list(self._open)
        else:
            return True
        waiting = [
            (self._counts[each.network], -each.waiting_since, each)
            for each in candidates
            if each.waiting_since is not None
        ]
        if not waiting:
            return False
        _, _, evicted = max(waiting, key=lambda entry: entry[:2])
        self._remove(evicted)
        evicted.evict()
        return True

    def _remove(self, connection: OpenConnection) -> None:
        if connection in self._open:
            self._open.remove(connection)
            self._counts[connection.network] -= 1
            if not self._counts[connection.network]:
                del self._counts[connection.network]
