"""``banditmt-play``: any program that reads and writes lines can play."""

import subprocess
import sys

import pytest

from banditmt_client import play
from tests.client_sdk.fake_service import KEY, serving

UPPERCASE = [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line.strip().upper())"]


@pytest.fixture
def run_play(monkeypatch, capsys):
    """A function that runs banditmt-play with a translator; returns exit code, standard error and translations."""

    def run(*command, sentences=("eins", "zwei drei")):
        with serving(sentences) as server:
            monkeypatch.setenv("BANDITMT_API_KEY", KEY)
            monkeypatch.setenv("BANDITMT_URL", server.url)
            code = play.main(["--phase", "dev", "--system", "uppercase", "--", *command])
            return code, capsys.readouterr().err, [translation for _, translation, _ in server.service.ledger]

    return run


def test_a_line_translator_plays_a_run(run_play):
    code, error, translations = run_play(*UPPERCASE)
    assert (code, translations) == (0, ["EINS", "ZWEI DREI"])
    assert "at round 0 of 2" in error
    assert "2 of 2 rounds, mean reward 0." in error


def test_an_empty_line_is_replaced_by_the_source(run_play):
    code, _, translations = run_play(sys.executable, "-u", "-c", "for _ in range(2): input(); print()")
    assert (code, translations) == (0, ["eins", "zwei drei"])


def test_runs_of_white_space_become_one_space(run_play):
    assert run_play(sys.executable, "-u", "-c", "for _ in range(2): input(); print(' a\\t\\tb ')")[2] == [
        "a b",
        "a b",
    ]


@pytest.mark.parametrize("separator", ["\\r", "\\r\\r", "\\x0b", "\\x0c", "\\x1c", "\\x85", "\\u2028", "\\u2029"])
def test_only_a_line_feed_ends_a_translation(separator, run_play):
    program = f"for _ in range(2): sys.stdout.buffer.write((input() + '{separator}b\\n').encode())"
    code, _, translations = run_play(sys.executable, "-u", "-c", f"import sys\n{program}", sentences=["eins", "zwei"])
    assert (code, translations) == (0, ["eins b", "zwei b"])


def test_lines_may_end_with_carriage_return_and_line_feed(run_play):
    program = "for _ in range(2): sys.stdout.buffer.write(input().encode() + b'\\r\\n')"
    assert run_play(sys.executable, "-u", "-c", f"import sys\n{program}")[2] == ["eins", "zwei drei"]


def test_lines_are_utf_8_in_any_locale(run_play, monkeypatch):
    monkeypatch.setenv("PYTHONUTF8", "0")
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
    assert run_play(sys.executable, "-u", "-c", echo, sentences=["größe 東京 𝄞"])[2] == ["größe 東京 𝄞"]


def test_a_slow_translator_causes_one_warning(run_play, monkeypatch):
    monkeypatch.setattr(play, "SILENCE_WARNING_SECONDS", 0.1)
    slow = "import time\nfor _ in range(3): line = input(); time.sleep(0.5); print(line)"
    code, error, translations = run_play(sys.executable, "-u", "-c", slow, sentences=["eins", "zwei", "drei"])
    assert (code, translations) == (0, ["eins", "zwei", "drei"])
    assert error.splitlines()[1:-1] == [
        "banditmt-play: no output from the translator for 0.1 s, still waiting; "
        "it must flush its output after every line"
    ]


def test_a_fast_translator_causes_no_warning(run_play):
    assert "flush" not in run_play(*UPPERCASE)[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["/no/such/translator"], "cannot start '/no/such/translator': No such file or directory"),
        (
            [sys.executable, "-c", "input(); raise SystemExit(3)"],
            "the translator exited with code 3 before it translated 'eins'",
        ),
        (
            [sys.executable, "-c", "import sys; input(); sys.stdout.buffer.write(b'\\xff\\n')"],
            "communication with the translator failed: ",
        ),
    ],
)
def test_a_translator_that_fails_ends_the_run(command, message, run_play):
    code, error, translations = run_play(*command)
    assert (code, translations) == (1, [])
    assert message in error.splitlines()[-1]


def test_a_translator_that_does_not_exit_is_killed(monkeypatch, run_play):
    program = "import sys, time\nfor line in sys.stdin: print(line.strip())\nsys.stdout.flush()\ntime.sleep(60)"
    monkeypatch.setattr(subprocess.Popen, "wait", _with_short_timeout(subprocess.Popen.wait))
    assert run_play(sys.executable, "-u", "-c", program)[0] == 0


def _with_short_timeout(wait):
    return lambda process, timeout=None: wait(process, timeout and 0.1)


def test_after_an_interrupt_the_message_says_how_to_resume(monkeypatch, run_play):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "play", interrupt)
    code, error, _ = run_play(*UPPERCASE)
    assert (code, error) == (130, "banditmt-play: interrupted; run the same command again to resume\n")


def test_without_a_key_the_message_names_the_variable(monkeypatch, capsys):
    monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
    assert play.main(["--phase", "dev", "--system", "s", "--url", "http://h", "--", "cat"]) == 1
    error = capsys.readouterr().err
    assert error == "banditmt-play: no API key: set BANDITMT_API_KEY (the organiser issues keys)\n"


def test_without_an_address_the_message_names_variable_and_option(monkeypatch, capsys):
    monkeypatch.setenv("BANDITMT_API_KEY", KEY)
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    assert play.main(["--phase", "dev", "--system", "s", "--", "cat"]) == 1
    assert capsys.readouterr().err == "banditmt-play: no service address: set BANDITMT_URL or pass --url\n"


def test_a_missing_command_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stopped:
        play.main(["--phase", "dev", "--system", "s"])
    assert stopped.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_progress_is_reported_every_hundred_rounds(run_play):
    reports = run_play(*UPPERCASE, sentences=["x"] * 150)[1].splitlines()
    assert [line.split(" rounds")[0] for line in reports[1:]] == ["100 of 150", "150 of 150"]


def test_the_streams_are_closed_even_if_the_translator_has_exited():
    with play.LineTranslator([sys.executable, "-c", ""]) as translator:
        translator._process.wait()
        with pytest.raises(play.TranslatorError):
            translator.translate("x" * 100_000)
