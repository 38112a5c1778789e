"""Clients of both SDKs: configuration, retries, errors, and secrets that are never shown."""

import logging
import re
import subprocess
import sys
import time
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
    PhaseClosedError,
    ProtocolError,
    QuotaExceededError,
    RunFinishedError,
    ServerError,
    ServiceError,
    ThrottledError,
)
from banditmt_client.connection import HttpConnection
from tests.client_sdk.fake_service import KEY, RUN, serving

SECRET = "k3y-that-nobody-may-see"
INVALID_KEYS = ["k\nx", "schlüssel", "two words"]
INVALID_ADDRESSES = [
    *("ftp://h", "h/path", "http://", "http://h?x=1", "http://h?", "http://h/a b", "http://h\nx"),
    *("http://[::1", "http://h:port", "http://h:99999999", "http://h:-1", "http://a..b", "http://h%zz"),
    f"http://{'a' * 64}.org",
]


# configuration


def test_key_and_address_come_from_the_environment(monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setenv("BANDITMT_API_KEY", KEY + "\n")  # as read from a file
        monkeypatch.setenv("BANDITMT_URL", server.url + "/\n")
        with Client() as client:
            assert [phase.name for phase in client.phases()] == ["dev"]
            assert client.leaderboard("dev") == {"phase": "dev", "rows": []}


@pytest.mark.parametrize(
    ("key", "url", "message"),
    [
        ("", "http://h", "no API key: set BANDITMT_API_KEY or pass"),
        ("k", "", "no service address: set BANDITMT_URL or pass"),
        *[(key, "http://h", "the API key contains invalid characters") for key in INVALID_KEYS],
        *[("k", url, "is not a valid service address") for url in INVALID_ADDRESSES],
    ],
)
def test_an_invalid_configuration_is_refused_at_once(key, url, message, make_client):
    with pytest.raises(ConfigurationError, match=message) as raised:
        make_client(key, url)
    assert len(key) < 3 or key not in str(raised.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"retries": -1}, r"^retries must be 0 or more, not -1$"),
        ({"connect_timeout": 0}, r"^connect_?[tT]imeout must be a positive .*, not (0|PT0S)$"),
        ({"read_timeout": -5}, r"^read_?[tT]imeout must be a positive .*, not (-5|PT-5S)$"),
    ],
)
def test_negative_retries_and_timeouts_are_refused(option, message, make_client):
    with pytest.raises(ConfigurationError, match=message):
        make_client("k", "http://h", **option)


@pytest.mark.parametrize("url", ["http://[::1]:8000", "https://host.example.org./stage/", "HTTP://127.0.0.1:"])
def test_unusual_addresses_are_accepted(url, make_client):
    assert f"'{url.rstrip('/')}'" in repr(make_client("k", url))


@pytest.mark.parametrize(
    "url", ["http://user:pa55word@h", "ftp://:pa55word@h", "user:pa55word@h", "http://u:pa55word@[x"]
)
def test_a_password_in_an_address_is_refused_and_not_repeated(url, make_client):
    with pytest.raises(ConfigurationError, match="the service address contains '@': remove the user name") as raised:
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
def test_the_traceback_of_an_invalid_configuration_shows_no_key_and_no_password(key, url, monkeypatch):
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    try:
        Client(key, url)
    except ConfigurationError as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True).stack[1:]  # the SDK's own
    shown = "".join(traceback.StackSummary.from_list(frames).format())
    assert "_checked_url" in shown or "_checked_key" in shown
    assert SECRET not in shown
    assert "pa55word" not in shown


def test_an_address_that_requests_cannot_prepare_is_a_configuration_error():
    settings = {"connect_timeout": 1, "read_timeout": 1, "retries": 3}
    connection = HttpConnection("http://h:port", "k", user_agent="tests", **settings)
    with pytest.raises(ConfigurationError, match="'http://h:port' is not a valid service address"):
        connection.phases()


