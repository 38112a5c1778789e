"""Synthetic tasks: the same on any number of processes, and nothing is left of one that fails."""

import hashlib

import pytest

from corpora.errors import CorpusError
from corpora.scales import SCALES, ScaleName
from corpora.synthesis import synthesise_task, write_generated_task
from corpora.task import Task
from tests.corpora.fakes import FailingGenerator, FakeGenerator
from tests.corpora.tasks import LAYOUTS, description


def test_a_task_is_described_by_its_generator_and_noise(tmp_path):
    scale = SCALES[ScaleName.DEMO].resized(mock=2, dev=292, training=1211, out_of_domain=3)
    task = synthesise_task(tmp_path / "task", scale, seed=9, noise="granular:5")
    assert task.parts == ["out-of-domain", "mock", "dev", "training"]
    assert [task.rounds(part) for part in task.parts] == [3, 2, 292, 1211]
    assert (task.description.generator, task.description.seed) == ("synth 5/3", 9)
    assert task.description.signature.endswith("|perturb:granular:5")


def digest(path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}


def test_the_number_of_processes_does_not_change_the_task(tmp_path):
    reported: dict[int, list[int]] = {1: [], 2: []}
    for processes, progress in reported.items():
        out = tmp_path / str(processes)
        write_generated_task(
            out, description(), LAYOUTS, 2500, FakeGenerator, processes=processes, progress=progress.append
        )
    assert digest(tmp_path / "1") == digest(tmp_path / "2")
    assert sum(reported[1]) == sum(reported[2]) == 2500 + 3 + 8 + 14
    task = Task.open(tmp_path / "2")
    assert list(task.description.phases) == ["mock", "dev", "training"]
    assert next(task.pairs("training")).source == "training ware 7 x0"
    assert task.rounds("out-of-domain") == 2500


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failure_ends_all_processes_and_leaves_nothing(tmp_path, processes):
    with pytest.raises(CorpusError, match="no mock today"):
        write_generated_task(
            tmp_path / "task",
            description(),
            LAYOUTS,
            1 if processes == 1 else 10**12,
            FailingGenerator,
            processes=processes,
        )
    assert list(tmp_path.iterdir()) == []
