"""Any program that reads and writes lines can play, and says clearly when it cannot."""

import subprocess
import sys

import pytest

from banditmt_client import play
from tests.client_sdk.conformance import KEY, serving

SHOUT = [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line.strip().upper())"]


@pytest.fixture
def participate(monkeypatch, capsys):
    """Runs banditmt-play against a small task; returns exit code, what it said, and the ledger."""

    def run(*command, sentences=("eins", "zwei drei")):
        with serving(sentences) as server:
            monkeypatch.setenv("BANDITMT_API_KEY", KEY)
            monkeypatch.setenv("BANDITMT_URL", server.url)
            code = play.main(["--phase", "dev", "--system", "shout", "--", *command])
            return code, capsys.readouterr().err, [translation for _, translation, _ in server.task.ledger]

    return run


def test_a_line_translator_plays_a_run(participate):
    code, said, ledger = participate(*SHOUT)
    assert (code, ledger) == (0, ["EINS", "ZWEI DREI"])
    assert "at round 0 of 2" in said
    assert "2 of 2 rounds, mean reward 0." in said


def test_an_empty_answer_becomes_the_source(participate):
    code, _, ledger = participate(sys.executable, "-u", "-c", "for _ in range(2): input(); print()")
    assert (code, ledger) == (0, ["eins", "zwei drei"])


def test_tabs_and_blanks_become_one_blank(participate):
    assert participate(sys.executable, "-u", "-c", "for _ in range(2): input(); print(' a\\t\\tb ')")[2] == [
        "a b",
        "a b",
    ]


@pytest.mark.parametrize("within", ["\\r", "\\r\\r", "\\x0b", "\\x0c", "\\x1c", "\\x85", "\\u2028", "\\u2029"])
def test_only_a_line_feed_ends_an_answer(within, participate):
    answering = f"for _ in range(2): sys.stdout.buffer.write((input() + '{within}b\\n').encode())"
    code, _, ledger = participate(sys.executable, "-u", "-c", f"import sys\n{answering}", sentences=["eins", "zwei"])
    assert (code, ledger) == (0, ["eins b", "zwei b"])


def test_lines_may_end_as_on_windows(participate):
    answering = "for _ in range(2): sys.stdout.buffer.write(input().encode() + b'\\r\\n')"
    assert participate(sys.executable, "-u", "-c", f"import sys\n{answering}")[2] == ["eins", "zwei drei"]


def test_umlauts_go_both_ways_whatever_the_locale_says(participate, monkeypatch):
    monkeypatch.setenv("PYTHONUTF8", "0")
    echo = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
    assert participate(sys.executable, "-u", "-c", echo, sentences=["größe 東京 𝄞"])[2] == ["größe 東京 𝄞"]


def test_a_silent_translator_is_explained_once_and_waited_for(participate, monkeypatch):
    monkeypatch.setattr(play, "SILENCE", 0.1)
    slow = "import time\nfor _ in range(3): line = input(); time.sleep(0.5); print(line)"
    code, said, ledger = participate(sys.executable, "-u", "-c", slow, sentences=["eins", "zwei", "drei"])
    assert (code, ledger) == (0, ["eins", "zwei", "drei"])
    assert said.splitlines()[1:-1] == [
        "banditmt-play: the translator has not answered for 0.1 s; it must flush its output after every line (waiting)"
    ]


def test_a_quick_translator_is_not_explained_anything(participate):
    assert "flush" not in participate(*SHOUT)[1]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["/no/such/translator"], "cannot start '/no/such/translator': No such file or directory"),
        ([sys.executable, "-c", "input(); raise SystemExit(3)"], "ended (exit code 3) without answering 'eins'"),
        ([sys.executable, "-c", "import sys; input(); sys.stdout.buffer.write(b'\\xff\\n')"], "broke off"),
    ],
)
def test_a_translator_that_fails_is_named(command, complaint, participate):
    code, said, ledger = participate(*command)
    assert (code, ledger) == (1, [])
    assert complaint in said.splitlines()[-1]


def test_a_translator_that_does_not_stop_is_stopped(monkeypatch, participate):
    waiting = "import sys, time\nfor line in sys.stdin: print(line.strip())\nsys.stdout.flush()\ntime.sleep(60)"
    monkeypatch.setattr(subprocess.Popen, "wait", _impatient(subprocess.Popen.wait))
    assert participate(sys.executable, "-u", "-c", waiting)[0] == 0


def _impatient(wait):
    return lambda process, timeout=None: wait(process, timeout and 0.1)


def test_interrupting_says_how_to_go_on(monkeypatch, participate):
    def interrupt(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "play", interrupt)
    code, said, _ = participate(*SHOUT)
    assert (code, said) == (130, "banditmt-play: interrupted; the same command goes on where this one stopped\n")


def test_without_a_key_it_says_what_to_set(monkeypatch, capsys):
    monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
    assert play.main(["--phase", "dev", "--system", "s", "--url", "http://h", "--", "cat"]) == 1
    said = capsys.readouterr().err
    assert said == "banditmt-play: no API key: set BANDITMT_API_KEY (the organiser hands it out)\n"


def test_without_an_address_it_names_the_option_that_it_has(monkeypatch, capsys):
    monkeypatch.setenv("BANDITMT_API_KEY", KEY)
    monkeypatch.delenv("BANDITMT_URL", raising=False)
    assert play.main(["--phase", "dev", "--system", "s", "--", "cat"]) == 1
    assert capsys.readouterr().err == "banditmt-play: where is the service? Set BANDITMT_URL or pass --url\n"


def test_a_missing_command_is_wrong_usage(capsys):
    with pytest.raises(SystemExit) as stopped:
        play.main(["--phase", "dev", "--system", "s"])
    assert stopped.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_progress_is_reported_every_hundred_rounds(participate):
    said = participate(*SHOUT, sentences=["x"] * 150)[1].splitlines()
    assert [line.split(" rounds")[0] for line in said[1:]] == ["100 of 150", "150 of 150"]


def test_streams_are_closed_even_if_the_translator_is_gone():
    with play.LineTranslator([sys.executable, "-c", ""]) as translator:
        translator._process.wait()
        with pytest.raises(play.TranslatorError):
            translator.translate("x" * 100_000)
