"""Synthetic tasks: the same on any number of processes, and nothing is left of one that fails."""

import hashlib
from itertools import pairwise

import pytest

from corpora.checking import find_problems
from corpora.errors import CorpusError
from corpora.scales import DIALOGUES, SCALES, ScaleName
from corpora.synthesis import synthesise_dialogues, synthesise_task, write_generated_task
from corpora.task import Task
from task.feedback import CHRF, FeedbackKind, FeedbackSpec
from task.layout import Layout, LayoutError
from tests.corpora.fakes import FailingGenerator, FakeGenerator
from tests.corpora.tasks import LAYOUTS, description


def test_a_task_is_described_by_its_generator_and_noise(tmp_path):
    scale = SCALES[ScaleName.DEMO].resized(mock=2, dev=292, training=1211, out_of_domain=3)
    task = synthesise_task(tmp_path / "task", scale, seed=9, feedback=FeedbackSpec("granular:5"))
    assert task.parts == ["out-of-domain", "mock", "dev", "training"]
    assert [task.rounds(part) for part in task.parts] == [3, 2, 292, 1211]
    assert (task.description.generator, task.description.seed) == ("synth 5/3", 9)
    assert task.description.signature.endswith("|perturb:granular:5")


SMALL = SCALES[ScaleName.DEMO].resized(mock=2, dev=292, training=1211, out_of_domain=3)


def test_phases_that_show_post_edits_have_as_many_rounds_and_no_held_out_passes(tmp_path):
    shown = FeedbackSpec(kind=FeedbackKind.POST_EDIT, metric=CHRF)
    task = synthesise_task(tmp_path / "task", SMALL.without_held_out, seed=9, feedback=shown)
    assert task.description.phases["dev"] == Layout.plain(292)
    assert task.description.phase("dev").feedback == FeedbackSpec(seed=9, kind=FeedbackKind.POST_EDIT, metric=CHRF)
    assert list(find_problems(task.path)) == []


def test_post_edits_with_held_out_passes_are_refused(tmp_path):
    with pytest.raises(LayoutError, match="phase training shows post-edits, so it cannot have held-out passes"):
        synthesise_task(tmp_path / "task", SMALL, feedback=FeedbackSpec(kind=FeedbackKind.POST_EDIT))
    assert list(tmp_path.iterdir()) == []


def test_documents_are_pages_of_one_category(tmp_path):
    task = synthesise_task(tmp_path / "task", SMALL, seed=9, documents=True)
    plain = synthesise_task(tmp_path / "plain", SMALL, seed=9)
    documents = [pair.document for pair in task.distinct_pairs("training")]
    assert task.description.phase("dev").documents
    assert len(set(documents)) == sum(before != after for before, after in pairwise(["", *documents]))  # uninterrupted
    assert len({document.split()[0] for document in documents}) == 3  # departments
    assert sorted(pair[:2] for pair in task.distinct_pairs("training")) == sorted(
        pair[:2] for pair in plain.distinct_pairs("training")
    )
    assert {pair.document for pair in task.pairs("out-of-domain")} == {""}
    assert list(find_problems(task.path)) == []


def test_dialogues_are_a_task_with_documents_and_contrastive_sets(tmp_path):
    scale = DIALOGUES.resized(mock=2, dev=292, training=1211, out_of_domain=400)
    task = synthesise_dialogues(tmp_path / "task", scale, seed=9)
    assert (task.description.languages, task.description.generator) == (("en", "de"), "dialogue 1")
    assert task.description.serves_documents
    documents = [pair.document for pair in task.pairs("out-of-domain")]
    assert 0 < documents.count("") < 400
    assert sorted(file.name for file in (task.path / "contrastive").iterdir()) == [
        "deixis_dev.jsonl",
        "deixis_test.jsonl",
        "ellipsis_infl.jsonl",
        "ellipsis_vp.jsonl",
        "lex_cohesion_dev.jsonl",
        "lex_cohesion_test.jsonl",
    ]
    assert list(find_problems(task.path)) == []


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
