"""Generators that any process can import: numbered sentences, or failures."""

import multiprocessing
import os
import signal
from collections.abc import Iterator
from itertools import repeat

from corpora.errors import CorpusError


class FakeGenerator:
    """Yields numbered sentences that contain the seed."""

    def __init__(self, seed: int, *, departments: int | None = None) -> None:
        self._seed = seed
        self.name = f"synth 0/{departments}"

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        return ((f"das ist nachricht {self._seed} x{n} .", f"this is news {self._seed} x{n} .") for n in range(count))

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        return ((f"{phase} ware {self._seed} x{n}", f"{phase} good {self._seed} x{n}") for n in range(count))

    def in_domain_documents(self, phase: str, count: int) -> Iterator[tuple[str, str, str]]:
        return ((*pair, f"page {n // 3}") for n, pair in enumerate(self.in_domain(phase, count)))


class FailingGenerator(FakeGenerator):
    """Fails in the shortest phase, while the other parts never end."""

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        return repeat(("endlos", "endless"))

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        if phase == "mock":
            raise CorpusError("no mock today")
        return super().in_domain(phase, count)


class TerminatingGenerator(FakeGenerator):
    """Terminates its command as soon as something is written, and else never ends."""

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        yield from repeat(("endlos", "endless"), 1_000)
        is_child = multiprocessing.parent_process() is not None
        os.kill(os.getppid() if is_child else os.getpid(), signal.SIGTERM)
        yield from repeat(("endlos", "endless"))