def test_an_invalid_proxy_is_a_failed_connection(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://a..b:80")
    monkeypatch.setenv("no_proxy", "")
    with Client("k", "http://h", retries=1) as client, pytest.raises(ConnectionFailedError, match="2 attempts"):
        client.phases()


# calls


def test_a_run_id_with_a_lone_surrogate_is_not_found(client_of):
    with serving(["a"]) as server, pytest.raises(NotFoundError):
        client_of(server).get_run("\ud800")


def test_a_run_id_that_is_a_number_is_refused():
    number: Any = 5
    with Client("k", "http://h") as client, pytest.raises(OrderError, match="must be a string, not int"):
        client.get_run(number)


def test_calls_of_a_closed_client_are_refused(make_client):
    client = make_client("k", "http://127.0.0.1:9")
    client.close()
    with pytest.raises(OrderError, match=r"^this client is closed: create a new one$"):
        client.phases()


def test_every_request_has_a_user_agent(client_of):
    with serving(["a"]) as server:
        client_of(server).phases()
        agent = server.service.headers[0]["user-agent"]
        assert re.fullmatch(
            rf"banditmt-client/{banditmt_client.__version__} (python/3\.\S+ requests/\S+|java/\S+)", agent
        )


@pytest.mark.parametrize("body", [{}, {"phases": 3}, {"phases": [{"phase": "dev", "state": "open", "total": "x"}]}])
def test_a_response_with_other_fields_is_a_protocol_error(body, client_of, monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setattr(server.service, "respond", lambda *_: (200, body))
        with pytest.raises(ProtocolError, match="check that the address is that of a banditmt service"):
            client_of(server).phases()


# retries


def test_a_service_that_is_not_there_cannot_be_reached(make_client):
    with pytest.raises(ConnectionFailedError, match=r"could not be reached \(Connect\w+, 3 attempts\)"):
        make_client("k", "http://127.0.0.1:9", retries=2).phases()


def test_every_retry_is_logged(caplog):
    caplog.set_level(logging.DEBUG, logger="banditmt_client")
    with Client("k", "http://127.0.0.1:9", retries=2) as client, pytest.raises(ConnectionFailedError):
        client.phases()
    assert caplog.text.count("retrying in") == 2


def test_a_response_that_does_not_arrive_in_time_is_a_failed_connection(client_of):
    slow = serving(["a"], ["delay-before"] * 2)
    with slow as server, pytest.raises(ConnectionFailedError, match="did not respond in time"):
        client_of(server, retries=1, read_timeout=0.1).phases()


def test_a_response_that_does_not_end_in_time_is_a_failed_connection(client_of):
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
def test_after_the_last_retry_the_error_is_raised(faults, error, client_of):
    with serving(["a"], faults) as server:
        with pytest.raises(error):
            client_of(server, retries=2).open_run(phase="dev", system="s")
        assert len(server.service.requests) == 3


@pytest.mark.parametrize("status", [400, 404, 408, 409, 413, 418, 425, 451, 499])
def test_errors_of_the_client_are_not_retried(status, client_of, monkeypatch):
    assert _attempts(status, client_of, monkeypatch) == 1


@pytest.mark.parametrize("status", [429, 500, 501, 502, 503, 504, 507, 520, 529, 599])
def test_throttling_and_errors_of_the_server_are_retried(status, client_of, monkeypatch):
    assert _attempts(status, client_of, monkeypatch) == 3


def _attempts(status, client_of, monkeypatch):
    """Return how often a client with two retries calls a service that always responds with this status."""
    with serving(["a"]) as server:
        monkeypatch.setattr(server.service, "respond", lambda *_: (status, {}))
        with pytest.raises(ServiceError, match=f"status {status}"):
            client_of(server, retries=2).phases()
        return len(server.service.requests)


def test_an_exceeded_quota_is_not_retried(client_of, monkeypatch):
    with serving(["a"]) as server:
        quota = (429, {"code": "quota_exceeded", "message": "used up", "request_id": ""})
        monkeypatch.setattr(server.service, "respond", lambda *_: quota)
        with pytest.raises(QuotaExceededError):
            client_of(server).phases()
        assert len(server.service.requests) == 1


def test_a_wrong_key_is_not_retried(make_client):
    with serving(["a"]) as server:
        with pytest.raises(AuthenticationError, match=r"^refused: invalid_key \[request r-1\]$") as raised:
            make_client(SECRET, server.url).open_run(phase="dev", system="s")
        assert len(server.service.requests) == 1
        assert (raised.value.code, raised.value.status, raised.value.request_id) == ("invalid_key", 403, "r-1")


@pytest.mark.parametrize(("status", "kind"), [(302, InvalidRequestError), (401, AuthenticationError)])
def test_redirects_are_not_followed_and_logins_not_attempted(status, kind, client_of, monkeypatch):
    with serving(["a"]) as server:
        monkeypatch.setattr(server.service, "respond", lambda *_: (status, {}))
        with pytest.raises(kind, match=f"status {status}"):
            client_of(server).phases()
        assert len(server.service.requests) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *[("", None), ("3", 3.0), ("1.5", 1.5), ("-3", 0.0), ("soon", None), ("NaN", None)],
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(header, seconds, sdk):
    assert sdk.parse_retry_after(header) == seconds


def test_retry_after_can_be_a_date_in_the_future(sdk):
    soon = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 1_000))
    assert 900 < sdk.parse_retry_after(soon) <= 1_000


