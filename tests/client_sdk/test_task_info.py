"""What a task says about itself: its description and its phases, in both SDKs."""

from datetime import UTC, datetime

import pytest

from banditmt_client import (
    AuthenticationError,
    OutOfDomainFile,
    OutOfDomainText,
    Phase,
    ProtocolError,
    TaskInfo,
    TextConvention,
)
from tests.client_sdk.fake_service import serving

PHASE = Phase(
    name="dev",
    state="open",
    total=2,
    repeatable=True,
    feedback="post-edit",
    metric="sentence-bleu",
    signature="sentence-bleu|fake",
    opens_at=datetime(2026, 5, 1, 12, tzinfo=UTC),
    closes_at=None,
    runs_left=99,
)


@pytest.fixture
def server():
    with serving(["eins", "zwei"], post_edits=["one", "two"], documents=[("d0", 0), ("d0", 1)]) as running:
        yield running


def answer(server, monkeypatch, body):
    monkeypatch.setattr(server.service, "respond", lambda *_: (200, body))


def test_a_task_describes_itself(server, client_of):
    assert client_of(server).task() == TaskInfo(
        title="A task of few words",
        source="de",
        target="en",
        text=TextConvention("lower|moses", "Lowercased Moses tokens."),
        phases=(PHASE,),
        licence="CC0-1.0",
        contact=None,
        out_of_domain=OutOfDomainText(
            "https://example.org/text",
            (
                OutOfDomainFile("de", 1_000, 120_000, "d" * 64, None),
                OutOfDomainFile("en", 1_000, 110_000, "e" * 64, "/v1/files/en"),
            ),
        ),
        documents=True,
    )


def test_a_client_without_a_key_reads_what_is_public_and_nothing_else(server, make_client):
    client = make_client("", server.url, anonymous=True)
    assert client.task().title == "A task of few words"
    assert [phase.name for phase in client.phases()] == ["dev"]
    with pytest.raises(AuthenticationError):
        client.open_run(phase="dev", system="s")


def test_a_task_may_leave_out_what_its_organiser_did_not_give(server, client_of, monkeypatch):
    text = {"signature": "raw", "description": "As it comes."}
    answer(server, monkeypatch, {"source": "de", "target": "en", "text": text, "phases": []})
    assert client_of(server).task() == TaskInfo(
        None, "de", "en", TextConvention("raw", "As it comes."), (), None, None, None, documents=False
    )


@pytest.mark.parametrize("name", ["source", "target", "text", "phases"])
def test_a_description_without_languages_text_or_phases_is_a_protocol_error(name, server, client_of, monkeypatch):
    description = server.service.task()
    del description[name]
    answer(server, monkeypatch, description)
    with pytest.raises(ProtocolError, match=f"no valid '{name}'"):
        client_of(server).task()


@pytest.mark.parametrize(
    ("out_of_domain", "name"),
    [
        ("https://example.org", "out_of_domain"),
        ({"url": "https://example.org"}, "files"),
        ({"url": None, "files": ["de"]}, "files"),
        ({"url": None, "files": [{"language": "de", "lines": 7, "bytes": 90}]}, "sha256"),
        ({"url": 7, "files": []}, "url"),
    ],
)
def test_an_invalid_out_of_domain_text_is_a_protocol_error(out_of_domain, name, server, client_of, monkeypatch):
    answer(server, monkeypatch, {**server.service.task(), "out_of_domain": out_of_domain})
    with pytest.raises(ProtocolError, match=f"no valid '{name}'"):
        client_of(server).task()


def test_a_phase_has_its_feedback_metric_times_and_runs_left(server, client_of):
    assert client_of(server).phases() == [PHASE]


def test_a_phase_of_an_older_service_gives_bandit_feedback_and_has_no_times(server, client_of, monkeypatch):
    older = {"phase": "dev", "state": "open", "total": 2, "repeatable": True, "runs": 100}
    answer(server, monkeypatch, {"phases": [older]})
    assert client_of(server).phases() == [
        Phase("dev", "open", 2, True, "bandit", "sentence-bleu", "", None, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-05-01T12:00:00Z", datetime(2026, 5, 1, 12, tzinfo=UTC)),
        ("2026-05-01T12:00:00.250000Z", datetime(2026, 5, 1, 12, microsecond=250_000, tzinfo=UTC)),
        ("2026-05-01T14:00:00+02:00", datetime(2026, 5, 1, 12, tzinfo=UTC)),
    ],
)
def test_times_are_in_utc(text, time, server, client_of, monkeypatch):
    answer(server, monkeypatch, {"phases": [{**server.service.phase(), "opens_at": text, "closes_at": text}]})
    [phase] = client_of(server).phases()
    assert (phase.opens_at, phase.closes_at) == (time, time)
    assert phase.opens_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("opens_at", "soon"),
        ("opens_at", 1777636800),
        ("closes_at", "2026-05-01T12:00:00"),  # without a zone
        ("runs_left", "many"),
        ("feedback", 1),
    ],
)
def test_a_phase_with_an_invalid_field_is_a_protocol_error(name, value, server, client_of, monkeypatch):
    answer(server, monkeypatch, {"phases": [{**server.service.phase(), name: value}]})
    with pytest.raises(ProtocolError, match=f"no valid '{name}'"):
        client_of(server).phases()


def test_a_list_of_phases_with_something_else_in_it_is_a_protocol_error(server, client_of, monkeypatch):
    answer(server, monkeypatch, {"phases": ["dev"]})
    with pytest.raises(ProtocolError, match="no valid 'phases'"):
        client_of(server).phases()
