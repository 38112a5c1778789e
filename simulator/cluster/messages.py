"""What a node and the command that started its run say to each other.

The node sends its token, then ``Hello``, and receives the files of the run. Then it sends a ``Call`` and receives an
``Answer``, again and again, and finally sends ``End``.
"""

import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from typing import Any

from banditmt_client import BanditError
from banditmt_client.connection import JsonObject
from simulator.cluster.folder_changes import FolderChanges
from simulator.competition import RunStatus

TOKEN_BYTES = 32
# What computes: a run that other versions resume would not be the same run.
COMPARED_PACKAGES = ("banditmt", "banditmt-client", "numpy", "numba", "sentencepiece", "torch")


@dataclass(frozen=True)
class Hello:
    """The first message: which machine plays, and with which versions."""

    host: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Call:
    """A call of the protocol, with all that happened before it."""

    name: str  # of a method of ``banditmt_client.connection.Connection``
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]
    changes: FolderChanges
    status: RunStatus | None  # the last one, if it is new


@dataclass(frozen=True)
class Answer:
    """The answer to a call, or why it was refused."""

    value: JsonObject = field(default_factory=dict)
    error: BanditError | None = None
    stop: bool = False  # whether the run shall end after this round


@dataclass(frozen=True)
class End:
    """The last message: how the run ended on the node."""

    status: RunStatus
    changes: FolderChanges


def installed_versions() -> dict[str, str]:
    """Return the versions of what computes here."""
    versions = {}
    for package in COMPARED_PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def as_connection(opened: socket.socket) -> Connection:
    """Return a connection for whole messages over a socket, which it takes over."""
    opened.settimeout(None)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # every message is waited for
    return Connection(opened.detach())
