"""The side of a node: it plays one run in a scratch folder, and calls the service through the command at home."""

import _thread
import platform
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from banditmt_client import Client
from banditmt_client.connection import Connection as ServiceConnection
from banditmt_client.connection import JsonObject
from simulator.cluster.folder_changes import ChangeReader
from simulator.cluster.messages import Answer, Call, End, Hello, as_connection, installed_versions
from simulator.competition import Competition, LastStatus, RunSpec, RunStatus, play_run
from simulator.errors import ClusterError

CONNECT_SECONDS = 30.0


@dataclass(frozen=True)
class Job:
    """A run to be played on a node, and where its home is."""

    host: str
    port: int
    token: bytes = field(repr=False)  # is accepted once
    competition: Competition = field(repr=False)  # with the folders at home
    spec: RunSpec
    models: tuple[str, ...]  # the names of the files of its seed models

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Connect to the command at home, and say who calls."""
        try:
            opened = socket.create_connection((self.host, self.port), timeout=CONNECT_SECONDS)
        except OSError as failure:
            raise ClusterError(
                f"{platform.node()} cannot connect to {self.host}:{self.port}, where the command runs ({failure}): "
                "open all ports between the nodes"
            ) from None
        with as_connection(opened) as connection:
            connection.send_bytes(self.token)
            connection.send(Hello(platform.node(), installed_versions()))
            yield connection


def play_job(job: Job, *models: bytes) -> None:
    """Play or resume one run in the main thread of this process, and tell the command at home how it ended."""
    with TemporaryDirectory(prefix="banditmt-") as scratch, job.connection() as connection:
        here = replace(job.competition, models=Path(scratch, "models"), folder=Path(scratch, "runs"))
        here.models.mkdir()
        for name, content in zip(job.models, models, strict=True):
            (here.models / name).write_bytes(content)
        home = Home(connection, here.run_folder(job.spec))
        last = LastStatus(here, job.spec)

        def watch(status: RunStatus) -> None:
            last.record(status)
            home.status = status

        end = last.end_of(lambda: play_run(replace(here, address=home), job.spec, watch=watch))
        message = end.message.replace(str(here.folder), str(job.competition.folder))
        with suppress(OSError):  # the command at home has ended, or has given this node up
            home.finish(replace(end, message=message.replace(str(here.models), str(job.competition.models))))


class Home:
    """The service, and the folder of the run, as a node reaches them."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self.status: RunStatus | None = None  # is taken home by the next call
        self._connection, self._is_stopped = connection, False
        folder.mkdir(parents=True)
        connection.recv().apply(folder)
        self._changes = ChangeReader(folder)
        self._changes.read()  # they come from home

    def client(self) -> Client:
        """Return a client whose calls are made at home."""
        return Client(connection=cast(ServiceConnection, self))

    def __getattr__(self, name: str) -> Any:
        """Return a call of the protocol."""
        return partial(self._call, name)

    def close(self) -> None:
        """Do nothing: the run ends with ``finish``."""

    def finish(self, end: RunStatus) -> None:
        """Take home how the run ended."""
        self._connection.send(End(end, self._changes.read()))

    def _call(self, name: str, *arguments: Any, **options: Any) -> JsonObject:
        status, self.status = self.status, None
        try:
            self._connection.send(Call(name, arguments, options, self._changes.read(), status))
            answer: Answer = self._connection.recv()
        except EOFError:
            raise ConnectionError("the command that started this run has ended, or has given this node up") from None
        if answer.stop and not self._is_stopped:
            self._is_stopped = True
            _thread.interrupt_main()  # as Ctrl-C does, even where the signal is blocked
        if answer.error:
            raise answer.error
        return answer.value
