"""``banditmt-play``: any program that reads and writes lines can play."""

import io
import json
import subprocess
import sys

import pytest

from banditmt_client import line_translator, play
from banditmt_client.line_translator import LineTranslator, TranslatorError
from tests.client_sdk.fake_service import KEY, RUN, score_of, serving

UPPERCASE = [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line.strip().upper())"]


@pytest.fixture
def run_play(monkeypatch, capsys):
    """A function that runs banditmt-play with a translator; returns exit code, standard error and translations."""

    def run(*command, options=(), sentences=("eins", "zwei drei"), post_edits=()):
        with serving(sentences, post_edits=post_edits) as server:
            monkeypatch.setenv("BANDITMT_API_KEY", KEY)
            monkeypatch.setenv("BANDITMT_URL", server.url)
            code = play.main(["--phase", "dev", "--system", "uppercase", *options, "--", *command])
            return code, capsys.readouterr().err, [translation for _, translation, _ in server.service.ledger]

    return run


def test_a_line_translator_plays_a_run(run_play):
    code, error, translations = run_play(*UPPERCASE)
    assert (code, translations) == (0, ["EINS", "ZWEI DREI"])
    assert "at round 0 of 2" in error
    assert "2 of 2 rounds, mean reward 0." in error


@pytest.mark.parametrize("empty", ["", " ", "\\t", "\\u3000"])
def test_an_empty_line_ends_the_run_with_advice(empty, run_play):
    code, error, translations = run_play(sys.executable, "-c", f"print(input()); input(); print('{empty}')")
    assert (code, translations) == (1, ["eins"])
    assert error.splitlines()[-1] == (
        "banditmt-play: the translator wrote an empty line for 'zwei drei': there are no empty translations, "
        "so let it write its best guess, such as the source sentence itself"
    )


def test_a_python_translator_need_not_flush(run_play, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    code, _, translations = run_play(sys.executable, "-c", "for _ in range(2): print(input().upper())")
    assert (code, translations) == (0, ["EINS", "ZWEI DREI"])


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
    monkeypatch.setattr(line_translator, "SILENCE_WARNING_SECONDS", 0.1)
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


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["--phase", "dev", "--system", "s"], "COMMAND"),
        (["--phase", "dev", "--", "cat"], "--system"),
        ([], "--phase, --system, COMMAND"),
    ],
)
def test_a_missing_argument_is_a_usage_error(arguments, missing, capsys):
    with pytest.raises(SystemExit) as stopped:
        play.main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.endswith(f"the following arguments are required: {missing}\n")


def test_progress_is_reported_every_hundred_rounds(run_play):
    reports = run_play(*UPPERCASE, sentences=["x"] * 150)[1].splitlines()
    assert [line.split(" rounds")[0] for line in reports[1:]] == ["100 of 150", "150 of 150"]


def test_the_streams_are_closed_even_if_the_translator_has_exited():
    with LineTranslator([sys.executable, "-c", ""]) as translator:
        translator._process.wait()
        with pytest.raises(TranslatorError):
            translator.translate("x" * 100_000)
        with pytest.raises(TranslatorError, match="did not read its feedback"):
            translator.learn(0.5, "x" * 100_000)


def test_a_translator_that_exited_between_two_sentences_tells_its_exit_code():
    with LineTranslator([sys.executable, "-c", "raise SystemExit(3)"]) as translator:
        translator._process.wait()
        with pytest.raises(TranslatorError, match=r"^the translator exited with code 3 before it translated 'eins'$"):
            translator.translate("eins")


# feedback

LEARNER = """
import json, sys
for line in sys.stdin:
    print(line.strip().upper())
    feedback = json.loads(input())
    print(json.dumps(feedback), file=open(sys.argv[1], "a"))
"""


def test_a_translator_that_learns_reads_scores_and_post_edits(run_play, tmp_path):
    learned = tmp_path / "learned"
    code, _, translations = run_play(
        *(sys.executable, "-c", LEARNER, str(learned)),
        options=["--feedback"],
        post_edits=["größe one", 'she said "two\\three"'],
    )
    assert (code, translations) == (0, ["EINS", "ZWEI DREI"])
    assert [json.loads(line) for line in learned.read_text().splitlines()] == [
        {"score": score_of("EINS"), "post_edit": "größe one"},
        {"score": score_of("ZWEI DREI"), "post_edit": 'she said "two\\three"'},
    ]


def test_in_a_bandit_phase_the_post_edit_is_null(run_play, tmp_path):
    learned = tmp_path / "learned"
    assert run_play(sys.executable, "-c", LEARNER, str(learned), options=["--feedback"])[0] == 0
    assert [json.loads(line)["post_edit"] for line in learned.read_text().splitlines()] == [None, None]


def test_feedback_is_one_line_with_the_score_first_in_utf_8(run_play, tmp_path):
    raw = tmp_path / "raw"
    program = (
        f"import sys\nfor line in sys.stdin.buffer: print('x'); open({str(raw)!r}, 'wb').write(next(sys.stdin.buffer))"
    )
    run_play(sys.executable, "-c", program, options=["--feedback"], sentences=["a"], post_edits=["größe"])
    assert raw.read_text(encoding="utf-8") == f'{{"score": {score_of("x")!r}, "post_edit": "größe"}}\n'


