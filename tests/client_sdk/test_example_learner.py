"""The skeleton for learners in ``examples/``: which checkpoints it accepts, and how it saves them."""

import importlib.util
import json
from pathlib import Path

import pytest

from banditmt_client import Client
from tests.client_sdk.fake_service import KEY, RUN, serving

EXAMPLE = Path(__file__).parents[2] / "client_sdk" / "examples" / "learner.py"


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("example_learner", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("phase", "system"), [("training", "tested"), ("dev", "another")])
def test_a_checkpoint_of_another_run_is_refused(phase, system, example, tmp_path):
    checkpoint = tmp_path / "learner.json"
    with serving(["eins", "zwei"]) as server, Client(KEY, server.url) as client:
        example.play(client, "dev", "tested", checkpoint)
        before = checkpoint.read_text()
        with pytest.raises(SystemExit) as stopped:
            example.play(client, phase, system, checkpoint)
        assert stopped.value.code == (
            f"the checkpoint belongs to 'tested' in dev, not {system!r} in {phase}: choose another checkpoint file"
        )
        assert checkpoint.read_text() == before
        assert example.play(client, "dev", "tested", checkpoint).progress.finished


def test_a_checkpoint_is_written_atomically_whatever_its_name(example, tmp_path, monkeypatch):
    checkpoint = tmp_path / "learner.new"
    checkpoint.write_text("the old checkpoint")

    def power_cut(*_):
        raise OSError("no power")

    monkeypatch.setattr(Path, "replace", power_cut)
    with pytest.raises(OSError, match="no power"):
        example.Learner({"run": RUN, "rounds": 1, "worth": {}, "mean": 0.5}).save(checkpoint)
    assert checkpoint.read_text() == "the old checkpoint"
    monkeypatch.undo()
    example.Learner({"run": RUN}).save(checkpoint)
    assert json.loads(checkpoint.read_text()) == {"run": RUN}


def test_a_round_that_a_killed_process_sent_is_learned_from_when_it_arrives_late(example, tmp_path, monkeypatch):
    find_run = example.find_run

    def find_overtaken_run(client, learner, phase, system):
        run = find_run(client, learner, phase, system)
        earlier = client.get_run(run.id)
        earlier.submit(learner.propose(next(iter(earlier)).source))
        return run

    monkeypatch.setattr(example, "find_run", find_overtaken_run)
    checkpoint = tmp_path / "learner.json"
    with serving(["eins", "zwei", "drei"]) as server, Client(KEY, server.url) as client:
        assert example.play(client, "dev", "tested", checkpoint).progress.finished
    assert json.loads(checkpoint.read_text())["rounds"] == 3
