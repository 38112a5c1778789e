"""Playing in process and over HTTP: one suite, because a participant sees no difference."""

import functools
from contextlib import contextmanager

import pytest

from banditmt_client import (
    Client,
    ConflictError,
    InvalidRequestError,
    InvalidTranslationError,
    NotFoundError,
    OrderError,
    OutOfDomainFile,
    OutOfDomainText,
    PhaseClosedError,
    Progress,
    QuotaExceededError,
    ServerError,
)
from banditmt_client import Phase as PhaseInfo
from lambdas import wiring
from lambdas.errors import UnavailableError
from lambdas.phase_record import PhaseState
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store.sqlite import SQLiteStore
from lambdas.task_loader import load_phase
from lambdas.task_record import TaskRecord, write_task_record
from leaderboard.metrics.bleu import sentence_bleu
from simulator import in_process
from simulator.cloud.http_server import running
from simulator.cloud.local_cloud import local_server
from simulator.cloud.template import SamTemplate
from simulator.in_process import in_process_client
from task.description import AboutTask, FileSummary
from task.feedback import SENTENCE_BLEU, FeedbackKind, FeedbackSpec
from task.languages import LOWERCASED_MOSES, LanguagePair
from task.layout import Layout
from task.phases import Phase
from tests.lambdas import tasks


@pytest.fixture
def store(tmp_path):
    store = SQLiteStore.open(f"{tmp_path / 'store.db'}?synchronous=normal")
    tasks.load(store)
    yield store
    store.close()


read_template = functools.cache(SamTemplate.load)  # it is slow to load


@contextmanager
def over_http(store, participant):
    """A client of the local cloud, which serves in a thread."""
    api_key = Registry(store).add_participant(participant)
    server = local_server(read_template("local"), Service(store), ("127.0.0.1", 0))
    try:
        with running(server), Client(api_key, server.url) as client:
            yield client
    finally:
        wiring.use_service(None)


@pytest.fixture(params=[in_process_client, over_http], ids=["in-process", "http"])
def client(request, store):
    with request.param(store, "acme") as client:
        yield client


def play(run):
    return [run.submit(sentence.source) for sentence in run]


def expected_scores(phase):
    pairs = tasks.pairs(phase)
    order = [phase.layout.place(index).sentence for index in range(phase.layout.total)]
    return [pytest.approx(sentence_bleu(*pairs[sentence]), abs=1e-12) for sentence in order]


def test_a_whole_run(client):
    run = client.open_run(phase="dev", system="copy")
    scores = play(run)
    assert scores == expected_scores(tasks.DEV)
    assert run.progress.finished
    assert run.progress.cumulative_reward == pytest.approx(sum(scores))


def test_dev_can_be_played_again(client):
    first = client.open_run(phase="dev", system="copy")
    scores = play(first)
    second = client.open_run(phase="dev", system="copy")
    assert second.id != first.id
    assert play(second) == scores


def test_an_unfinished_run_is_resumed(client):
    first = client.open_run(phase="dev", system="copy")
    first.sentence()
    score = first.submit("a translation")
    second = client.open_run(phase="dev", system="copy")
    assert (second.id, second.progress) == (first.id, Progress(1, 14, second.progress.cumulative_reward))
    assert second.progress.cumulative_reward == pytest.approx(score)
    assert (second.last.translation, second.last.score, second.last.index) == ("a translation", score, 0)
    assert second.last.source == tasks.source("dev", 0)
    assert len(play(second)) == 13


def test_a_finished_run_can_be_read(client):
    run = client.open_run(phase="mock", system="copy")
    play(run)
    again = client.get_run(run.id)
    assert (list(again), again.progress.finished) == ([], True)
    with pytest.raises(OrderError):
        again.submit("more")


def test_a_finished_run_is_not_played_again_unless_asked_for(client):
    run = client.open_run(phase="mock", system="copy", again=False)
    play(run)
    with pytest.raises(ConflictError, match="has finished a run of this phase") as refused:
        client.open_run(phase="mock", system="copy", again=False)
    assert (refused.value.code, refused.value.run) == ("already_played", run.id)
    assert client.open_run(phase="mock", system="copy").id != run.id


