"""``banditmt demo``: the main job, end to end, as a few commands that the reader could type as well.

Everything is kept in one folder: what is there already is not made again, and what was interrupted goes on.
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
from simulator.demonstration import finished_rows, lessons
from simulator.tasks import DEMO, DEMO_STORE, DEMO_TASK

PARTICIPANT = "banditmt"  # as whom ``banditmt compete`` plays
PHASE = "dev"
STATIC = "BNMT-static"
ORACLE = "BNMT-oracle"
BASELINES = ("copy-source", "word-for-word", STATIC)
LEARNERS = ("BNMT-SZO-CV", "BNMT-EL-VALUE", "BNMT-REPLAY", "BNMT-EL-CV")
SYSTEMS = (*LEARNERS, STATIC, ORACLE, "word-for-word", "copy-source")  # the slow ones first: all cores end together


@dataclass(frozen=True)
class Sizes:
    """Further options of the commands that make the task and the seed models."""

    synth: tuple[str, ...] = ()
    pretrain: tuple[str, ...] = ("--steps", "1000")
    train_on: tuple[str, ...] = ("--steps", "400")  # the oracle, which begins where the others' model ends


def demo() -> None:
    """Make a small task, let eight systems play it, and judge them: some minutes the first time, seconds after."""
    demonstrate(DEMO)


def demonstrate(folder: Path, sizes: Sizes | None = None) -> None:
    """The demo in a folder of its own."""
    _Demonstration(folder, sizes or Sizes()).run()


class _Demonstration:
    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self._folder, self._sizes = folder, sizes
        self._task = folder / DEMO_TASK.name
        self._store = f"sqlite:{folder / DEMO_STORE.name}"
        self._page = folder / "page"
        self._kept = ("--models", str(folder / "models"))
        self._console = Console(highlight=False)

    def run(self) -> None:
        self._make_task()
        with self._opened_store() as store:
            finished = finished_rows(store, PHASE, PARTICIPANT)
        unplayed = [name for name in SYSTEMS if name not in finished]
        if unplayed:
            self._play(unplayed)
        self._judge()
        self._explain()
        self._draw()
        self._suggest()

    def _make_task(self) -> None:
        self._say(
            "A task: German product texts to be translated into English, with news-like text to train on before. It is"
            " synthetic, so there is as much of it as one likes; real text comes with `banditmt corpus import`."
        )
        if self._task.exists():
            self._say(f"{self._task} is there already.")
        else:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._type("corpus", "synth", "--out", str(self._task), *self._sizes.synth)

    def _play(self, systems: Sequence[str]) -> None:
        self._say(
            "Seed models: a small translation model of the news-like text, from which all learners start; the oracle,"
            " which is the same model trained on with the references; a dictionary. Ctrl-C at any time is fine:"
            " the demo goes on when it is begun again."
        )
        others = [name for name in systems if name != ORACLE]
        for names, options in ((others, self._sizes.pretrain), ([ORACLE], self._sizes.train_on)):
            if names:
                self._type("pretrain", *names, "--task", str(self._task), *self._kept, *options)
        self._say(
            "The competition: every system gets one sentence at a time, proposes one translation, and is told one"
            " number between 0 and 1 for it, never a reference."
        )
        self._type(
            *("compete", *systems, "--phase", PHASE, "--task", str(self._task), "--store", self._store),
            *(*self._kept, "--runs", str(self._folder / "runs")),
        )

    def _judge(self) -> None:
        self._say("The judge: who is measured against whom, and the leaderboard.")
        self._type("admin", "oracle", "set", PARTICIPANT, ORACLE, "--store", self._store)
        for name in BASELINES:
            self._type("admin", "baseline", "mark", PARTICIPANT, name, "--store", self._store)
        self._type("leaderboard", "--phase", PHASE, "--store", self._store)

    def _explain(self) -> None:
        with self._opened_store() as store:
            found = lessons(store, PHASE, PARTICIPANT, STATIC, LEARNERS)
        self._say(
            f"What you are looking at: reward is smoothed sentence BLEU, summed over all rounds; mean is per round, ±"
            f" half of its 95 % interval. {STATIC} is the seed model, which does not learn, and {ORACLE} has seen the"
            f" references: between the two lies what there is to win. gap is the share of it that a system won while"
            f" it was still learning; regret is what it lost per round against the oracle. Against the seed model,"
            f" round by round:"
        )
        for lesson in found:
            self._console.print(Padding(f"- {lesson}", (0, 0, 0, 2)))
        self._say(
            "One run each on a small task: other seeds and longer phases may end differently, and the intervals know of"
            " the sentences only, not of the seeds."
        )

    def _draw(self) -> None:
        self._say("The same as figures, and as a page:")
        self._type(
            *("leaderboard", "--phase", PHASE, "--store", self._store),
            *("--figures", str(self._folder / "figures"), "--html", str(self._page)),
        )

    def _suggest(self) -> None:
        store = shlex.join(("--store", self._store))
        again = f"{store} {shlex.join(self._kept)} --runs {shlex.quote(str(self._folder / 'runs'))}"
        self._say("Next things to try:")
        for command, what in (
            (f"serve {store}", "the page at the address that it prints, and the service for a system of your own"),
            (f"corpus sample {self._task} --part {PHASE} -n 10", "what is translated"),
            (f"leaderboard --phase {PHASE} {store} --latex", "the table for a paper; also --csv and --json"),
            (f"admin verify {store}", "score every round again"),
            (f"compete BNMT-EL-VALUE BNMT-REPLAY --seeds 3 --phase {PHASE} {again}", "other seeds"),
            ("systems", "all systems, and where they are from"),
        ):
            self._console.print(f"  banditmt {command}", soft_wrap=True)
            self._console.print(f"      {what}", style="dim")

    def _type(self, *words: str) -> None:
        """Run a command as if it had been typed, and show it; what stops it stops the demo."""
        from simulator.cli import app  # which knows this command, too

        self._console.print(f"$ banditmt {shlex.join(words)}", style="bold cyan", soft_wrap=True)
        code = int(app(list(words), prog_name="banditmt", standalone_mode=False) or 0)
        if code:
            raise typer.Exit(code)

    def _say(self, text: str) -> None:
        self._console.print(f"\n{text}", markup=False)

    @contextmanager
    def _opened_store(self) -> Iterator[Store]:
        store = open_store(self._store)
        store.prepare()
        try:
            yield store
        finally:
            store.close()
