"""What version 0.1 wrote still works: task directories, stores, archives (see ``tests/fixtures/v0.1/README.md``)."""

import gzip
import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from corpora.checking import find_problems
from corpora.task import Task
from lambdas.answers import Sentence
from lambdas.archive import Archive, export
from lambdas.audit import Auditor
from lambdas.registry import Registry
from lambdas.scoreboard import Scoreboard
from lambdas.service import Service
from lambdas.store import open_store
from lambdas.store.dynamodb import to_round
from simulator.tasks import load_task
from task.description import parse_description
from task.feedback import FeedbackSpec
from task.layout import Layout

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0.1"
EXPECTED = json.loads((FIXTURES / "expected.json").read_text(encoding="utf-8"))
API_KEYS = {"acme": "bmt_" + "A" * 43, "rival": "bmt_" + "x" * 43}
NOW = 1_760_000_000.0  # seconds, when the boards were made
RENAMED = {
    "observed_reward": "shown",
    "true_reward": "clean",
    "observed_ticks": "shown_ticks",
    "true_ticks": "clean_ticks",
}
ADDED = {"log_probability": None, "post_edit": None, "link": b""}  # fields of a round that version 0.1 did not have


@pytest.fixture
def task():
    return Task.open(FIXTURES / "task")


@pytest.fixture
def store(tmp_path):
    """A copy of the store of that version."""
    shutil.copy(FIXTURES / "store.sqlite", tmp_path / "store.sqlite")
    opened = open_store(f"sqlite:{tmp_path / 'store.sqlite'}")
    yield opened
    opened.close()


@pytest.fixture
def restored(tmp_path):
    """A new store, restored from the archive of that version."""
    opened = open_store(f"sqlite:{tmp_path / 'restored.sqlite'}")
    Archive.open(FIXTURES / "archive.jsonl.gz").restore(opened)
    yield opened
    opened.close()


@pytest.fixture(params=["store", "restored"])
def either(request):
    """The store of that version, or one that was restored from its archive."""
    return request.getfixturevalue(request.param)


def as_version_01(committed):
    """A round with the names and fields of version 0.1."""
    fields = {RENAMED.get(name, name): value for name, value in asdict(committed).items()}
    assert {name: fields.pop(name) for name in ADDED} == ADDED
    return {**fields, "statistics": committed.statistics.hex()}


def lines(archive):
    return gzip.decompress(archive.read_bytes()).splitlines()


def boards(store):
    """The boards of all phases, as JSON has them."""
    scoreboard = Scoreboard(store, clock=lambda: NOW)
    made = {record.phase.name: scoreboard.board(record).as_dict() for record in Registry(store).phases()}
    return json.loads(json.dumps(made))


def without_additions(today, then):
    """What a board says today of all that it said then: entries may have been added, but none lost or changed."""
    if isinstance(then, dict):
        return {name: without_additions(today[name], value) for name, value in then.items()}
    if isinstance(then, list):
        assert len(today) == len(then)
        return [without_additions(new, old) for new, old in zip(today, then, strict=True)]
    return today


class TestTaskDirectory:
    def test_it_opens(self, task):
        description = task.description
        assert (str(description.languages), description.generator) == ("de-en", "synth 5/3")
        assert description.feedback == FeedbackSpec("high-variance:1", seed=17)
        assert description.phases == {"mock": Layout.plain(3), "dev": Layout(3, 2, 4), "training": Layout(2, 3, 5)}

    def test_it_is_valid(self, task):
        assert list(find_problems(task.path)) == []

    def test_its_description_would_be_written_the_same(self, task):
        text = (task.path / "task.json").read_text(encoding="utf-8")
        assert parse_description(text).to_json() == text

    def test_its_sentences_come_with_their_documents(self, task):
        first, *_ = served = list(task.pairs("dev"))
        assert first == ("füllvolumen : mindestens 120 ml", served[0].target, "dev 0")
        assert served[0] == served[6] == served[12]
        assert len(list(task.distinct_pairs("dev"))) == 10

    def test_a_store_that_has_it_already_takes_it_for_the_same(self, store, task):
        loaded = {record.phase.name: record.fingerprint for record in load_task(store, task.path)}
        assert loaded == EXPECTED["fingerprints"]

    def test_a_new_store_gets_the_same_fingerprints(self, tmp_path, task):
        new = open_store(f"sqlite:{tmp_path / 'new.sqlite'}")
        loaded = {record.phase.name: record.fingerprint for record in load_task(new, task.path)}
        assert loaded == EXPECTED["fingerprints"]
        new.close()


