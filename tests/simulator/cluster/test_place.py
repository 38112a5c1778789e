"""``--on``: what it accepts, and what it says about the rest before anything is begun."""

import importlib.util
import socket
import sys

import pytest

from simulator import cli
from simulator.cluster.place import check_place, open_place
from simulator.cluster.ray_engine import connect
from simulator.errors import ClusterError


@pytest.fixture
def without_ray(monkeypatch):
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("simulator.cluster.place.find_spec", lambda name: None if name == "ray" else find_spec(name))


@pytest.fixture
def with_ray(monkeypatch):
    monkeypatch.setattr("simulator.cluster.place.find_spec", lambda name: name)


def compete(tmp_path, *options):
    places = ["--store", f"sqlite:{tmp_path / 'store'}", "--runs", str(tmp_path / "runs")]
    return cli.run(["compete", "copy-source", "--phase", "mock", *places, *options])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--on", "ray"], "this needs ray: pip install 'banditmt[ray]'"),
        (["--on", "ray:10.0.0.1:6379"], "this needs ray: pip install 'banditmt[ray]'"),
        (["--on", "spark"], "--on is ray or ray:ADDRESS, but got 'spark'"),
        (["--on", "ray:"], "--on is ray or ray:ADDRESS, but got 'ray:'"),
        (
            ["--on", "ray", "--track", "tensorboard"],
            "--track follows runs on this machine, and not on a cluster: leave it or --on out",
        ),
    ],
)
def test_places_that_cannot_be_used_are_refused_before_anything_is_begun(
    options, complaint, without_ray, tmp_path, capsys
):
    assert compete(tmp_path, *options) == 2
    assert capsys.readouterr().err == f"banditmt: {complaint}\n"
    assert list(tmp_path.iterdir()) == []


def test_processes_of_this_machine_are_the_default():
    check_place(None, tracker="wandb")
    with open_place(None) as start:
        assert start is None


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("ray://127.0.0.1:10001", "it is not HOST:PORT"),
        ("nowhere", "it is not HOST:PORT"),
        ("127.0.0.1:port", "it is not HOST:PORT"),
        ("CLOSED", "Connection refused"),
    ],
)
def test_an_address_without_a_cluster_is_refused_at_once(address, reason, with_ray):
    with socket.create_server(("127.0.0.1", 0)) as free:
        closed = f"127.0.0.1:{free.getsockname()[1]}"
    address = closed if address == "CLOSED" else address
    with pytest.raises(ClusterError, match="there is no Ray cluster at") as refused, open_place(f"ray:{address}"):
        pass
    assert reason in str(refused.value)
    assert str(refused.value).endswith("give HOST:PORT of its head node as `ray start` prints it, or auto")


class FakeRay:
    """The calls of Ray that connecting makes."""

    def __init__(self, failure=None):
        self.calls, self._failure = [], failure

    def init(self, address, **options):
        self.calls.append((address, options.get("include_dashboard"), options["log_to_driver"]))
        if self._failure:
            raise self._failure

    def shutdown(self):
        self.calls.append("shutdown")


def test_without_an_address_ray_is_started_for_the_command(monkeypatch):
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with connect():
        pass
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    with connect():
        pass
    assert ray.calls == [("local", False, False), "shutdown", ("auto", None, False), "shutdown"]


def test_a_cluster_that_refuses_is_reported_in_one_line(monkeypatch):
    ray = FakeRay(RuntimeError("Version mismatch: The cluster was started with:\n    Ray: 2.60.0\n"))
    monkeypatch.setitem(sys.modules, "ray", ray)
    with pytest.raises(ClusterError) as refused, connect("auto"):
        pass
    assert str(refused.value) == (
        "cannot use the Ray cluster: Version mismatch: The cluster was started with: Ray: 2.60.0"
    )
    assert ray.calls[-1] == "shutdown"
