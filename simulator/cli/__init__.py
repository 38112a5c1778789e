"""The ``banditmt`` command: one module per group of commands, and one place that prints errors as one line.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted, 143 terminated.
"""

import io
import signal
import sys
from importlib.metadata import version
from types import FrameType
from typing import Annotated

import typer

from banditmt_client import BanditError, ConfigurationError
from banditmt_client.text import printable
from corpora.errors import CorpusError
from lambdas.errors import BadRequestError, OrganiserError, ServiceError
from lambdas.registry import UnknownPhaseError
from lambdas.store import StoreAddressError
from learners.errors import LearnerError, SettingError, UnknownSystemError
from simulator.cli import admin, corpus, demo, evaluate, leaderboard, offline, offsets, playing, serve, systems
from simulator.cli.extras import describe_missing
from simulator.errors import PlaceError, SimulatorError, TrackingError
from task.feedback import FeedbackError
from task.layout import LayoutError
from task.public_texts import PublicTextError
from task.times import TimeError

# Errors that a user can cause and correct: printed as one line. Anything else is a bug, and keeps its traceback.
EXPECTED_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    BanditError,
    CorpusError,
    FeedbackError,
    LayoutError,
    LearnerError,
    OrganiserError,
    PublicTextError,
    ServiceError,
    SimulatorError,
    TimeError,
)

# Of these, the errors in the command line itself, or in the environment variables that stand for options.
WRONG_USAGE: tuple[type[Exception], ...] = (
    BadRequestError,  # an invalid name
    ConfigurationError,
    PlaceError,
    PublicTextError,
    SettingError,
    StoreAddressError,
    TimeError,
    TrackingError,
    UnknownPhaseError,
    UnknownSystemError,
)

INTERRUPTED = 130  # the exit code of shells after Ctrl-C, and of typer after KeyboardInterrupt
TERMINATED = 143  # the exit code of shells after SIGTERM

_terminated = False  # whether SIGTERM, rather than Ctrl-C, ended the command

app = typer.Typer(
    name="banditmt",
    help="Run a bandit-learning shared task for machine translation, on this machine or in the cloud.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(demo.demo)
app.command()(serve.serve)
app.command()(leaderboard.leaderboard)
for command in (systems.pretrain, systems.systems, playing.play, playing.compete, offline.offline, offsets.offsets):
    app.command()(command)
app.add_typer(admin.app, name="admin")
app.add_typer(corpus.app)
app.add_typer(evaluate.app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"banditmt {version('banditmt')}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Accept the options that come before any command."""


def main() -> None:
    """Run the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without a character is no reason to fail
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run(sys.argv[1:]))


def _terminate(_signal: int, frame: FrameType | None) -> None:
    """End as after Ctrl-C, so that a terminated command cleans up, too. A second SIGTERM kills the process."""
    global _terminated
    _terminated = True
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    interrupt = signal.getsignal(signal.SIGINT)
    if not callable(interrupt):  # a command in the background of a shell ignores Ctrl-C
        raise KeyboardInterrupt
    interrupt(signal.SIGINT, frame)


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; an expected error is printed as one line."""
    try:
        exit_code = int(app(arguments or ["--help"], prog_name="banditmt", standalone_mode=False) or 0)
    except typer.TyperException as wrong:
        context = getattr(wrong, "ctx", None)
        if type(wrong).__name__ == "NoArgsIsHelpError":  # a group without a command: typer shows its help
            typer.echo(wrong.format_message(), err=True)
            return wrong.exit_code
        advice = f" (see: {context.command_path} --help)" if context else ""
        return _print_error(wrong.format_message() + advice, wrong.exit_code)
    except ModuleNotFoundError as missing:
        needed = describe_missing(missing)
        if needed is None:
            raise
        return _print_error(needed, 1)
    except EXPECTED_ERRORS as failure:
        return _print_error(_describe(failure), 2 if isinstance(failure, WRONG_USAGE) else 1)
    if exit_code == INTERRUPTED:
        return _print_error("terminated", TERMINATED) if _terminated else _print_error("interrupted", INTERRUPTED)
    return exit_code


def _describe(failure: Exception) -> str:
    """Return what went wrong; for an error of the operating system, the file first, and no number."""
    if isinstance(failure, OSError) and failure.filename is not None and failure.strerror:
        return f"{failure.filename}: {failure.strerror.lower()}"
    return str(failure)


def _print_error(message: str, exit_code: int) -> int:
    typer.echo(f"banditmt: {printable(' '.join(message.split()))}", err=True)
    return exit_code
