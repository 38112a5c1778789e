"""A generator that can be told from any process: numbered sentences, or trouble."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from itertools import repeat

from corpora.errors import CorpusError


class FakeGenerator:
    """Numbered sentences that carry the seed."""

    def __init__(self, seed: int, *, departments: int | None = None) -> None:
        self._seed = seed
        self.name = f"synth 0/{departments}"

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        return ((f"das ist nachricht {self._seed} x{n} .", f"this is news {self._seed} x{n} .") for n in range(count))

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        return ((f"{phase} ware {self._seed} x{n}", f"{phase} good {self._seed} x{n}") for n in range(count))


class FailingGenerator(FakeGenerator):
    """Fails in the shortest phase, while the others would go on for ever."""

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        return repeat(("endlos", "endless"))

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        if phase == "mock":
            raise CorpusError("no mock today")
        return super().in_domain(phase, count)


class TerminatingGenerator(FakeGenerator):
    """Has the command that asked for it terminated as soon as something is written, and would go on for ever."""

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        yield from repeat(("endlos", "endless"), 1_000)
        is_child = multiprocessing.parent_process() is not None
        os.kill(os.getppid() if is_child else os.getpid(), signal.SIGTERM)
        yield from repeat(("endlos", "endless"))
