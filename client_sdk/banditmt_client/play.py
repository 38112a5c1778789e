"""``banditmt-play``: lets any translator that reads lines and writes lines play a shared task.

The translator is started once. It is given one source sentence per line on its standard input and answers with one
translation per line on its standard output, flushing after each. Lines are UTF-8 and end with a line feed.
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

REPORT_EVERY = 100  # rounds
SILENCE = 10.0  # seconds until somebody who waits in vain is told what may be wrong


class TranslatorError(Exception):
    """The translator could not be started, or stopped answering."""


class LineTranslator:
    """A program that translates line by line."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            # bytes, because text would also end a line at a carriage return, and every later answer were one too late
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as problem:
            raise TranslatorError(f"cannot start {command[0]!r}: {problem.strerror or problem}") from None
        self._input, self._output = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._explained = False

    def __enter__(self) -> LineTranslator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the translator may be gone: there is nothing left to tell it
            self._input.close()
        self._output.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def translate(self, source: str) -> str:
        """One line in, one line out; an empty answer is replaced by the source, because something must be sent."""
        try:
            self._input.write(source.encode() + b"\n")
            self._input.flush()
            line = self._read_line().decode()
        except (OSError, UnicodeError) as problem:
            raise TranslatorError(f"the translator broke off: {problem}") from None
        if not line:
            status = self._process.wait()
            raise TranslatorError(f"the translator ended (exit code {status}) without answering {source!r}")
        return " ".join(line.split()) or source

    def _read_line(self) -> bytes:
        """The next line, however long it takes; the first long silence is explained."""
        if self._explained:
            return self._output.readline()
        clock = threading.Timer(SILENCE, self._explain)
        clock.daemon = True
        clock.start()
        try:
            return self._output.readline()
        finally:
            clock.cancel()

    def _explain(self) -> None:
        self._explained = True
        print(
            f"banditmt-play: the translator has not answered for {SILENCE:g} s; "
            "it must flush its output after every line (waiting)",
            file=sys.stderr,
            flush=True,
        )


def play(run: Run, translator: LineTranslator, *, report: IO[str]) -> None:
    """Answer every sentence of a run that is still to be answered."""
    print(
        f"{run.system}: run {run.id} of phase {run.phase}, at round {run.progress.index:,} of {run.total:,}",
        file=report,
    )
    for sentence in run:
        run.submit(translator.translate(sentence.source))
        played = run.progress
        if played.index % REPORT_EVERY == 0 or played.finished:
            mean = played.cumulative_reward / played.index
            print(f"{played.index:,} of {played.total:,} rounds, mean reward {mean:.4f}", file=report, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="banditmt-play",
        description="Play a shared task with a translator that reads source lines and writes translation lines.",
        epilog=f"The key comes from {KEY_VARIABLE}, the address from {URL_VARIABLE} or --url. "
        "A run that was interrupted goes on where it stopped.",
    )
    parser.add_argument("--phase", required=True, help="mock, dev or training")
    parser.add_argument("--system", required=True, help="the name of your system on the leaderboard")
    parser.add_argument("--url", help="the address of the service")
    parser.add_argument("--version", action="version", version=f"banditmt-play {__version__}")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the translator and its arguments, after --")
    return parser


def _missing(url: str | None) -> str:
    """What has not been said, and where it can be; the client would advise arguments that only programs have."""
    if not os.environ.get(KEY_VARIABLE, "").strip():
        return f"no API key: set {KEY_VARIABLE} (the organiser hands it out)"
    if not (url or os.environ.get(URL_VARIABLE, "")).strip():
        return f"where is the service? Set {URL_VARIABLE} or pass --url"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    wishes = _parser().parse_args(arguments)
    if missing := _missing(wishes.url):
        print(f"banditmt-play: {missing}", file=sys.stderr)
        return 1
    try:
        with Client(url=wishes.url) as client, LineTranslator(wishes.command) as translator:
            play(client.open_run(phase=wishes.phase, system=wishes.system), translator, report=sys.stderr)
    except (BanditError, TranslatorError) as problem:
        print(f"banditmt-play: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("banditmt-play: interrupted; the same command goes on where this one stopped", file=sys.stderr)
        return 130
    return 0
