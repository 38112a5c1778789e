"""What a task says about itself: stored with the task, and told to everyone."""

import json
from dataclasses import replace

import pytest

from lambdas import errors
from lambdas.service import Service
from lambdas.store import documents
from lambdas.task_record import TaskRecord, read_task_record, write_task_record
from task.description import AboutTask, FileSummary, TaskDescription
from task.feedback import FeedbackSpec
from task.languages import LanguagePair
from tests.lambdas import tasks
from tests.lambdas.store.test_dynamodb import record_calls

DIGEST = "0123456789abcdef" * 4
DESCRIPTION = TaskDescription(
    LanguagePair("de", "en"),
    "a generator",
    "CC0-1.0",
    FeedbackSpec(seed=4711),
    files={
        "out-of-domain.de.gz": FileSummary(10, 200, DIGEST),
        "out-of-domain.en.gz": FileSummary(10, 180, DIGEST),
        "training.en.gz": FileSummary(4, 99, "f" * 64),
    },
    about=AboutTask("Übersetzen lernen", "mt@example.org", "https://example.org/text"),
)
RECORD = TaskRecord.from_description(DESCRIPTION)


def test_a_store_keeps_it(store):
    store.prepare()
    assert read_task_record(store) is None
    write_task_record(store, RECORD)
    write_task_record(store, replace(RECORD, licence="MIT"))  # loaded again, in other words
    assert read_task_record(store) == replace(RECORD, licence="MIT")


def test_participants_are_told_all_of_it(store):
    tasks.load(store)
    write_task_record(store, RECORD)
    told = Service(store).task().as_dict()
    phases = told.pop("phases")
    assert told == {
        "title": "Übersetzen lernen",
        "source": "de",
        "target": "en",
        "text": {
            "signature": "case:lower|tok:moses|sep:space|v:1",
            "description": "lowercased, tokenised as the Moses scripts do (without escaping), tokens separated by "
            "single spaces; translations are scored as they are sent, split on whitespace",
        },
        "documents": False,
        "licence": "CC0-1.0",
        "contact": "mt@example.org",
        "out_of_domain": {
            "url": "https://example.org/text",
            "files": [
                {"language": "de", "lines": 10, "bytes": 200, "sha256": DIGEST, "url": None},
                {"language": "en", "lines": 10, "bytes": 180, "sha256": DIGEST, "url": None},
            ],
        },
    }
    assert phases == [phase.as_dict() for phase in Service(store).phases()]


def test_nothing_that_participants_must_not_know_is_even_stored(sqlite):
    write_task_record(sqlite, RECORD)
    stored = json.dumps(sqlite.documents(documents.TASK))
    for secret in ("4711", "f" * 64, "training"):
        assert secret not in stored


def test_a_service_that_has_the_files_says_where(sqlite):
    tasks.load(sqlite)
    write_task_record(sqlite, RECORD)
    told = Service(sqlite, serves_out_of_domain=True).task().out_of_domain
    assert told is not None
    assert [file.url for file in told.files] == ["/v1/task/out-of-domain/de", "/v1/task/out-of-domain/en"]


def test_of_a_task_that_an_earlier_version_loaded_only_the_convention_is_known(sqlite):
    tasks.load(sqlite)
    told = Service(sqlite).task()
    assert (told.title, told.source, told.target, told.licence, told.contact, told.out_of_domain) == (
        None,
        "und",
        "und",
        None,
        None,
        None,
    )
    assert told.text.signature == "case:lower|tok:moses|sep:space|v:1"


def test_documents_are_those_of_the_phases(sqlite):
    tasks.load(sqlite, phases=[replace(tasks.MOCK, documents=True), tasks.DEV])
    assert Service(sqlite).task().documents is True


def test_with_a_key_the_runs_that_are_left_are_counted(sqlite):
    service, acme = tasks.start_service(sqlite, runs=7)
    service.open_run(acme, "mock", "copy")
    assert [(phase.phase, phase.runs_left) for phase in service.task(acme).phases] == [
        ("training", 7),
        ("mock", 6),
        ("dev", 7),
    ]
    assert {phase.runs_left for phase in service.task().phases} == {None}


@pytest.mark.parametrize("record", [RECORD, None])
def test_asking_again_and_again_costs_one_read_and_one_query(moto, record):
    """It needs no key, so repeating it must not cost anything."""
    tasks.load(moto)
    if record is not None:
        write_task_record(moto, record)
    service, calls = Service(moto), record_calls(moto)
    for _ in range(5):
        service.task()
    assert sorted(calls) == [("GetItem", "task"), ("Query", "task")]


def test_the_text_is_where_the_organiser_has_it_or_nowhere(sqlite):
    tasks.load(sqlite)
    with pytest.raises(errors.NotFoundError, match="ask the organiser"):
        Service(sqlite).out_of_domain_url("de")
    write_task_record(sqlite, RECORD)
    assert Service(sqlite).out_of_domain_url("de") == "https://example.org/text"
    with pytest.raises(errors.NotFoundError):
        Service(sqlite).out_of_domain_url("fr")
    write_task_record(sqlite, replace(RECORD, about=AboutTask()))
    with pytest.raises(errors.NotFoundError):
        Service(sqlite).out_of_domain_url("de")