def test_training_is_played_once(client):
    run = client.open_run(phase="training", system="copy")
    play(run)
    with pytest.raises(ConflictError) as refused:
        client.open_run(phase="training", system="copy")
    assert (refused.value.code, refused.value.status, refused.value.run) == ("already_played", 409, run.id)


def test_another_translation_for_a_committed_round_is_refused(client):
    here, there = (client.open_run(phase="mock", system="copy") for _ in range(2))
    here.sentence()
    there.sentence()
    score = here.submit("one")
    with pytest.raises(ConflictError) as refused:
        there.submit("another")
    assert refused.value.code == "translation_conflict"
    assert there.submit("one") == score


def test_in_a_post_edit_phase_every_round_has_its_post_edit_document_and_log_probability(store, client):
    feedback = FeedbackSpec(kind=FeedbackKind.POST_EDIT)
    phase = Phase("post-edits", Layout.plain(3), repeatable=True, feedback=feedback, documents=True)
    texts = [("eins", "one", "a"), ("zwei", "two", "a"), ("drei", "three", "b")]
    load_phase(store, phase, texts, language="en")
    run = client.open_run(phase="post-edits", system="copy")
    documents, post_edits = [], []
    for sentence in run:
        run.submit(sentence.source, log_probability=-0.5 * sentence.index)
        documents.append((sentence.document, sentence.position))
        post_edits.append(run.last.post_edit)
        assert client.get_run(run.id).last == run.last  # as a learner that crashed finds it
    assert post_edits == ["one", "two", "three"]
    assert [position for _, position in documents] == [0, 1, 0]
    assert documents[0][0] == documents[1][0] != documents[2][0]
    assert [committed.log_probability for committed in store.rounds(run.id)] == [0.0, -0.5, -1.0]


def test_a_bandit_phase_without_documents_tells_scores_only(client):
    run = client.open_run(phase="mock", system="copy")
    sentence = run.sentence()
    run.submit("one")
    assert (sentence.document, sentence.position, run.last.post_edit) == (None, None, None)


def test_phases(store, client):
    Registry(store).set_phase_state("mock", PhaseState.OPEN, runs=3)
    client.open_run(phase="mock", system="copy")
    feedback = ("bandit", "sentence-bleu", SENTENCE_BLEU.signature)
    assert client.phases() == [
        PhaseInfo("training", "open", 4, False, *feedback, runs_left=3),
        PhaseInfo("mock", "open", 5, True, *feedback, runs_left=2),
        PhaseInfo("dev", "open", 14, True, *feedback, runs_left=1_000),
    ]


def test_the_task_describes_itself(store, client):
    about = AboutTask(
        title="Zoo, in few words", contact="zoo@example.org", out_of_domain_url="https://example.org/text"
    )
    files = {"de": FileSummary(7, 90, "d" * 64), "en": FileSummary(7, 80, "e" * 64)}
    write_task_record(store, TaskRecord(LanguagePair("de", "en"), about, "CC0-1.0", LOWERCASED_MOSES, files))
    task = client.task()
    assert (task.title, task.source, task.target) == ("Zoo, in few words", "de", "en")
    assert (task.text.signature, task.text.description) == LOWERCASED_MOSES
    assert (task.licence, task.contact, task.documents) == ("CC0-1.0", "zoo@example.org", False)
    assert task.out_of_domain == OutOfDomainText(
        "https://example.org/text",
        (OutOfDomainFile("de", 7, 90, "d" * 64, None), OutOfDomainFile("en", 7, 80, "e" * 64, None)),
    )
    assert list(task.phases) == client.phases()


def test_a_task_that_was_loaded_before_tasks_described_themselves_has_phases_at_least(client):
    task = client.task()
    assert (task.title, task.source, task.licence, task.out_of_domain) == (None, "und", None, None)
    assert [phase.name for phase in task.phases] == ["training", "mock", "dev"]


@pytest.mark.parametrize("state", [PhaseState.CLOSED, PhaseState.FROZEN])
def test_no_run_is_opened_in_a_phase_that_is_not_open(state, store, client):
    Registry(store).set_phase_state("dev", state)
    with pytest.raises(PhaseClosedError):
        client.open_run(phase="dev", system="copy")


