"""What a client asks for, what it refuses, and what it never tells."""

import logging
import re
import subprocess
import sys
import traceback
from typing import Any

import pytest

import banditmt_client
from banditmt_client import (
    AuthenticationError,
    BanditError,
    Client,
    ConfigurationError,
    ConflictError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    OrderError,
    Phase,
    PhaseClosedError,
    ProtocolError,
    QuotaExceededError,
    RunFinishedError,
    ServerError,
    ServiceError,
    ThrottledError,
)
from banditmt_client.connection import HttpConnection, _pause, _retry_after
from banditmt_client.errors import refusal
from tests.client_sdk.conformance import KEY, RUN, serving

SECRET = "k3y-that-nobody-may-see"
NO_ADDRESSES = [
    *("http://[::1", "http://h:port", "http://h:99999999", "http://h:-1", "http://a..b", "http://h%zz"),
    *(f"http://{'a' * 64}.org", "http://h\nx"),
]


def test_key_and_address_come_from_the_environment(monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setenv("BANDITMT_API_KEY", KEY + "\n")  # as it comes out of a file
        monkeypatch.setenv("BANDITMT_URL", server.url + "/\n")
        with Client() as client:
            assert client.phases() == [Phase("dev", "open", 1, repeatable=True)]
            assert client.leaderboard("dev") == {"phase": "dev", "rows": []}


@pytest.mark.parametrize(
    ("key", "url", "complaint"),
    [
        ("", "http://h", "no API key: set BANDITMT_API_KEY"),
        ("k", "", "Set BANDITMT_URL"),
        ("k\nx", "http://h", "characters that no key has"),
        ("schlüssel", "http://h", "characters that no key has"),
        ("two words", "http://h", "characters that no key has"),
        ("k", "ftp://h", "not the address"),
        ("k", "h/path", "not the address"),
        ("k", "http://", "not the address"),
        ("k", "http://h?x=1", "not the address"),
        ("k", "http://h?", "not the address"),
        ("k", "http://h/a b", "not the address"),
        *[("k", url, "not the address") for url in NO_ADDRESSES],
    ],
)
def test_a_configuration_that_cannot_work_is_refused_at_once(key, url, complaint, monkeypatch):
    monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        Client(key, url)
    assert len(key) < 3 or key not in str(raised.value)


@pytest.mark.parametrize("url", ["http://[::1]:8000", "https://host.example.org./stage/", "HTTP://127.0.0.1:"])
def test_unusual_addresses_are_addresses(url, make_client):
    assert f"'{url.rstrip('/')}'" in repr(make_client("k", url))


@pytest.mark.parametrize(
    "url", ["http://user:pa55word@h", "ftp://:pa55word@h", "user:pa55word@h", "http://u:pa55word@[x"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url, make_client):
    with pytest.raises(ConfigurationError, match="the address has an '@' in it: leave out user name") as raised:
        make_client(SECRET, url)
    assert "pa55word" not in str(raised.value)


@pytest.mark.parametrize(
    ("key", "url"),
    [
        (SECRET, "ftp://h"),
        (SECRET, "http://h:port"),
        (SECRET, "http://user:pa55word@h"),
        (SECRET, "\n"),
        (SECRET + " " + SECRET, "http://h"),
    ],
)
def test_no_key_and_no_password_is_in_the_traceback_of_a_refused_configuration(key, url, monkeypatch):
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    try:
        Client(key, url)
    except ConfigurationError as refused:
        frames = traceback.TracebackException.from_exception(refused, capture_locals=True).stack[1:]  # the SDK's own
    shown = "".join(traceback.StackSummary.from_list(frames).format())
    assert "_address" in shown or "_key" in shown
    assert SECRET not in shown
    assert "pa55word" not in shown


def test_an_address_that_cannot_be_prepared_is_a_mistake_of_the_configuration():
    patience = {"connect_timeout": 1, "read_timeout": 1, "retries": 3}
    connection = HttpConnection("http://h:port", "k", user_agent="tests", **patience)
    with pytest.raises(ConfigurationError, match="'http://h:port' is not the address of a service"):
        connection.phases()


def test_a_proxy_that_cannot_be_one_is_a_failed_connection(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://a..b:80")
    monkeypatch.setenv("no_proxy", "")
    with Client("k", "http://h", retries=1) as client, pytest.raises(ConnectionFailedError, match="2 tries"):
        client.phases()


def test_half_a_character_names_no_run(client_of):
    with serving(["a"]) as server, pytest.raises(NotFoundError):
        client_of(server).get_run("\ud800")


def test_a_number_names_no_run():
    number: Any = 5
    with Client("k", "http://h") as client, pytest.raises(OrderError, match="named by strings, not by int"):
        client.get_run(number)


def test_a_closed_client_says_so():
    client = Client("k", "http://h")
    client.close()
    with pytest.raises(OrderError, match=r"^this client is closed$"):
        client.phases()


def test_every_request_says_who_is_asking(client_of):
    with serving(["a"]) as server:
        client_of(server).phases()
        agent = server.task.headers[0]["user-agent"]
        assert re.fullmatch(
            rf"banditmt-client/{banditmt_client.__version__} (python/3\.\S+ requests/\S+|java/\S+)", agent
        )


def test_a_wrong_key_is_not_tried_again():
    with serving(["a"]) as server, Client(SECRET, server.url) as client:
        with pytest.raises(AuthenticationError) as raised:
            client.open_run(phase="dev", system="s")
        assert len(server.task.requests) == 1
        assert (raised.value.code, raised.value.status, raised.value.request_id) == ("invalid_key", 403, "r-1")
        assert str(raised.value) == "refused: invalid_key [request r-1]"


def test_the_key_is_in_no_repr_log_or_traceback(caplog):
    caplog.set_level(logging.DEBUG)
    with serving(["a"], ["error-500-before", "drop-before"]) as server, Client(SECRET, server.url) as client:
        with pytest.raises(AuthenticationError) as raised:
            client.open_run(phase="dev", system="s")
        shown = repr(client) + str(raised.getrepr(showlocals=True)) + caplog.text
    with Client(SECRET, "http://127.0.0.1:9", retries=1) as client, pytest.raises(ConnectionFailedError) as failed:
        client.phases()
    assert SECRET not in shown + str(failed.getrepr(showlocals=True)) + caplog.text


def test_a_service_that_is_not_there(caplog):
    caplog.set_level(logging.DEBUG, logger="banditmt_client")
    with Client("k", "http://127.0.0.1:9", retries=2) as client, pytest.raises(ConnectionFailedError, match="3 tries"):
        client.phases()
    assert caplog.text.count("trying again in") == 2


def test_a_service_that_does_not_answer_in_time(client_of):
    slow = serving(["a"], ["delay-before"] * 2)
    with slow as server, pytest.raises(ConnectionFailedError, match="did not answer in time"):
        client_of(server, retries=1, read_timeout=0.1).phases()


def test_a_service_that_stops_in_the_middle_of_an_answer(client_of):
    with serving(["a"], ["delay-within"]) as server, pytest.raises(ConnectionFailedError, match="in time"):
        client_of(server, retries=0, connect_timeout=0.5, read_timeout=0.1).phases()


@pytest.mark.parametrize(
    ("faults", "error"),
    [
        (["error-500-before"] * 3, ServerError),
        (["throttle-silent"] * 3, ThrottledError),
        (["garbage"] * 3, ProtocolError),
        (["not-an-object"] * 3, ProtocolError),
        (["drop-before"] * 3, ConnectionFailedError),
    ],
)
def test_patience_has_an_end(faults, error, client_of):
    with serving(["a"], faults) as server:
        with pytest.raises(error):
            client_of(server, retries=2).open_run(phase="dev", system="s")
        assert len(server.task.requests) == 3


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "bad_request", InvalidRequestError),
        (413, "too_large", InvalidRequestError),
        (403, "invalid_key", AuthenticationError),
        (403, "", AuthenticationError),
        (403, "phase_closed", PhaseClosedError),
        (404, "run_not_found", NotFoundError),
        (409, "translation_conflict", ConflictError),
        (410, "run_finished", RunFinishedError),
        (429, "throttled", ThrottledError),
        (429, "quota_exceeded", QuotaExceededError),
        (500, "internal", ServerError),
        (503, "", ServerError),
    ],
)
def test_refusals_have_a_kind(status, code, kind):
    error = refusal(status, code, "", "r-7")
    assert type(error) is kind
    assert isinstance(error, BanditError)
    assert str(error) == f"the service answered with status {status} [request r-7]"


