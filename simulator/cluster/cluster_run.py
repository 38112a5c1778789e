"""A run on a cluster, as the command at home follows it: a thread serves its node, and replaces a node that dies."""

import secrets
import socket
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from threading import Thread

from banditmt_client import BanditError, Client
from learners.run_folder import RunFolder
from learners.seed_models.store import ModelStore
from simulator.cluster.engine import Engine, Task, TaskLostError
from simulator.cluster.folder_changes import ChangeReader, FolderChanges
from simulator.cluster.messages import TOKEN_BYTES, Answer, Call, End, Hello, as_connection, installed_versions
from simulator.cluster.node import Job, play_job
from simulator.competition import Competition, LastStatus, RunSpec, RunStatus, open_client
from simulator.errors import ClusterError

POLL_SECONDS = 0.5  # between two looks at whether the task is still there
HELLO_SECONDS = 10.0  # for a node to say who it is, once it has connected
END_SECONDS = 60.0  # for a cluster to notice that a node is dead, and for a task to end after its last message
MAX_FRUITLESS_ATTEMPTS = 3  # in a row, at a run whose process dies without a new round
PROTOCOL_CALLS = frozenset({"open_run", "run", "sentence", "translate", "phases", "task", "leaderboard"})


class ClusterRun:
    """A run that an engine plays on one of its nodes; see ``simulator.competition.PlayedRun``."""

    def __init__(self, engine: Engine, competition: Competition, spec: RunSpec) -> None:
        self.reports, self._writer = Pipe(duplex=False)
        self._engine, self._competition, self._spec = engine, competition, spec
        self._folder = RunFolder(competition.run_folder(spec))
        self._last = LastStatus(competition, spec)
        self._stops = 0  # how often the run was asked to end
        self._committed = 0  # rounds since this command began
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def next_report(self) -> RunStatus:
        status = self.reports.recv()
        assert isinstance(status, RunStatus), "nothing else is reported"
        return status

    def stop(self) -> None:
        self._stops += 1  # and nothing more, because a signal handler calls this

    def close(self) -> None:
        self._thread.join()
        self.reports.close()
        self._writer.close()

    def _follow(self) -> None:
        self._writer.send(self._last.end_of(self._play))

    def _play(self) -> RunStatus:
        """Play the run, on another node if one dies, and return the status in which it ended."""
        with (
            self._folder.locked(),
            open_client(self._competition, self._spec) as client,
            socket.create_server((self._engine.host, 0)) as server,
        ):
            server.settimeout(POLL_SECONDS)
            fruitless = 0
            while True:
                committed = self._committed
                try:
                    return self._play_on_a_node(client, server)
                except TaskLostError as lost:
                    fruitless = 0 if self._committed > committed else fruitless + 1
                    if self._stops:
                        raise KeyboardInterrupt from None
                    if fruitless == MAX_FRUITLESS_ATTEMPTS:
                        raise ClusterError(f"{lost}, {fruitless} times without a new round") from None

    def _play_on_a_node(self, client: Client, server: socket.socket) -> RunStatus:
        """Play the run on any node until it ends. Raises TaskLostError if the node dies before that."""
        host, port = server.getsockname()[:2]
        models = ModelStore(self._competition.models)
        paths = [models.existing_path(model) for model in self._spec.find_system().seed_models]
        names = tuple(path.name for path in paths)
        away = replace(self._competition, store="", address=None)  # secrets stay at home
        job = Job(host, port, secrets.token_bytes(TOKEN_BYTES), away, self._spec, names)
        task = self._engine.submit(play_job, job, *map(self._engine.share, paths))
        try:
            with self._accept(server, job.token, task) as connection:
                end = self._serve(connection, client, task)
            task.wait(END_SECONDS)  # it removes its scratch folder
            return end
        finally:
            task.kill()

    def _accept(self, server: socket.socket, token: bytes, task: Task) -> Connection:
        """Return the connection to the node, which has the same versions as this machine."""
        while True:
            with suppress(TimeoutError, EOFError, OSError):  # not the node, but a stranger
                connection = as_connection(server.accept()[0])
                if connection.poll(HELLO_SECONDS) and secrets.compare_digest(connection.recv_bytes(TOKEN_BYTES), token):
                    _check_versions(connection.recv())
                    return connection
                connection.close()
            if self._stops:
                raise KeyboardInterrupt
            if task.wait(0):
                raise self._end_without_report(task)

    def _serve(self, connection: Connection, client: Client, task: Task) -> RunStatus:
        """Send the files of the run, answer the calls of its node, and return how it ended there."""
        answer: FolderChanges | Answer = self._files()
        while True:
            try:
                connection.send(answer)
                message = self._receive(connection, task)
            except (EOFError, OSError):
                raise self._end_without_report(task) from None
            message.changes.apply(self._folder.path)
            if isinstance(message, End):
                return message.status
            answer = self._answer(message, client)

    def _files(self) -> FolderChanges:
        """Return all files of the run, without a line that a killed process has not finished."""
        self._folder.journal.drop_partial_line()
        return ChangeReader(self._folder.path).read()

    def _receive(self, connection: Connection, task: Task) -> Call | End:
        while not connection.poll(POLL_SECONDS):
            if self._stops > 1:
                raise KeyboardInterrupt
            if task.wait(0) and not connection.poll():
                raise EOFError
        message = connection.recv()
        assert isinstance(message, Call | End), "a node sends nothing else"
        return message

    def _answer(self, call: Call, client: Client) -> Answer:
        if call.status:
            self._last.record(call.status)
            self._writer.send(call.status)
        assert call.name in PROTOCOL_CALLS, "a node makes no other calls"
        try:
            value = getattr(client.connection, call.name)(*call.arguments, **call.options)
        except BanditError as error:
            return Answer(error=error, stop=self._stops > 0)
        if call.name == "translate":
            self._committed += 1
        return Answer(value, stop=self._stops > 0)

    def _end_without_report(self, task: Task) -> ClusterError:
        """Return why a task has ended without a last message, or why its connection broke."""
        deadline = time.monotonic() + END_SECONDS
        while not task.wait(POLL_SECONDS) and time.monotonic() < deadline and self._stops < 2:
            pass
        try:
            task.check()
        except ClusterError as reason:
            return reason
        return TaskLostError("the connection to its node broke")


def _check_versions(node: Hello) -> None:
    """Raise ClusterError unless a node has the versions of this machine: it would not compute the same."""
    here = installed_versions()
    for package in dict.fromkeys([*here, *node.versions]):
        there = node.versions.get(package, "none")
        if there != here.get(package, "none"):
            raise ClusterError(
                f"the node {node.host} has {package} {there}, and this machine {here.get(package, 'none')}: "
                "install the same versions on all nodes"
            )