def test_a_translator_that_takes_feedback_for_a_sentence_ends_the_run_with_advice(run_play):
    code, error, translations = run_play("sed", "-u", "s/^/ /", options=["--feedback"])
    assert (code, translations) == (1, ["eins"])
    assert error.splitlines()[-1] == (
        "banditmt-play: the translator translated its feedback: with --feedback, let it read a line of JSON after each "
        "translation"
    )


def test_without_the_option_a_translator_reads_sentences_only(run_play):
    code, _, translations = run_play("sed", "-u", "s/^/> /", post_edits=["one", "two three"])
    assert (code, translations) == (0, ["> eins", "> zwei drei"])


def test_a_translator_has_time_to_save_what_it_learned(run_play, tmp_path):
    saved = tmp_path / "saved"
    program = "import sys, time\nfor line in sys.stdin: print('x'); input()\ntime.sleep(1); open(sys.argv[1], 'w')"
    assert run_play(sys.executable, "-c", program, str(saved), options=["--feedback"])[0] == 0
    assert saved.exists()


# another run after a finished one


class Terminal(io.StringIO):
    """What a participant types."""

    def isatty(self):
        return True


@pytest.fixture
def play_again(monkeypatch, capsys):
    """A function that finishes a run, then runs banditmt-play again; returns exit code, standard error and calls."""

    def run(*options, typed=None, repeatable=True):
        with serving(["eins"]) as server:
            monkeypatch.setenv("BANDITMT_API_KEY", KEY)
            monkeypatch.setenv("BANDITMT_URL", server.url)
            phase = {**server.service.phase(), "repeatable": repeatable}
            monkeypatch.setattr(server.service, "phase", lambda: phase)
            arguments = ["--phase", "dev", "--system", "mine", *options, "--", "cat"]
            assert play.main(arguments) == 0
            capsys.readouterr()
            monkeypatch.setattr(sys, "stdin", io.StringIO() if typed is None else Terminal(typed))
            server.service.requests.clear()
            code = play.main(arguments)
            return code, capsys.readouterr().err, server.service.requests.count(("POST", "/v1/runs"))

    return run


FINISHED = f"mine has finished phase dev with a mean reward of {score_of('eins'):.4f}"


def test_without_a_terminal_a_finished_run_is_not_started_again(play_again):
    assert play_again() == (1, f"banditmt-play: {FINISHED}; to start another run, pass --again\n", 1)


@pytest.mark.parametrize("typed", ["y\n", "Y\n", "yes\n"])
def test_on_a_terminal_the_participant_may_start_another_run(typed, play_again):
    code, error, openings = play_again(typed=typed)
    assert (code, openings) == (0, 2)
    assert error.startswith(f"{FINISHED}. Start another run? [y/N] ")


@pytest.mark.parametrize("typed", ["", "\n", "n\n", "what?\n"])
def test_any_other_reply_starts_nothing(typed, play_again):
    code, error, openings = play_again(typed=typed)
    assert (code, openings) == (1, 1)
    assert error == f"{FINISHED}. Start another run? [y/N] banditmt-play: nothing was started\n"


def test_with_again_another_run_is_started_without_a_question(play_again):
    code, error, openings = play_again("--again")
    assert (code, openings) == (0, 1)
    assert error == f"tested: run {RUN} of phase dev, at round 1 of 1\n"


def test_a_phase_that_can_be_played_once_is_refused_as_the_service_does(play_again):
    assert play_again(typed="y\n", repeatable=False) == (1, "banditmt-play: refused: already_played [request r-1]\n", 1)


# about


def test_about_prints_what_the_task_says_about_itself(monkeypatch, capsys):
    with serving(["eins"] * 1_200, post_edits=["one"] * 1_200, documents=[("d", n) for n in range(1_200)]) as server:
        monkeypatch.setenv("BANDITMT_API_KEY", KEY)
        monkeypatch.setenv("BANDITMT_URL", server.url + "/\n")
        assert play.main(["--about"]) == 0
    assert capsys.readouterr().out.replace(server.url, "SERVICE") == ABOUT


def test_about_needs_no_key(monkeypatch, capsys):
    with serving(["eins"] * 2) as server:
        monkeypatch.delenv("BANDITMT_API_KEY", raising=False)
        assert play.main(["--about", "--url", server.url]) == 0
    assert capsys.readouterr().out.startswith("A task of few words\nlanguages      de to en\n")


ABOUT = """\
A task of few words
languages      de to en
text           Lowercased Moses tokens.
signature      lower|moses
documents      the sentences of a document come together, in order
licence        CC0-1.0
out of domain  1,000 sentences of de (0.1 MB), 1,000 sentences of en (0.1 MB)
               https://example.org/text
               SERVICE/v1/files/en

phase  state  rounds  feedback   metric         opens (UTC)       closes (UTC)  runs left
dev    open   1,200   post-edit  sentence-bleu  2026-05-01 12:00  -             99
"""
