"""What a cluster has to do to play runs: start tasks on its nodes, and say how they end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from simulator.errors import ClusterError


class TaskLostError(ClusterError):
    """The process or the node of a task died, which is no fault of the task: it can be started again."""


class TaskFailedError(ClusterError):
    """A task raised an exception, and would raise it again."""


class Task(Protocol):
    """A function that is called on a node."""

    def wait(self, seconds: float) -> bool:
        """Wait for at most some seconds, and return whether the task has ended."""

    def check(self) -> None:
        """Raise TaskLostError or TaskFailedError if the task has ended, unless its function returned."""

    def kill(self) -> None:
        """End the task at once, or prevent it from starting; do nothing if it has ended."""


class Engine(Protocol):
    """A cluster that this process is connected to."""

    @property
    def host(self) -> str:
        """The address of this machine that nodes can connect to."""

    def share(self, path: Path) -> Any:
        """Make the content of a file available on all nodes; a task that it is an argument of receives the bytes."""

    def submit(self, function: Callable[..., None], *arguments: Any) -> Task:
        """Call a function of this package on any node that has a free core, in a process of its own."""
