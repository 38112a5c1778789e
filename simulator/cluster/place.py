"""Where runs are played, as the option ``--on`` says: in processes of this machine, or on a Ray cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec

from simulator.cluster.cluster_run import ClusterRun
from simulator.cluster.ray_engine import connect
from simulator.competition import StartRun
from simulator.errors import PlaceError

RAY = "ray"


def check_place(on: str | None, *, tracker: str | None = None) -> None:
    """Raise PlaceError if runs cannot be played there, as far as that is known without connecting."""
    if on is None:
        return
    engine, colon, address = on.partition(":")
    if engine != RAY or (colon and not address):
        raise PlaceError(f"--on is {RAY} or {RAY}:ADDRESS, but got {on!r}")
    if tracker:
        raise PlaceError("--track follows runs on this machine, and not on a cluster: leave it or --on out")
    if find_spec(RAY) is None:
        raise PlaceError("this needs ray: pip install 'banditmt[ray]'")


@contextmanager
def open_place(on: str | None) -> Iterator[StartRun | None]:
    """Yield what starts runs there; None for processes of this machine.

    Raises:
        PlaceError: It is no such place.
        ClusterError: The cluster cannot be used.
    """
    check_place(on)
    if on is None:
        yield None
        return
    with connect(on.partition(":")[2] or None) as engine:
        yield partial(ClusterRun, engine)
