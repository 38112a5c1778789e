"""Runs on a cluster equal runs in this process, whatever happens to their nodes."""

import socket
import time
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from lambdas.store import open_store
from learners.loop import play
from learners.run_folder import RunFolder
from learners.seed_models.catalogue import BNMT
from simulator.cluster import cluster_run, node
from simulator.cluster.cluster_run import ClusterRun
from simulator.cluster.node import play_job
from simulator.competition import Competition, PlayState, RunSpec, RunStatus, compete, play_run
from simulator.in_process import in_process_client
from tests.simulator.cluster.played_runs import ledger, written
from tests.simulator.cluster.thread_engine import NodeDeath, ThreadEngine, burn_fuses
from tests.simulator.small_task import make_competition

ROUNDS = 30
LEARNER, COPY = RunSpec("BNMT-EL-VALUE", 3), RunSpec("copy-source")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """A competition in which each run was played in this process."""
    whole = make_competition(tmp_path_factory.mktemp("undisturbed"), [BNMT])
    for spec in (LEARNER, COPY):
        play_run(whole, spec)
    return whole


@pytest.fixture
def here(undisturbed, tmp_path):
    """The same task and models, with a ledger and run folders of their own."""
    fresh = make_competition(tmp_path)
    return Competition(fresh.store, "dev", undisturbed.models, fresh.folder)


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Put the scratch folders of nodes into a folder that a test can look into."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    monkeypatch.setattr(cluster_run, "POLL_SECONDS", 0.02)
    return tmp_path / "scratch"


def on(engine):
    return partial(ClusterRun, engine)


def equal(one, other, spec):
    return written(one, spec) == written(other, spec) and ledger(one, spec) == ledger(other, spec)


def test_runs_on_a_cluster_equal_those_in_this_process(here, undisturbed, scratch):
    seen: list[RunStatus] = []
    ends = compete(here, [LEARNER, RunSpec("WNMT-EL"), COPY], processes=3, watch=seen.append, start=on(ThreadEngine()))
    assert [(end.state, end.rounds) for end in ends] == [
        (PlayState.FINISHED, ROUNDS),
        (PlayState.FAILED, 0),
        (PlayState.FINISHED, ROUNDS),
    ]
    assert ends[1].message.startswith(f"there is no seed model wnmt in {here.models}: ")
    assert equal(here, undisturbed, LEARNER)
    assert equal(here, undisturbed, COPY)
    reports = [(status.state, status.rounds) for status in seen if status.spec == LEARNER]
    assert (reports[0], reports[-1]) == ((PlayState.PLAYING, 0), (PlayState.FINISHED, ROUNDS))
    assert list(scratch.iterdir()) == []


def test_a_finished_run_is_not_played_again(here, undisturbed):
    for _ in range(2):
        (end,) = compete(here, [COPY], start=on(ThreadEngine()))
        assert (end.state, end.rounds) == (PlayState.FINISHED, ROUNDS)
    assert equal(here, undisturbed, COPY)


@pytest.mark.parametrize("fuses", [(1,), (7, 1, 12), (ROUNDS,)])
def test_a_run_whose_nodes_die_ends_as_an_undisturbed_one(here, undisturbed, monkeypatch, fuses):
    """A node dies between the answer of the service and the next call, so that the last line never comes home."""
    burn_fuses(monkeypatch)
    monkeypatch.setattr("simulator.competition.play", partial(play, snapshot_every=4))
    engine = ThreadEngine(*fuses)
    (end,) = compete(here, [LEARNER], start=on(engine))
    assert (end.state, end.rounds, len(engine.tasks)) == (PlayState.FINISHED, ROUNDS, len(fuses) + 1)
    assert equal(here, undisturbed, LEARNER)


def test_a_run_begun_here_is_resumed_on_a_cluster_and_the_other_way_round(here, undisturbed, monkeypatch):
    def stop(status):
        if status.rounds >= 7:
            raise KeyboardInterrupt

    burn_fuses(monkeypatch)
    monkeypatch.setattr(cluster_run, "MAX_FRUITLESS_ATTEMPTS", 1)
    monkeypatch.setattr("simulator.competition.REPORT_SECONDS", 0)
    play_run(here, LEARNER, watch=stop)
    assert compete(here, [LEARNER], start=on(ThreadEngine(9, 1)))[0].state is PlayState.FAILED
    assert 7 < len(ledger(here, LEARNER)) < ROUNDS
    assert play_run(here, LEARNER).state is PlayState.FINISHED
    assert equal(here, undisturbed, LEARNER)


def die(*_):
    raise NodeDeath


def test_a_run_that_gets_nowhere_fails_after_three_nodes(here):
    engine = ThreadEngine(function=die)
    (end,) = compete(here, [COPY], start=on(engine))
    assert end == RunStatus(COPY, PlayState.FAILED, message="its node died, 3 times without a new round")
    assert len(engine.tasks) == 3


