"""The trackers themselves: what they log can be read with their own tools, and a run that is resumed stays one run."""

import json
import struct

import mlflow
import pytest
import wandb
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from wandb.proto import wandb_internal_pb2

from learners.journal import JournalEntry
from simulator.tracking import TRACKERS, RunTracking, open_tracker

RUN = "a" * 26
CONFIG: dict[str, str | int] = {"system": "BNMT-EL", "seed": 1, "setting batch": "16"}


def track(name, folder, rounds):
    """Track these rounds in a process of their own, as it were."""
    tracking = RunTracking(open_tracker(name, folder, RUN), 4, measure=lambda: {"gradient_norm": 2.0})
    tracking.init("BNMT-EL+batch-16", CONFIG)
    for index in rounds:
        tracking.observe(
            JournalEntry(index, "x y", "a b", index / 4, log_probability=-1.0), cumulative_reward=index / 2
        )
    tracking.finish()


@pytest.fixture
def complaints(monkeypatch):
    """Fail a test whose tracker failed: a run would go on without it."""

    def complain(message):
        raise AssertionError(message)

    monkeypatch.setattr("builtins.print", complain)


def test_tensorboard(tmp_path, complaints):
    for rounds in ([0, 1], [2, 3]):
        track("tensorboard", tmp_path, rounds)
    events = EventAccumulator(str(tmp_path / "tensorboard"), size_guidance={"tensors": 0})
    events.Reload()
    assert set(events.Tags()["tensors"]) == {
        "reward",
        "length_ratio",
        "entropy_per_word",
        "running_mean_reward",
        "gradient_norm",
    }
    logged = [(one.step, one.tensor_proto.float_val[0]) for one in events.Tensors("reward")]
    assert logged == [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75)]


def test_mlflow(tmp_path, monkeypatch, complaints):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "server").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # newer versions want a database, which the extra lacks
    for rounds in ([0, 1], [2, 3]):
        track("mlflow", tmp_path, rounds)
    client = mlflow.MlflowClient()
    (run,) = client.search_runs([client.get_experiment_by_name("banditmt").experiment_id])
    assert run.data.params == {"system": "BNMT-EL", "seed": "1", "setting batch": "16"}
    history = client.get_metric_history(run.info.run_id, "running_mean_reward")
    assert [(one.step, one.value) for one in history] == [(1, 0.0), (2, 0.25), (3, pytest.approx(1 / 3)), (4, 0.375)]
    assert run.info.run_name == "BNMT-EL+batch-16"


def test_wandb_offline(tmp_path, monkeypatch, complaints):
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    track("wandb", tmp_path, [0, 1, 2, 3])
    wandb.teardown()  # waits for wandb's own process, which writes the file
    (path,) = (tmp_path / "wandb").glob(f"offline-run-*-{RUN}/run-{RUN}.wandb")
    rows, config = [], {}
    for record in records(path):
        if record.HasField("run"):
            config.update({item.key: json.loads(item.value_json) for item in record.run.config.update})
        if record.HasField("history"):
            rows.append({item.key or item.nested_key[0]: json.loads(item.value_json) for item in record.history.item})
    assert {name: config[name] for name in CONFIG} == CONFIG
    assert [(row["_step"], row["reward"], row["gradient_norm"]) for row in rows] == [
        (1, 0.0, 2.0),
        (2, 0.25, 2.0),
        (3, 0.5, 2.0),
        (4, 0.75, 2.0),
    ]


def records(path):
    """Return the records of a file that ``wandb sync`` would send, a log as LevelDB writes it."""
    log, place, data, found = path.read_bytes(), 7, b"", []
    while place + 7 <= len(log):
        if 0x8000 - place % 0x8000 < 7:  # the rest of a block is too short for a header
            place += 0x8000 - place % 0x8000
        _checksum, length, kind = struct.unpack_from("<IHB", log, place)
        data += log[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # a whole record, or the last part of one
            found.append(wandb_internal_pb2.Record.FromString(data))
            data = b""
    return found


def test_every_tracker_is_tested_here():
    assert list(TRACKERS) == ["tensorboard", "mlflow", "wandb"]
