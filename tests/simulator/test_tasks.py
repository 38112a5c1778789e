"""Loading a task from disk into a store."""

from dataclasses import replace
from pathlib import Path

import pytest

from corpora.errors import TaskError
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.task_loader import LoadError
from simulator.tasks import is_loaded, load_task, out_of_domain_files
from task.description import AboutTask
from tests.corpora.tasks import LAYOUTS, write_task


def test_every_phase_is_loaded_and_served_in_order(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    store = open_store(f"sqlite:{tmp_path / 'store'}?synchronous=normal")
    reported: list[tuple[str, int, int]] = []
    load_task(store, task.path, progress=lambda *report: reported.append(report))
    assert {report[0]: report[1:] for report in reported} == {
        name: (layout.distinct, layout.distinct) for name, layout in LAYOUTS.items()
    }
    service, api_key = Service(store), Registry(store).add_participant("ada")
    ada = service.authenticate(api_key)
    for phase in LAYOUTS:
        run = service.open_run(ada, phase, "copy").run
        sentence, served = service.sentence(ada, run), []
        while sentence:
            served.append(sentence.source)
            following = service.translate(ada, run, sentence.id, sentence.source).next
            if following is None:
                break
            sentence = following
        assert served == [pair.source for pair in task.pairs(phase)]


def test_what_the_task_says_about_itself_is_loaded_and_can_be_said_in_other_words(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    task = write_task(tmp_path / "task")
    load_task(store, task.path)
    told = Service(store).task()
    assert (told.title, told.source, told.target, told.licence) == (None, "de", "en", "CC0-1.0")
    assert told.out_of_domain is not None
    assert [(file.language, file.lines) for file in told.out_of_domain.files] == [("de", 5), ("en", 5)]
    assert is_loaded(store, task.path)
    worded = replace(task.description, about=AboutTask("A title"))
    (task.path / "task.json").write_text(worded.to_json(), encoding="utf-8")
    assert not is_loaded(store, task.path)
    load_task(store, task.path)
    assert Service(store).task().title == "A title"
    assert is_loaded(store, task.path)


def test_a_task_that_is_refused_says_nothing(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    load_task(store, write_task(tmp_path / "task").path)
    with pytest.raises(LoadError):
        load_task(store, write_task(tmp_path / "other", out_of_domain=9, noise="granular:5").path)
    assert is_loaded(store, tmp_path / "task")


def test_the_files_of_the_out_of_domain_text(tmp_path: Path) -> None:
    task = write_task(tmp_path / "task")
    assert out_of_domain_files(task.path) == {
        "de": task.path / "out-of-domain.de.gz",
        "en": task.path / "out-of-domain.en.gz",
    }


def test_only_training_can_be_played_once(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    records = load_task(store, write_task(tmp_path / "task").path)
    assert {record.phase.name: record.phase.repeatable for record in records} == {
        "mock": True,
        "dev": True,
        "training": False,
    }


def test_loading_again_changes_nothing_and_another_task_is_refused(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    once = load_task(store, write_task(tmp_path / "task").path)
    assert load_task(store, tmp_path / "task") == once
    other = write_task(tmp_path / "other", seed=8)
    with pytest.raises(LoadError):
        load_task(store, other.path)


def test_the_phases_have_the_feedback_of_the_task(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'store'}")
    [*records] = load_task(store, write_task(tmp_path / "task", noise="granular:5").path)
    assert {record.feedback.noise for record in records} == {"granular:5"}
    assert {record.feedback.seed for record in records} == {7}


def test_a_folder_without_a_task_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="not a task"):
        load_task(open_store(f"sqlite:{tmp_path / 'store'}"), tmp_path)