@pytest.mark.parametrize("status", [400, 404, 408, 409, 413, 418, 425, 451, 499])
def test_what_the_client_did_wrong_is_not_tried_again(status, client_of, monkeypatch):
    assert _tries(status, client_of, monkeypatch) == 1


@pytest.mark.parametrize("status", [429, 500, 501, 502, 503, 504, 507, 520, 529, 599])
def test_what_may_pass_is_tried_again(status, client_of, monkeypatch):
    assert _tries(status, client_of, monkeypatch) == 3


def _tries(status, client_of, monkeypatch):
    """How often a client asks that may ask three times, when it is always answered with this status."""
    with serving(["a"]) as server:
        monkeypatch.setattr(server.task, "answer", lambda *_: (status, {}))
        with pytest.raises(ServiceError, match=f"status {status}"):
            client_of(server, retries=2).phases()
        return len(server.task.requests)


def test_a_used_up_quota_is_not_tried_again(client_of, monkeypatch):
    with serving(["a"]) as server:
        quota = (429, {"code": "quota_exceeded", "message": "used up", "request_id": ""})
        monkeypatch.setattr(server.task, "answer", lambda *_: quota)
        with pytest.raises(QuotaExceededError):
            client_of(server).phases()
        assert len(server.task.requests) == 1


