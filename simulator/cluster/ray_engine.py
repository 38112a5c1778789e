"""Ray as the engine of a cluster: connecting to it, and tasks on its nodes. Only this module imports Ray.

This process runs on a machine of the cluster, usually the head node, because nodes connect to it.
"""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from simulator.cluster.engine import TaskFailedError, TaskLostError
from simulator.competition import THREAD_COUNT_VARIABLES
from simulator.errors import ClusterError

ANY_CLUSTER_HERE = "auto"
CONNECT_SECONDS = 5.0
LOOPBACK = ("127.0.0.1", "localhost")
# Ray replaces a loopback address by the machine's own, unless it believes that there can be no other machines.
LOOPBACK_ONLY = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
NO_USAGE_STATISTICS = {"RAY_USAGE_STATS_ENABLED": "0"}  # else Ray would report to its developers


@contextmanager
def connect(address: str | None = None) -> Iterator["RayEngine"]:
    """Connect to a Ray cluster, and disconnect at the end.

    Args:
        address: ``HOST:PORT`` of the head node, or ``auto`` for the cluster that this machine belongs to. None for what
            ``RAY_ADDRESS`` says, or else a cluster of this machine alone, which ends with the connection.

    Raises:
        ClusterError: The cluster cannot be reached, or it has other versions.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    _check_address(address)
    os.environ.update(NO_USAGE_STATISTICS)
    if address is None or address.rpartition(":")[0] in LOOPBACK:
        os.environ.update(LOOPBACK_ONLY)  # Ray reads it when it is imported
    import ray

    terminate = signal.getsignal(signal.SIGTERM)
    try:
        _init(ray, address)
        signal.signal(signal.SIGTERM, terminate)  # Ray has replaced it
        yield RayEngine(ray)
    finally:
        ray.shutdown()


def _check_address(address: str | None) -> None:
    """Raise ClusterError if nothing listens at an address. Ray itself would try for minutes."""
    if address in (None, ANY_CLUSTER_HERE):
        return
    host, _, port = str(address).rpartition(":")
    try:
        if not (host and port.isdecimal()) or "/" in host:
            raise OSError("it is not HOST:PORT")
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as failure:
        raise ClusterError(
            f"there is no Ray cluster at {address} ({failure}): on a machine of the cluster, give HOST:PORT of its "
            f"head node as `ray start` prints it, or {ANY_CLUSTER_HERE}"
        ) from None


def _init(ray: Any, address: str | None) -> None:
    threads = dict.fromkeys(THREAD_COUNT_VARIABLES, "1")  # as in the processes of one machine
    options = {"log_to_driver": False, "logging_level": "ERROR", "runtime_env": {"env_vars": threads}}
    try:
        if address:
            ray.init(address, **options)
        else:
            ray.init("local", include_dashboard=False, **options)
    except (RuntimeError, ValueError, OSError) as failure:  # other versions, no cluster, a cluster of other machines
        raise ClusterError(f"cannot use the Ray cluster: {' '.join(str(failure).split())}") from None


class RayEngine:
    """A Ray cluster that this process is connected to; see ``simulator.cluster.engine.Engine``."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._shared: dict[Path, Any] = {}
        self._sharing = Lock()

    @property
    def host(self) -> str:
        here = self._ray.get_runtime_context().get_node_id()
        return next(str(node["NodeManagerAddress"]) for node in self._ray.nodes() if node["NodeID"] == here)

    def share(self, path: Path) -> Any:
        with self._sharing:
            if path not in self._shared:
                self._shared[path] = self._ray.put(path.read_bytes())
            return self._shared[path]

    def submit(self, function: Callable[..., None], *arguments: Any) -> "RayTask":
        # A process for each task, as on one machine: a run finds nothing that another one left behind.
        remote = self._ray.remote(num_cpus=1, max_retries=0, max_calls=1)(function)
        return RayTask(self._ray, remote.remote(*arguments))


class RayTask:
    """A task of Ray; see ``simulator.cluster.engine.Task``."""

    def __init__(self, ray: Any, reference: Any) -> None:
        self._ray, self._reference = ray, reference

    def wait(self, seconds: float) -> bool:
        ended, _ = self._ray.wait([self._reference], timeout=seconds)
        return bool(ended)

    def check(self) -> None:
        failures = self._ray.exceptions
        try:
            self._ray.get(self._reference, timeout=0)
        except failures.GetTimeoutError:
            return
        except failures.RayTaskError as raised:
            raise TaskFailedError(f"a node cannot play it: {_last_line(raised)}") from None
        except failures.RayError as lost:
            raise TaskLostError(f"its node or its process died ({type(lost).__name__})") from None

    def kill(self) -> None:
        self._ray.cancel(self._reference, force=True, recursive=False)


def _last_line(raised: Exception) -> str:
    """Return the last line of an error of Ray, which follows a traceback."""
    return str(raised).strip().rpartition("\n")[2]