def test_a_task_that_raises_is_not_started_again(here):
    engine = ThreadEngine(function=lambda *_: 1 / 0)
    (end,) = compete(here, [COPY], start=on(engine))
    assert end == RunStatus(COPY, PlayState.FAILED, message="a node cannot play it: division by zero")
    assert len(engine.tasks) == 1


def test_a_folder_that_another_process_plays_in_is_refused(here):
    with RunFolder(here.run_folder(COPY)).locked():
        (end,) = compete(here, [COPY], start=on(ThreadEngine()))
    assert end.message.startswith(f"another process is playing in {here.run_folder(COPY)}: ")


def test_errors_on_a_node_name_the_folders_at_home(here):
    play_run(here, COPY)
    (end,) = compete(here, [replace(LEARNER, name="copy-source")], start=on(ThreadEngine()))
    assert end.message.startswith(
        f"{here.run_folder(COPY)}/run was begun with system 'copy-source', not 'BNMT-EL-VALUE'"
    )
    missing = Competition(here.store, "none", here.models, here.folder)
    (end,) = compete(missing, [COPY], start=on(ThreadEngine()))
    assert (end.state, end.message) == (PlayState.FAILED, "this task has no phase of that name")


class OtherService:
    """A service that is not on the store of the competition."""

    def __init__(self, store):
        self.store, self.clients = store, 0

    def client(self):
        self.clients += 1
        return in_process_client(self.store, "acme")


def test_calls_to_another_service_are_made_at_home(here, undisturbed):
    with closing(open_store(here.store)) as store:
        service = OtherService(store)
        away = Competition("sqlite:none", "dev", here.models, here.folder, address=service)
        (end,) = compete(away, [COPY], start=on(ThreadEngine()))
        assert (end.state, end.rounds, service.clients) == (PlayState.FINISHED, ROUNDS, 1)
    assert equal(here, undisturbed, COPY)


def test_a_node_of_other_versions_is_refused(here, monkeypatch):
    monkeypatch.setattr(node, "installed_versions", lambda: {"banditmt": "0.0.9"})
    monkeypatch.setattr(cluster_run, "installed_versions", lambda: {"banditmt": "0.1.0", "torch": "2.0"})
    (end,) = compete(here, [COPY], start=on(ThreadEngine()))
    assert end.message.endswith(" has banditmt 0.0.9, and this machine 0.1.0: install the same versions on all nodes")
    assert ledger_is_empty(here)


def ledger_is_empty(competition):
    with pytest.raises(ValueError, match="not enough values"):
        ledger(competition, COPY)
    return True


def interrupt_node():
    raise KeyboardInterrupt


def test_a_run_that_is_stopped_ends_after_its_call_and_is_resumed_exactly(here, undisturbed, monkeypatch):
    monkeypatch.setattr("_thread.interrupt_main", interrupt_node)
    monkeypatch.setattr("simulator.competition.REPORT_SECONDS", 0)
    run = ClusterRun(ThreadEngine(), here, LEARNER)
    while (status := run.next_report()).state is PlayState.PLAYING:
        if status.rounds == 7:
            run.stop()
    run.close()
    assert (status.state, status.message) == (PlayState.INTERRUPTED, "the same command resumes it")
    assert 7 <= len(ledger(here, LEARNER)) < ROUNDS
    assert compete(here, [LEARNER], start=on(ThreadEngine()))[0].state is PlayState.FINISHED
    assert equal(here, undisturbed, LEARNER)


def test_a_run_that_no_node_has_begun_is_stopped_at_once(here):
    run = ClusterRun(ThreadEngine(function=lambda *_: time.sleep(60)), here, COPY)
    run.stop()
    assert run.next_report() == RunStatus(COPY, PlayState.INTERRUPTED, message="the same command resumes it")
    run.close()


def begin_and_hang(job, *_):
    with job.connection() as connection:
        connection.recv()
        time.sleep(60)


def test_a_run_that_is_stopped_twice_ends_though_its_node_does_not(here):
    run = ClusterRun(ThreadEngine(function=begin_and_hang), here, COPY)
    time.sleep(0.3)
    for _ in range(2):
        run.stop()
    assert run.next_report() == RunStatus(COPY, PlayState.INTERRUPTED, message="the same command resumes it")
    run.close()


def play_among_strangers(job, *models):
    for token in (b"", b"wrong", bytes(32), bytes(10_000)):
        with socket.create_connection((job.host, job.port)) as stranger:
            stranger.sendall(len(token).to_bytes(4, "big") + token)
    play_job(job, *models)


def test_strangers_do_not_play(here, undisturbed):
    (end,) = compete(here, [COPY], start=on(ThreadEngine(function=play_among_strangers)))
    assert end.state is PlayState.FINISHED
    assert equal(here, undisturbed, COPY)


def test_a_node_that_cannot_reach_the_command_says_so(here):
    def play_elsewhere(job, *models):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        play_job(replace(job, port=port), *models)

    (end,) = compete(here, [COPY], start=on(ThreadEngine(function=play_elsewhere)))
    assert "where the command runs" in end.message
    assert end.message.endswith(": open all ports between the nodes")