@pytest.mark.parametrize(("body", "run"), [({"run": RUN}, RUN), ({}, ""), ({"run": None}, ""), ({"run": 7}, "")])
def test_a_conflict_names_the_run_that_was_finished(body, run, client_of, monkeypatch):
    with serving(["a"]) as server:
        refused = (409, {"code": "already_played", "message": "only once", "request_id": "r-1", **body})
        with monkeypatch.context() as patch:
            patch.setattr(server.task, "answer", lambda *_: refused)
            with pytest.raises(ConflictError, match="only once") as raised:
                client_of(server).open_run(phase="dev", system="tested")
        assert (raised.value.run, raised.value.code) == (run, "already_played")
        if run:
            assert client_of(server).get_run(raised.value.run).id == RUN


@pytest.mark.parametrize(("status", "kind"), [(302, InvalidRequestError), (401, AuthenticationError)])
def test_redirects_are_not_followed_nor_logins_tried(status, kind, client_of, monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setattr(server.task, "answer", lambda *_: (status, {}))
        with pytest.raises(kind, match=f"status {status}"):
            client_of(server).phases()
        assert len(server.task.requests) == 1


@pytest.mark.parametrize("answer", [{}, {"phases": 3}, {"phases": [{"phase": "dev", "state": "open", "total": "x"}]}])
def test_an_answer_of_something_else_is_noticed(answer, client_of, monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setattr(server.task, "answer", lambda *_: (200, answer))
        with pytest.raises(ProtocolError, match="is this the address of the service"):
            client_of(server).phases()


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, None), ("", None), ("3", 3.0), ("-3", 0.0), ("soon", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0)],
)
def test_both_forms_of_retry_after_are_read(header, seconds):
    assert _retry_after(header) == seconds


def test_pauses_grow_and_are_jittered(monkeypatch):
    monkeypatch.setattr("banditmt_client.connection.FIRST_PAUSE", 0.25)
    assert all(0.125 <= _pause(0, None) <= 0.25 for _ in range(50))
    assert all(15 <= _pause(20, None) <= 30 for _ in range(50))
    assert len({_pause(3, None) for _ in range(10)}) > 1
    assert 2 <= _pause(0, 2.0) <= 2.0625
    assert _pause(0, 10_000.0) <= 300.0625


def test_importing_brings_little_more_than_requests():
    program = (
        "import sys, requests; before = set(sys.modules); import banditmt_client; print(*set(sys.modules) - before)"
    )
    brought = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    foreign = {name.partition(".")[0] for name in brought} - sys.stdlib_module_names
    assert foreign == {"banditmt_client"}
    assert len(brought) < 30  # benchmarks/sdk.py tells how long it takes


@pytest.mark.parametrize("patience", [{"retries": -1}, {"connect_timeout": 0}, {"read_timeout": -5}])
def test_patience_that_cannot_be_is_refused(patience):
    with pytest.raises(ConfigurationError, match="counted from 0"):
        Client("k", "http://h", **patience)
