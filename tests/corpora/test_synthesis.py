"""Synthetic tasks: the same on any number of processes, and nothing left when one fails."""

import hashlib

import pytest

from corpora.errors import CorpusError
from corpora.synthesis import synthesise
from corpora.task import Task
from tests.corpora.fakes import FailingGenerator, FakeGenerator
from tests.corpora.tasks import LAYOUTS, description


def digest(path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}


def test_the_number_of_processes_does_not_matter(tmp_path):
    reported: dict[int, list[int]] = {1: [], 2: []}
    for processes, progress in reported.items():
        out = tmp_path / str(processes)
        synthesise(out, description(), LAYOUTS, 2500, FakeGenerator, processes=processes, progress=progress.append)
    assert digest(tmp_path / "1") == digest(tmp_path / "2")
    assert sum(reported[1]) == sum(reported[2]) == 2500 + 3 + 8 + 14
    task = Task.open(tmp_path / "2")
    assert list(task.description.phases) == ["mock", "dev", "training"]
    assert next(task.pairs("training")).source == "training ware 7 x0"
    assert task.rounds("out-of-domain") == 2500


@pytest.mark.parametrize("processes", [1, 2])
def test_a_failure_ends_everything_and_leaves_nothing(tmp_path, processes):
    with pytest.raises(CorpusError, match="no mock today"):
        synthesise(
            tmp_path / "task",
            description(),
            LAYOUTS,
            1 if processes == 1 else 10**12,
            FailingGenerator,
            processes=processes,
        )
    assert list(tmp_path.iterdir()) == []