def test_the_limit_on_runs_holds(store, client):
    Registry(store).set_phase_state("mock", PhaseState.OPEN, runs=1)
    play(client.open_run(phase="mock", system="copy"))
    with pytest.raises(QuotaExceededError):
        client.open_run(phase="mock", system="copy")


@pytest.mark.parametrize(("phase", "system"), [("nope", "copy"), ("", "copy")])
def test_an_unknown_phase_is_refused(phase, system, client):
    with pytest.raises(NotFoundError):
        client.open_run(phase=phase, system=system)


@pytest.mark.parametrize("system", ["", "a" * 500, "two\nlines"])
def test_an_invalid_system_name_is_refused(system, client):
    with pytest.raises(InvalidRequestError):
        client.open_run(phase="mock", system=system)


@pytest.mark.parametrize("run", ["nope", "a" * 26, "../phases"])
def test_an_unknown_run_is_refused(run, client):
    with pytest.raises(NotFoundError):
        client.get_run(run)


def test_a_translation_beyond_the_limit_is_refused(client):
    run = client.open_run(phase="mock", system="copy")
    sentence = run.sentence()
    with pytest.raises(InvalidTranslationError, match="the limit is 4,000"):
        run.submit("word " * 10_000)
    with pytest.raises(InvalidRequestError) as refused:  # by the service itself, whatever the client checks
        client._connection.translate(run.id, sentence.id, "word " * 10_000)
    assert refused.value.code == "too_large"
    assert run.submit("word") >= 0


def test_a_run_of_another_participant_does_not_exist(store, client):
    foreign = in_process_client(store, "rival").open_run(phase="mock", system="copy")
    with pytest.raises(NotFoundError):
        client.get_run(foreign.id)


def test_the_leaderboard_can_be_read(client):
    play(client.open_run(phase="mock", system="copy"))
    play(client.open_run(phase="training", system="copy"))
    [row] = client.leaderboard("mock")["rows"]
    assert (row["system"], row["rank"], row["status"]) == ("copy", 1, "finished")
    assert client.leaderboard("training")["visible"] == "own"
    with pytest.raises(NotFoundError):
        client.leaderboard("finals")


def test_the_repr_of_a_client_names_its_participant(store):
    assert repr(in_process_client(store, "acme")) == "Client(InProcessConnection('acme'))"
    assert isinstance(in_process_client(store, "acme"), Client)


def test_runs_that_start_together_register_their_participant_once(store, monkeypatch):
    """Another process registers the same name between the lookup and the registration."""
    look = Registry.participant
    registered: list[str] = []

    def registered_meanwhile(registry, name):
        found = look(registry, name)
        if not registered:
            registered.append(name)
            registry.add_participant(name)
        return found

    monkeypatch.setattr(Registry, "participant", registered_meanwhile)
    with in_process_client(store, "acme") as client:
        assert client.open_run(phase="dev", system="copy").progress.index == 0
    assert registered == ["acme"]


class BusyStore(SQLiteStore):
    """A store that is busy for the next ``refusals`` writes."""

    refusals = 0

    def append(self, played):
        if self.refusals:
            self.refusals -= 1
            raise UnavailableError
        return super().append(played)


@pytest.fixture
def busy(tmp_path, monkeypatch):
    monkeypatch.setattr(in_process, "RETRY_DELAYS", (0.0, 0.0))
    store = BusyStore.open(f"{tmp_path / 'busy.db'}?synchronous=normal")
    tasks.load(store)
    yield store
    store.close()


def test_a_run_survives_a_busy_store(busy):
    run = in_process_client(busy, "acme").open_run(phase="dev", system="copy")
    next(iter(run))
    busy.refusals = 2
    assert 0 <= run.submit("a translation") <= 1
    assert run.progress.index == 1


def test_a_store_that_stays_busy_is_reported_and_nothing_is_committed(busy):
    run = in_process_client(busy, "acme").open_run(phase="dev", system="copy")
    next(iter(run))
    busy.refusals = 99
    with pytest.raises(ServerError, match="the service is busy"):
        run.submit("a translation")
    assert busy.refusals == 96
    busy.refusals = 0
    assert 0 <= run.submit("a translation") <= 1
    assert run.progress.index == 1
