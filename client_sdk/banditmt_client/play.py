"""``banditmt-play``: play a shared task with any translator that reads and writes lines.

The translator is started once. It reads one source sentence per line and writes one translation per line; with
``--feedback`` it then reads one line of JSON with the score of that translation. ``line_translator`` has the details.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import IO

from banditmt_client._version import __version__
from banditmt_client.about import describe
from banditmt_client.client import KEY_VARIABLE, URL_VARIABLE, Client
from banditmt_client.errors import BanditError, ConflictError
from banditmt_client.line_translator import LineTranslator, TranslatorError
from banditmt_client.run import Run
from banditmt_client.text import printable

ROUNDS_PER_REPORT = 100


class FinishedError(Exception):
    """The system has finished the phase, and the participant did not ask for another run."""


def play(run: Run, translator: LineTranslator, *, report: IO[str], feedback: bool = False) -> None:
    """Translate all sentences of a run that have no translation yet.

    Args:
        run: The run.
        translator: The translator.
        report: The stream to print progress to.
        feedback: Whether the translator reads the feedback on each translation.

    Raises:
        BanditError: A call of the service failed; see ``banditmt_client.errors``.
        TranslatorError: The translator stopped translating.
    """
    begin = f"{run.system}: run {run.id} of phase {run.phase}, at round {run.progress.index:,} of {run.total:,}"
    print(printable(begin), file=report)
    for sentence in run:
        score = run.submit(translator.translate(sentence.source))
        if feedback:
            translator.learn(score, run.last.post_edit if run.last else None)
        progress = run.progress
        if progress.index % ROUNDS_PER_REPORT == 0 or progress.finished:
            mean = progress.cumulative_reward / progress.index
            print(f"{progress.index:,} of {progress.total:,} rounds, mean reward {mean:.4f}", file=report, flush=True)


def open_run(client: Client, phase: str, system: str, *, again: bool) -> Run:
    """Return a new or unfinished run. After a finished run, ask on the terminal before another one is started.

    Args:
        client: The client.
        phase: The phase.
        system: The name of the system.
        again: Whether to start another run without asking.

    Raises:
        FinishedError: The system has finished the phase, and another run was not asked for.
        BanditError: A call of the service failed; see ``banditmt_client.errors``.
    """
    try:
        return client.open_run(phase=phase, system=system, again=again)
    except ConflictError as conflict:
        if not conflict.run or not _is_repeatable(client, phase):
            raise
        progress = client.get_run(conflict.run).progress
    what = (
        f"{system} has finished phase {phase} with a mean reward of {progress.cumulative_reward / progress.total:.4f}"
    )
    if not sys.stdin.isatty():
        raise FinishedError(f"{what}; to start another run, pass --again")
    print(f"{what}. Start another run? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise FinishedError("nothing was started")
    return client.open_run(phase=phase, system=system)


def _is_repeatable(client: Client, name: str) -> bool:
    return any(phase.repeatable for phase in client.phases() if phase.name == name)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="banditmt-play",
        description="Play a shared task with a translator that reads source lines and writes translation lines.",
        epilog=f"The API key is read from {KEY_VARIABLE}, the service address from {URL_VARIABLE} or --url. "
        "An interrupted run resumes where it stopped.",
    )
    parser.add_argument("--about", action="store_true", help="print what the task says about itself, and play nothing")
    parser.add_argument("--phase", help="the phase to play, such as mock, dev or training")
    parser.add_argument("--system", help="the name of your system on the leaderboard")
    parser.add_argument("--url", help="the address of the service")
    parser.add_argument(
        "--feedback",
        action="store_true",
        help="after each translation, write a line of JSON with its score (and post_edit, or null) to the translator",
    )
    parser.add_argument("--again", action="store_true", help="start another run if the last one is finished")
    parser.add_argument("--version", action="version", version=f"banditmt-play {__version__}")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="the translator and its arguments, after --")
    return parser


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    required = {"--phase": options.phase, "--system": options.system, "COMMAND": options.command}
    missing = [name for name, value in required.items() if not value]
    if missing and not options.about:
        parser.error(f"the following arguments are required: {', '.join(missing)}")
    return options


def _has_key() -> bool:
    return bool(os.environ.get(KEY_VARIABLE, "").strip())


def _missing_setting(options: argparse.Namespace) -> str:
    """Return what is missing and how to set it, or an empty string.

    ``Client`` checks the same, but recommends arguments of Python calls, which this command does not have.
    """
    if not options.about and not _has_key():
        return f"no API key: set {KEY_VARIABLE} (the organiser issues keys)"
    if not (options.url or os.environ.get(URL_VARIABLE, "")).strip():
        return f"no service address: set {URL_VARIABLE} or pass --url"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console script.

    Args:
        arguments: The command line. Default: that of the process.

    Returns:
        The exit code: 0 on success, 1 on failure, 130 after Ctrl-C.
    """
    options = _parse(arguments)
    if missing := _missing_setting(options):
        print(f"banditmt-play: {missing}", file=sys.stderr)
        return 1
    try:
        with Client(url=options.url, anonymous=not _has_key()) as client:
            if options.about:  # public, but only a participant has runs left
                print(describe(client.task(), options.url or os.environ[URL_VARIABLE]))
                return 0
            run = open_run(client, options.phase, options.system, again=options.again)
            with LineTranslator(options.command) as translator:
                play(run, translator, report=sys.stderr, feedback=options.feedback)
    except (BanditError, TranslatorError, FinishedError) as problem:
        print(f"banditmt-play: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("banditmt-play: interrupted; run the same command again to resume", file=sys.stderr)
        return 130
    return 0
