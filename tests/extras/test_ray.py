"""Runs on a real Ray cluster of two nodes on loopback: they equal runs in this process, also when a node is killed."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest
import yaml

os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # before Ray is imported: it shall stay on loopback
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.autoscaler._private.util import prepare_config, validate_config
from ray.cluster_utils import Cluster

from learners.seed_models.catalogue import BNMT
from simulator import cli
from simulator.cluster.place import open_place
from simulator.cluster.ray_engine import RayEngine
from simulator.competition import Competition, PlayState, RunSpec, compete, play_run
from simulator.errors import ClusterError
from task.layout import Layout
from tests.simulator.cluster.played_runs import ledger, written
from tests.simulator.small_task import LAYOUTS, make_competition

CLUSTER_FILE = Path(__file__).parents[2] / "examples" / "ray-cluster.yaml"
LAYOUT = Layout(2, 200, 1_600)  # 2,000 rounds, with a snapshot after 1,000
SPECS = [RunSpec("BNMT-EL-VALUE", seed, f"seed-{seed}") for seed in (3, 4)]
NODE = {"node_ip_address": "127.0.0.1", "num_cpus": 1, "object_store_memory": 80_000_000}
QUICK_TO_NOTICE_DEATHS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 4,
}


@pytest.fixture(scope="module")
def cluster():
    """A head node that plays nothing, and two nodes that play one run each."""
    head = {**NODE, "num_cpus": 0, "include_dashboard": False, "_system_config": QUICK_TO_NOTICE_DEATHS}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    cluster.doomed = cluster.add_node(**NODE)
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A competition in which each run was played in this process."""
    whole = make_competition(tmp_path_factory.mktemp("undisturbed"), [BNMT], layouts={**LAYOUTS, "dev": LAYOUT})
    for spec in SPECS:
        play_run(whole, spec)
    return whole


@pytest.fixture
def here(undisturbed, tmp_path):
    fresh = make_competition(tmp_path, layouts={**LAYOUTS, "dev": LAYOUT})
    return Competition(fresh.store, "dev", undisturbed.models, fresh.folder)


def test_another_version_of_ray_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(ray, "__version__", "2.0.0")
    mismatch = r"^cannot use the Ray cluster: Version mismatch: .* Ray: 2\.0\.0 [^\n]*$"
    with pytest.raises(ClusterError, match=mismatch), open_place(f"ray:{cluster.address}"):
        pass


def test_the_command_plays_on_a_cluster(cluster, here, capsys):
    places = ["--store", here.store, "--models", str(here.models), "--runs", str(here.folder)]
    assert cli.run(["compete", "copy-source", "--phase", "mock", "--on", f"ray:{cluster.address}", *places]) == 0
    assert capsys.readouterr().out.startswith("copy-source: finished, 5 rounds, mean reward ")
    assert not ray.is_initialized()


def test_runs_survive_ctrl_c_and_the_death_of_a_node_exactly(cluster, here, undisturbed, monkeypatch):
    struck, rounds = [], {}

    def strike_once(strike, after, status):
        """Strike as soon as all runs have played so many rounds."""
        rounds[status.spec] = status.rounds
        if min(rounds.get(spec, 0) for spec in SPECS) >= after and strike not in struck:
            struck.append(strike)
            strike()

    def ctrl_c():
        signal.raise_signal(signal.SIGINT)

    def kill_node():
        cluster.remove_node(cluster.doomed, allow_graceful=False)
        cluster.add_node(**NODE)

    submit, submitted = RayEngine.submit, []

    def count_and_submit(engine, *arguments):
        submitted.append(arguments)
        return submit(engine, *arguments)

    monkeypatch.setattr(RayEngine, "submit", count_and_submit)
    with open_place(f"ray:{cluster.address}") as start:
        ends = compete(here, SPECS, watch=partial(strike_once, ctrl_c, 100), start=start)
        assert [end.state for end in ends] == [PlayState.INTERRUPTED] * 2
        assert all(100 <= end.rounds < LAYOUT.total for end in ends)
        ends = compete(here, SPECS, watch=partial(strike_once, kill_node, 1_010), start=start)
    assert [(end.state, end.rounds) for end in ends] == [(PlayState.FINISHED, LAYOUT.total)] * 2
    assert (len(struck), len(submitted)) == (2, 5)  # one of four tasks was on the node that was killed
    for spec in SPECS:
        assert written(here, spec) == written(undisturbed, spec)
        assert ledger(here, spec) == ledger(undisturbed, spec)


def test_the_cluster_file_is_one_of_ray():
    validate_config(prepare_config(yaml.safe_load(CLUSTER_FILE.read_text())))