def test_backoff_grows_exponentially_with_jitter(sdk):
    def pauses(attempt, retry_after=None):
        return [sdk.backoff_seconds(attempt, retry_after) for _ in range(20)]

    assert all(0.125 <= pause <= 0.25 for pause in pauses(0))
    assert all(15 <= pause <= 30 for pause in pauses(20))
    assert len(set(pauses(3))) > 1
    assert all(2 <= pause <= 2.0625 for pause in pauses(0, 2.0))
    assert max(pauses(0, 10_000.0)) <= 300.0625


# errors


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
def test_status_and_code_determine_the_class_of_an_error(status, code, kind, sdk):
    error = sdk.error_for_response(status, code)
    assert type(error) is kind
    assert isinstance(error, BanditError)
    assert str(error) == f"the service responded with status {status} [request r-7]"


@pytest.mark.parametrize(("body", "run"), [({"run": RUN}, RUN), ({}, ""), ({"run": None}, ""), ({"run": 7}, "")])
def test_a_conflict_names_the_finished_run(body, run, client_of, monkeypatch):
    with serving(["a"]) as server:
        conflict = (409, {"code": "already_played", "message": "only once", "request_id": "r-1", **body})
        with monkeypatch.context() as patch:
            patch.setattr(server.service, "respond", lambda *_: conflict)
            with pytest.raises(ConflictError, match="only once") as raised:
                client_of(server).open_run(phase="dev", system="tested")
        assert (raised.value.run, raised.value.code) == (run, "already_played")
        if run:
            assert client_of(server).get_run(raised.value.run).id == RUN


# secrets and weight


def test_the_key_is_in_no_repr_log_or_traceback(caplog):
    caplog.set_level(logging.DEBUG)
    with serving(["a"], ["error-500-before", "drop-before"]) as server, Client(SECRET, server.url) as client:
        with pytest.raises(AuthenticationError) as raised:
            client.open_run(phase="dev", system="s")
        shown = repr(client) + str(raised.getrepr(showlocals=True)) + caplog.text
    with Client(SECRET, "http://127.0.0.1:9", retries=1) as client, pytest.raises(ConnectionFailedError) as failed:
        client.phases()
    assert SECRET not in shown + str(failed.getrepr(showlocals=True)) + caplog.text


def test_importing_the_sdk_loads_little_more_than_requests():
    program = (
        "import sys, requests; before = set(sys.modules); import banditmt_client; print(*set(sys.modules) - before)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True).split()
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    assert foreign == {"banditmt_client"}
    assert len(loaded) < 30  # benchmarks/sdk.py measures how long it takes
