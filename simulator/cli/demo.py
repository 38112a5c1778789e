"""``banditmt demo``: a whole competition as a few commands, which the reader could type as well.

All files are in one folder. A step whose result is there is skipped, and an interrupted step resumes.
"""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.console import Console
from rich.padding import Padding

from lambdas.store import Store, open_store
from leaderboard.families import HOUSE_PARTICIPANT
from simulator.cli.extras import check_extras
from simulator.demonstration import finished_rows, learner_gains
from simulator.tasks import DEMO, DEMO_STORE, DEMO_TASK

PHASE = "dev"
STATIC = "BNMT-static"
ORACLE = "BNMT-oracle"
LEARNERS = ("BNMT-SZO-CV", "BNMT-EL-VALUE", "BNMT-REPLAY", "BNMT-EL-CV")
SYSTEMS = (*LEARNERS, STATIC, ORACLE, "word-for-word", "copy-source")  # the slow ones first: all cores end together


@dataclass(frozen=True)
class DemoOptions:
    """Further options of the commands that make the task and the seed models."""

    synth: tuple[str, ...] = ()
    pretrain: tuple[str, ...] = ("--steps", "1000")
    pretrain_oracle: tuple[str, ...] = ("--steps", "400")  # fewer: it starts from the trained seed model


def demo() -> None:
    """Run a small competition, from the task to the leaderboard.

    Makes a small synthetic task, lets eight systems play it, and shows the leaderboard. This takes some minutes
    the first time, and seconds after that.
    """
    check_extras("learners", "figures")
    run_demo(DEMO)


def run_demo(folder: Path, options: DemoOptions | None = None) -> None:
    """Run the demo with all its files in this folder."""
    _Demo(folder, options or DemoOptions()).run()


class _Demo:
    def __init__(self, folder: Path, options: DemoOptions) -> None:
        self._folder, self._options = folder, options
        self._task = folder / DEMO_TASK.name
        self._store = f"sqlite:{folder / DEMO_STORE.name}"
        self._page = folder / "page"
        self._models_option = ("--models", str(folder / "models"))
        self._console = Console(highlight=False)

    def run(self) -> None:
        self._make_task()
        with self._opened_store() as store:
            finished = finished_rows(store, PHASE, HOUSE_PARTICIPANT)
        unfinished = [name for name in SYSTEMS if name not in finished]
        if unfinished:
            self._train_seed_models(unfinished)
            self._compete(unfinished)
        self._show_leaderboard()
        self._explain_results()
        self._export_figures()
        self._suggest_commands()

    def _make_task(self) -> None:
        self._print(
            "The task: translate German product texts into English. There is news-like text to pre-train on. All of it"
            " is synthetic, so there can be any amount of it; `banditmt corpus import` reads real text."
        )
        if self._task.exists():
            self._print(f"{self._task} exists already.")
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._run_command("corpus", "synth", "--out", str(self._task), *self._options.synth)

    def _train_seed_models(self, systems: Sequence[str]) -> None:
        self._print(
            "The seed models: a small translation model of the news-like text, from which all learners start; the"
            " oracle, which is the same model trained further on the references; and a dictionary. You can press"
            " Ctrl-C at any time: `banditmt demo` resumes where it was interrupted."
        )
        others = [name for name in systems if name != ORACLE]
        for names, options in ((others, self._options.pretrain), ([ORACLE], self._options.pretrain_oracle)):
            if names:
                self._run_command("pretrain", *names, "--task", str(self._task), *self._models_option, *options)

    def _compete(self, systems: Sequence[str]) -> None:
        self._print(
            "The competition: each system gets one sentence at a time, proposes one translation, and receives one"
            " number between 0 and 1 for it, never a reference."
        )
        self._run_command(
            *("compete", *systems, "--phase", PHASE, "--task", str(self._task), "--store", self._store),
            *(*self._models_option, "--runs", str(self._folder / "runs")),
        )

    def _show_leaderboard(self) -> None:
        self._print("The leaderboard; oracle and baselines are known by their names:")
        self._run_command("leaderboard", "--phase", PHASE, "--store", self._store)

    def _explain_results(self) -> None:
        with self._opened_store() as store:
            gains = learner_gains(store, PHASE, HOUSE_PARTICIPANT, STATIC, LEARNERS)
        self._print(
            f"How to read it: reward is smoothed sentence BLEU, summed over all rounds; mean is the reward per round, ±"
            f" half of its 95 % interval. {STATIC} is the seed model, which does not learn. {ORACLE} has seen the"
            f" references. The difference between these two is the gap that learning can close, and gap is the share"
            f" of it that a system closed while it was still learning. regret is the reward per round that a system"
            f" lost against the oracle. Compared with the seed model, round by round:"
        )
        for gain in gains:
            self._console.print(Padding(f"- {gain}", (0, 0, 0, 2)))
        self._print(
            "This is one run of each system on a small task: other seeds and longer phases may give other results. The"
            " intervals cover chance in the sentences, not in the seeds."
        )

    def _export_figures(self) -> None:
        self._print("The same results as figures and as a page:")
        self._run_command(
            *("leaderboard", "--phase", PHASE, "--store", self._store),
            *("--figures", str(self._folder / "figures"), "--html", str(self._page)),
        )

    def _suggest_commands(self) -> None:
        store = shlex.join(("--store", self._store))
        run_options = f"{store} {shlex.join(self._models_option)} --runs {shlex.quote(str(self._folder / 'runs'))}"
        self._print("Next, try:")
        for command, purpose in (
            (f"serve {store}", "show the leaderboard page, and serve the task to a system of your own"),
            (f"corpus sample {self._task} --part {PHASE} -n 10", "show ten of the sentences to translate"),
            (f"leaderboard --phase {PHASE} {store} --latex", "print the table for a paper; also --csv and --json"),
            (f"admin verify {store}", "score every round again"),
            (f"compete BNMT-EL-VALUE BNMT-REPLAY --seeds 3 --phase {PHASE} {run_options}", "play with other seeds"),
            ("systems", "list all systems and their origins"),
        ):
            self._console.print(f"  banditmt {command}", soft_wrap=True)
            self._console.print(f"      {purpose}", style="dim")

    def _run_command(self, *words: str) -> None:
        """Show a command and run it as if it had been typed; an error ends the demo with the same exit code."""
        from simulator.cli import app  # imports this module

        self._console.print(f"$ banditmt {shlex.join(words)}", style="bold cyan", soft_wrap=True)
        code = int(app(list(words), prog_name="banditmt", standalone_mode=False) or 0)
        if code:
            raise typer.Exit(code)

    def _print(self, text: str) -> None:
        self._console.print(f"\n{text}", markup=False)

    @contextmanager
    def _opened_store(self) -> Iterator[Store]:
        store = open_store(self._store)
        store.prepare()
        try:
            yield store
        finally:
            store.close()