class TestLedger:
    @pytest.mark.parametrize("name", ["finished", "unfinished"])
    def test_its_rounds_are_what_they_were(self, either, name):
        found = [as_version_01(each) for each in either.rounds(EXPECTED[name]["run"])]
        assert found == EXPECTED["rounds"][name]

    def test_every_round_earns_the_same_today(self, either):
        auditor, registry = Auditor(either), Registry(either)
        runs = [(record, run) for record in registry.phases() for run in registry.runs(record.phase.name)]
        for each in runs:  # as `admin verify` does: the summaries of version 0.1 are rebuilt
            Scoreboard(either).catch_up_run(*each)
        assert [auditor.audit(record, run) for record, run in runs] == [[], []]
        assert auditor.rounds == 14 + 7

    def test_the_board_is_the_same_from_the_stored_summaries(self, either):
        assert without_additions(boards(either), EXPECTED["boards"]) == EXPECTED["boards"]

    def test_the_board_is_the_same_when_it_is_rebuilt(self, store):
        registry, scoreboard = Registry(store), Scoreboard(store)
        for record in registry.phases():
            for run in registry.runs(record.phase.name):
                scoreboard.rebuild(record, run)
        assert without_additions(boards(store), EXPECTED["boards"]) == EXPECTED["boards"]

    def test_a_run_resumes_with_the_key_and_the_sentence_id_that_the_participant_has(self, either):
        service, unfinished = Service(either), EXPECTED["unfinished"]
        rival = service.authenticate(API_KEYS["rival"])
        opened = service.open_run(rival, "training", "almost")
        assert (opened.run, opened.index, opened.total) == (unfinished["run"], 7, 11)
        assert service.sentence(rival, opened.run).as_dict() == unfinished["pending"]
        *_, last = unfinished["sent"]
        again = service.translate(rival, opened.run, last["id"], last["translation"])
        assert again.as_dict() == {"score": last["score"], "next": unfinished["pending"]}

    def test_a_run_can_be_played_to_its_end(self, either):
        service = Service(either)
        rival = service.authenticate(API_KEYS["rival"])
        run = EXPECTED["unfinished"]["run"]
        sentence: Sentence | None = service.sentence(rival, run)
        while sentence:
            sentence = service.translate(rival, run, sentence.id, sentence.source).next
        state = service.run(rival, run)
        assert (state.finished, state.index) == (True, 11)
        record = Registry(either).require_phase("training")
        Scoreboard(either).catch_up(record)
        assert Auditor(either).audit(record, either.opening(run)) == []

    def test_a_finished_run_says_what_it_earned(self, either):
        service = Service(either)
        state = service.run(service.authenticate(API_KEYS["acme"]), EXPECTED["finished"]["run"])
        *_, last = EXPECTED["finished"]["sent"]
        assert state.last is not None
        assert (state.finished, state.last.id, state.last.score) == (True, last["id"], last["score"])
        assert state.cumulative_reward == pytest.approx(sum(each["score"] for each in EXPECTED["finished"]["sent"]))


def test_an_item_of_dynamodb_is_the_same_round():
    item = json.loads((FIXTURES / "dynamodb-round.json").read_text(encoding="utf-8"))
    item["statistics"] = {"B": bytes.fromhex(item["statistics"]["B"])}
    assert as_version_01(to_round(item)) == EXPECTED["rounds"]["unfinished"][0]


def test_an_archive_of_the_store_is_the_same_today_but_for_its_time(store, tmp_path):
    export(store, tmp_path / "archive.jsonl.gz", texts=True, keys=True)
    today, then = (Archive.open(folder / "archive.jsonl.gz") for folder in (tmp_path, FIXTURES))
    assert (today.header.texts, today.header.keys) == (then.header.texts, then.header.keys) == (True, True)
    assert lines(tmp_path / "archive.jsonl.gz")[1:-1] == lines(FIXTURES / "archive.jsonl.gz")[1:-1]
