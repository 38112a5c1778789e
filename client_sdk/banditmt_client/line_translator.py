"""A child process that translates line by line, and may learn from the feedback on each translation.

The protocol between the two processes, in lines of UTF-8 that end with a line feed:

1. The child reads a source sentence from its standard input.
2. The child writes a translation to its standard output. It must flush its output after every line; Python children
   are started so that they do.
3. Only if the child learns: it reads the feedback as one JSON object, ``{"score": 0.25, "post_edit": "..."}``. The
   post-edit is null in phases whose feedback is a score alone.

At the end of the run, or when the run is interrupted, the standard input of the child ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, cast

SILENCE_WARNING_SECONDS = 10.0  # without output, until a warning says what may be wrong
FEEDBACK_BEGINNING = '{"score":'
EXIT_SECONDS = 30.0  # for a child to save what it has learned, before it is killed


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
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            # In bytes: text mode would also end a line at a carriage return, and every later line would be off by one.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
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
            self._process.wait(timeout=EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def translate(self, source: str) -> str:
        """Write one line to the translator and return the line that it writes.

        Args:
            source: The source sentence.

        Returns:
            The translation, with each run of white space replaced by one space.

        Raises:
            TranslatorError: The translator exited, or its output is empty, not UTF-8, or the feedback that it should
                have read.
        """
        try:
            with suppress(BrokenPipeError):  # the translator has exited: there is nothing to read either
                self._write_line(source)
            line = self._read_line().decode()
        except (OSError, UnicodeError) as problem:
            raise TranslatorError(f"communication with the translator failed: {problem}") from None
        if not line:
            status = self._process.wait()
            raise TranslatorError(f"the translator exited with code {status} before it translated {source!r}")
        translation = " ".join(line.split())
        if translation.startswith(FEEDBACK_BEGINNING):  # tokenised text has no such token
            raise TranslatorError(
                "the translator translated its feedback: with --feedback, let it read a line of JSON after each "
                "translation"
            )
        if not translation:
            raise TranslatorError(
                f"the translator wrote an empty line for {source!r}: there are no empty translations, "
                "so let it write its best guess, such as the source sentence itself"
            )
        return translation

    def learn(self, score: float, post_edit: str | None) -> None:
        """Write the feedback on the last translation to the translator, as one line of JSON.

        Args:
            score: The reward of the translation.
            post_edit: The correct translation, if the phase shows it.

        Raises:
            TranslatorError: The translator exited.
        """
        try:
            self._write_line(json.dumps({"score": score, "post_edit": post_edit}, ensure_ascii=False))
        except OSError as problem:
            raise TranslatorError(f"the translator did not read its feedback: {problem}") from None

    def _write_line(self, text: str) -> None:
        self._input.write(text.encode() + b"\n")
        self._input.flush()

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
