"""What is Java's own: its JSON, its configuration, its silence about keys. The other files here test both SDKs."""

import os
import re
import subprocess
import time
from xml.etree import ElementTree

import pytest

import banditmt_client
from banditmt_client import (
    AuthenticationError,
    BanditError,
    ConfigurationError,
    ConnectionFailedError,
    OrderError,
    ServiceError,
)
from banditmt_client.errors import BY_CODE, BY_STATUS, refusal
from tests.client_sdk.conformance import KEY, serving
from tests.client_sdk.java import JAVA, java
from tests.client_sdk.test_client import NO_ADDRESSES

SECRET = "k3y-that-nobody-may-see"


def run_java(classes, *arguments, **environment):
    """Run a class to its end; returns exit code, output, and what it said besides."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BANDITMT_")}
    done = subprocess.run(
        java(classes, *arguments), env={**clean, **environment}, capture_output=True, encoding="utf-8", timeout=300
    )
    return done.returncode, done.stdout, done.stderr


def test_json_is_read_strictly_and_written_soundly(java_classes):
    code, output, complaint = run_java(java_classes, "org.banditmt.client.JsonChecks")
    assert (code, complaint) == (0, "")
    assert re.fullmatch(r"\d{3} checks\n", output)


def test_the_example_plays_with_key_and_address_from_the_environment(java_classes):
    sentences = ["größe xl", "farbe blau"]
    with serving(sentences) as server:
        environment = {"BANDITMT_API_KEY": KEY + "\n", "BANDITMT_URL": server.url + "/\n"}
        code, output, complaint = run_java(java_classes, "-Dfile.encoding=UTF-8", "CopySource", **environment)
        scores = [score for _, _, score in server.task.ledger]
    assert (code, complaint) == (0, "")
    assert output.splitlines() == [
        f"0\t{scores[0]:.4f}\tgröße xl",
        f"1\t{scores[1]:.4f}\tfarbe blau",
        f"mean reward {sum(scores) / 2:.4f}",
    ]


def test_without_an_environment_the_example_says_what_is_missing(java_classes):
    code, _, complaint = run_java(java_classes, "CopySource")
    assert code == 1
    assert "ConfigurationError: where is the service? Set BANDITMT_URL" in complaint


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
def test_a_configuration_that_cannot_work_is_refused_at_once(key, url, complaint, java_side):
    with pytest.raises(ConfigurationError, match=complaint) as raised:
        java_side.client(key, url)
    assert len(key) < 3 or key not in str(raised.value)


@pytest.mark.parametrize("option", [{"retries": -1}, {"connect_timeout": 0}, {"read_timeout": -1}])
def test_patience_that_nobody_can_have_is_refused(option, java_side):
    with pytest.raises(ConfigurationError, match=r"not (-1|PT)"):
        java_side.client("k", "http://h", **option)


def test_phases_and_leaderboard(java_side):
    with serving(["a"]) as server:
        client = java_side.client(KEY, server.url)
        assert client.phases() == "[Phase[dev, open, 1, true]]"
        assert client.leaderboard("dev") == "{phase=dev, rows=[]}"


def test_the_key_is_in_no_log_line(java_classes, tmp_path):
    logging = tmp_path / "logging.properties"
    handler = "java.util.logging.ConsoleHandler"
    logging.write_text(f"handlers={handler}\n{handler}.level=ALL\norg.banditmt.level=ALL\n")
    with serving(["a"], ["error-500-before", "drop-before"]) as server:
        environment = {"BANDITMT_API_KEY": KEY, "BANDITMT_URL": server.url}
        loud = f"-Djava.util.logging.config.file={logging}"
        code, output, said = run_java(java_classes, loud, "CopySource", **environment)
    assert (code, said.count("trying again in")) == (0, 2)
    assert KEY not in output + said


def test_the_key_is_in_no_stack_trace(java_classes):
    with serving(["a"]) as server:
        environment = {"BANDITMT_API_KEY": SECRET, "BANDITMT_URL": server.url}
        code, output, said = run_java(java_classes, "CopySource", **environment)
    assert code == 1
    assert "AuthenticationError: refused: invalid_key [request r-1]" in said
    assert SECRET not in output + said


def test_a_client_shows_where_it_is_connected(java_side):
    assert (
        repr(java_side.client(SECRET, "http://127.0.0.1:9/stage/")) == "Client(Connection('http://127.0.0.1:9/stage'))"
    )


def test_a_wrong_key_is_not_tried_again(java_side):
    with serving(["a"]) as server:
        with pytest.raises(AuthenticationError, match=r"^refused: invalid_key \[request r-1\]$") as raised:
            java_side.client(SECRET, server.url).open_run(phase="dev", system="s")
        assert len(server.task.requests) == 1
        assert (raised.value.code, raised.value.status, raised.value.request_id) == ("invalid_key", 403, "r-1")


def test_a_service_that_is_not_there(java_side):
    with pytest.raises(ConnectionFailedError, match=r"could not be reached \(ConnectException, 3 tries\)"):
        java_side.client("k", "http://127.0.0.1:9", retries=2).phases()


def test_an_interrupted_thread_stops_waiting_and_stays_interrupted(java_side):
    with serving(["a"], ["delay-before"]) as server, pytest.raises(ConnectionFailedError, match="interrupted while"):
        java_side.client(KEY, server.url).phases(interrupted=True)


def test_a_closed_client_says_so(java_side):
    client = java_side.client("k", "http://127.0.0.1:9")
    client.close()
    with pytest.raises(OrderError, match="closed"):
        client.phases()


@pytest.mark.parametrize("status", [302, 400, 404, 408, 413, 500, 502, 599, *BY_STATUS])
@pytest.mark.parametrize("code", ["", "something", *BY_CODE])
def test_refusals_have_the_kind_that_python_gives_them(status, code, java_side):
    expected = refusal(status, code, "", "r-7")
    with pytest.raises(ServiceError) as raised:
        java_side.call("refusal", str(status), code)
    assert type(raised.value) is type(expected)
    assert str(raised.value) == str(expected)


def test_every_error_of_one_sdk_is_an_error_of_the_other():
    java_errors = re.findall(
        r"class (\w+Error) extends", (JAVA / "src/main/java/org/banditmt/client/BanditError.java").read_text()
    )
    python_errors = [name for name in banditmt_client.__all__ if name.endswith("Error")]
    assert sorted(java_errors) == sorted(python_errors)
    assert all(issubclass(getattr(banditmt_client, name), BanditError) for name in python_errors)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("", None), ("3", 3.0), ("1.5", 1.5), ("-3", 0.0), ("soon", None), ("NaN", None)],
)
def test_retry_after_in_seconds(header, seconds, java_side):
    answer = java_side.call("retry_after", header)
    assert answer == ({} if seconds is None else {"seconds": str(seconds)})


def test_retry_after_as_a_date(java_side):
    assert java_side.call("retry_after", "Wed, 21 Oct 2015 07:28:00 GMT") == {"seconds": "0.0"}
    soon = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 1_000))
    assert 900 < float(java_side.call("retry_after", soon)["seconds"]) <= 1_000


def test_pauses_grow_and_are_jittered(java_side):
    def pauses(attempt, wished=None):
        return [float(java_side.call("pause", str(attempt), wished)["seconds"]) for _ in range(20)]

    assert all(0.125 <= pause <= 0.25 for pause in pauses(0))
    assert all(15 <= pause <= 30 for pause in pauses(20))
    assert len(set(pauses(3))) > 1
    assert all(2 <= pause <= 2.0625 for pause in pauses(0, "2"))
    assert max(pauses(0, "10000")) <= 300.0625


def test_both_sdks_and_the_pom_have_one_version():
    pom = ElementTree.parse(JAVA / "pom.xml").findtext("{http://maven.apache.org/POM/4.0.0}version")
    client = (JAVA / "src/main/java/org/banditmt/client/Client.java").read_text()
    assert pom == banditmt_client.__version__
    assert f'VERSION = "{pom}"' in client
