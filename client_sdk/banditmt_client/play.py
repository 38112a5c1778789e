"""``banditmt-play``: play a shared task with any translator that reads and writes lines.

The translator is started once. It reads one source sentence per line from its standard input and writes one translation
per line to its standard output, and must flush its output after each line. Lines are UTF-8 and end with a line feed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, cast

from banditmt_client._version import __version__
from banditmt_client.client import KEY_VARIABLE, URL_VARIABLE, Client
from banditmt_client.errors import BanditError
from banditmt_client.run import Run

ROUNDS_PER_REPORT = 100
SILENCE_WARNING_SECONDS = 10.0  # without output, until a warning says what may be wrong


class TranslatorError(Exception):
    """The translator could not be started, or stopped translating."""


class LineTranslator:
    """A child process that translates line by line. A context manager that stops the process on exit.

    Args:
        command: The program and its arguments.

    Raises:
        TranslatorError: The program could not be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        try:
            # In bytes: text mode would also end a line at a carriage return, and every later line would be off by one.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as problem:
            raise TranslatorError(f"cannot start {command[0]!r}: {problem.strerror or problem}") from None
        self._input, self._output = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._warned = False

    def __enter__(self) -> LineTranslator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the translator may have exited already
            self._input.close()
        self._output.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def translate(self, source: str) -> str:
        """Write one line to the translator and return the line that it writes.

        Args:
            source: The source sentence.

        Returns:
            The translation, with each run of white space replaced by one space. The source if the line is empty,
            because the protocol has no empty translations.

        Raises:
            TranslatorError: The translator exited, or its output is not UTF-8.
        """
        try:
            self._input.write(source.encode() + b"\n")
            self._input.flush()
            line = self._read_line().decode()
        except (OSError, UnicodeError) as problem:
            raise TranslatorError(f"communication with the translator failed: {problem}") from None
        if not line:
            status = self._process.wait()
            raise TranslatorError(f"the translator exited with code {status} before it translated {source!r}")
        return " ".join(line.split()) or source

    def _read_line(self) -> bytes:
        """Return the next line, however long it takes. The first long silence causes a warning."""
        if self._warned:
            return self._output.readline()
        timer = threading.Timer(SILENCE_WARNING_SECONDS, self._warn)
        timer.daemon = True
        timer.start()
        try:
            return self._output.readline()
        finally:
            timer.cancel()

    def _warn(self) -> None:
        self._warned = True
        print(
            f"banditmt-play: no output from the translator for {SILENCE_WARNING_SECONDS:g} s, still waiting; "
            "it must flush its output after every line",
            file=sys.stderr,
            flush=True,
        )


def play(run: Run, translator: LineTranslator, *, report: IO[str]) -> None:
    """Translate all sentences of a run that have no translation yet.

    Args:
        run: The run.
        translator: The translator.
        report: The stream to print progress to.

    Raises:
        BanditError: A call of the service failed; see ``banditmt_client.errors``.
        TranslatorError: The translator stopped translating.
    """
    print(
        f"{run.system}: run {run.id} of phase {run.phase}, at round {run.progress.index:,} of {run.total:,}",
        file=report,
    )
    for sentence in run:
        run.submit(translator.translate(sentence.source))
        progress = run.progress
        if progress.index % ROUNDS_PER_REPORT == 0 or progress.finished:
            mean = progress.cumulative_reward / progress.index
            print(f"{progress.index:,} of {progress.total:,} rounds, mean reward {mean:.4f}", file=report, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="banditmt-play",
        description="Play a shared task with a translator that reads source lines and writes translation lines.",
        epilog=f"The API key is read from {KEY_VARIABLE}, the service address from {URL_VARIABLE} or --url. "
        "An interrupted run resumes where it stopped.",
    )
    parser.add_argument("--phase", required=True, help="the phase to play, such as mock, dev or training")
    parser.add_argument("--system", required=True, help="the name of your system on the leaderboard")
    parser.add_argument("--url", help="the address of the service")
    parser.add_argument("--version", action="version", version=f"banditmt-play {__version__}")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the translator and its arguments, after --")
    return parser


def _missing_setting(url: str | None) -> str:
    """Return what is missing and how to set it, or an empty string.

    ``Client`` checks the same, but recommends arguments of Python calls, which this command does not have.
    """
    if not os.environ.get(KEY_VARIABLE, "").strip():
        return f"no API key: set {KEY_VARIABLE} (the organiser issues keys)"
    if not (url or os.environ.get(URL_VARIABLE, "")).strip():
        return f"no service address: set {URL_VARIABLE} or pass --url"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console script.

    Args:
        arguments: The command line. Default: that of the process.

    Returns:
        The exit code: 0 on success, 1 on failure, 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    if missing := _missing_setting(options.url):
        print(f"banditmt-play: {missing}", file=sys.stderr)
        return 1
    try:
        with Client(url=options.url) as client, LineTranslator(options.command) as translator:
            play(client.open_run(phase=options.phase, system=options.system), translator, report=sys.stderr)
    except (BanditError, TranslatorError) as problem:
        print(f"banditmt-play: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("banditmt-play: interrupted; run the same command again to resume", file=sys.stderr)
        return 130
    return 0
