"""What only the Java SDK has: its own JSON, environment variables, logging and threads. Other files test both SDKs."""

import re
import subprocess
from xml.etree import ElementTree

import pytest

import banditmt_client
from banditmt_client import BanditError, ConnectionFailedError
from banditmt_client.errors import ERRORS_BY_CODE, ERRORS_BY_STATUS, error_for_response
from tests.client_sdk.fake_service import KEY, serving
from tests.client_sdk.java_sdk import JAVA, environment_without_settings
from tests.client_sdk.java_sdk import java as java_command

SECRET = "k3y-that-nobody-may-see"


def run_java(classes, *arguments, **variables):
    """Run a class to its end; return exit code, standard output and standard error."""
    done = subprocess.run(
        java_command(classes, *arguments),
        env={**environment_without_settings(), **variables},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


def test_json_is_read_strictly_and_written_correctly(java_classes):
    code, output, error = run_java(java_classes, "org.banditmt.client.JsonChecks")
    assert (code, error) == (0, "")
    assert re.fullmatch(r"\d{3} checks\n", output)


def test_the_example_plays_with_key_and_address_from_the_environment(java_classes):
    sentences = ["größe xl", "farbe blau"]
    with serving(sentences) as server:
        variables = {"BANDITMT_API_KEY": KEY + "\n", "BANDITMT_URL": server.url + "/\n"}
        code, output, error = run_java(java_classes, "-Dfile.encoding=UTF-8", "CopySource", **variables)
        scores = [score for _, _, score in server.service.ledger]
    assert (code, error) == (0, "")
    assert output.splitlines() == [
        f"0\t{scores[0]:.4f}\tgröße xl",
        f"1\t{scores[1]:.4f}\tfarbe blau",
        f"mean reward {sum(scores) / 2:.4f}",
    ]


def test_without_environment_variables_the_example_says_what_is_missing(java_classes):
    code, _, error = run_java(java_classes, "CopySource")
    assert code == 1
    assert "ConfigurationError: no service address: set BANDITMT_URL" in error


def test_phases_and_leaderboard_are_returned(java):
    with serving(["a"]) as server:
        client = java.client(KEY, server.url)
        assert [phase.name for phase in client.phases()] == ["dev"]
        assert client.leaderboard("dev") == "{phase=dev, rows=[]}"


def test_the_key_is_in_no_log_line(java_classes, tmp_path):
    logging = tmp_path / "logging.properties"
    handler = "java.util.logging.ConsoleHandler"
    logging.write_text(f"handlers={handler}\n{handler}.level=ALL\norg.banditmt.level=ALL\n")
    with serving(["a"], ["error-500-before", "drop-before"]) as server:
        variables = {"BANDITMT_API_KEY": KEY, "BANDITMT_URL": server.url}
        verbose = f"-Djava.util.logging.config.file={logging}"
        code, output, error = run_java(java_classes, verbose, "CopySource", **variables)
    assert (code, error.count("retrying in")) == (0, 2)
    assert KEY not in output + error


def test_the_key_is_in_no_stack_trace(java_classes):
    with serving(["a"]) as server:
        variables = {"BANDITMT_API_KEY": SECRET, "BANDITMT_URL": server.url}
        code, output, error = run_java(java_classes, "CopySource", **variables)
    assert code == 1
    assert "AuthenticationError: refused: invalid_key [request r-1]" in error
    assert SECRET not in output + error


def test_the_string_form_of_a_client_shows_its_address_and_no_key(java):
    client = java.client(SECRET, "http://127.0.0.1:9/stage/")
    assert repr(client) == "Client(Connection('http://127.0.0.1:9/stage'))"


def test_an_interrupted_thread_stops_waiting_and_stays_interrupted(java):
    with serving(["a"], ["delay-before"]) as server, pytest.raises(ConnectionFailedError, match="interrupted while"):
        java.client(KEY, server.url).phases_interrupted()


@pytest.mark.parametrize("status", [302, 400, 404, 408, 413, 500, 502, 599, *ERRORS_BY_STATUS])
@pytest.mark.parametrize("code", ["", "something", *ERRORS_BY_CODE])
def test_every_status_and_code_gives_the_error_of_the_python_sdk(status, code, java):
    expected = error_for_response(status, code, "", "r-7")
    error = java.error_for_response(status, code)
    assert type(error) is type(expected)
    assert str(error) == str(expected)


def test_both_sdks_have_the_same_error_classes():
    java_errors = re.findall(
        r"class (\w+Error) extends", (JAVA / "src/main/java/org/banditmt/client/BanditError.java").read_text()
    )
    python_errors = [name for name in banditmt_client.__all__ if name.endswith("Error")]
    assert sorted(java_errors) == sorted(python_errors)
    assert all(issubclass(getattr(banditmt_client, name), BanditError) for name in python_errors)


def test_both_sdks_and_the_pom_have_the_same_version():
    pom = ElementTree.parse(JAVA / "pom.xml").findtext("{http://maven.apache.org/POM/4.0.0}version")
    client = (JAVA / "src/main/java/org/banditmt/client/Client.java").read_text()
    assert pom == banditmt_client.__version__
    assert f'VERSION = "{pom}"' in client
