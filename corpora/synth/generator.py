"""The generator: an out-of-domain newspaper and an in-domain shop, streamed in chunks that any process can make."""

import re
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import count as naturals
from itertools import islice
from multiprocessing import get_context
from typing import Literal, TypeVar

from corpora.errors import CorpusError
from corpora.synth import lexicon
from corpora.synth.ceiling import expected_best
from corpora.synth.lexicon.entries import GeneratorLexicon
from corpora.synth.mixture import Mixture
from corpora.synth.news import Newspaper
from corpora.synth.random_stream import RandomStream
from corpora.synth.retail_news import RetailNews
from corpora.synth.shop import Line, Shop
from corpora.synth.topic_lexicon import topic_lexicons

GENERATOR_VERSION = "5"
SYNTHETIC = "synth "  # a version follows, and the number of departments unless the shop has all
CHUNK = 2000
DEPARTMENTS = 35  # one for each category of the lexicon

T = TypeVar("T")
ServedPhase = Literal["mock", "dev", "training"]
PHASES: tuple[ServedPhase, ...] = ("mock", "dev", "training")


def _served(name: str) -> ServedPhase:
    for phase in PHASES:
        if name == phase:
            return phase
    raise ValueError(f"no phase is called {name!r}: wanted one of {', '.join(PHASES)}")


@cache
def _words(departments: int | None) -> GeneratorLexicon:
    """All words, or those of a shop with so few departments, and of a newspaper with as many topics."""
    words = lexicon.load()
    return replace(words, categories=words.categories[:departments], topics=words.topics[:departments])


@cache
def _newspaper(departments: int | None) -> Newspaper:
    words = _words(departments)
    return Newspaper(topic_lexicons(words.topics, words.general), RetailNews(words))


@cache
def _shop(departments: int | None, phase: ServedPhase) -> Shop:
    return Shop(_words(departments), phase)


def news_chunk(seed: int, departments: int | None, index: int) -> list[tuple[str, str]]:
    """One chunk of out-of-domain pairs; depends on nothing but its arguments."""
    rng, paper = RandomStream(seed, "news", index), _newspaper(departments)
    return [paper.pair(rng) for _ in range(CHUNK)]


def shop_chunk(seed: int, departments: int | None, phase: ServedPhase, index: int) -> list[Line]:
    """One chunk of in-domain candidates; depends on nothing but its arguments."""
    rng, shop = RandomStream(seed, phase, index), _shop(departments, phase)
    return [shop.line(rng) for _ in range(CHUNK)]


class Generator:
    """Makes the corpus of one seed. The number of processes changes how long it takes, and not one byte.

    With few ``departments`` the world is small enough for a model that is trained in a minute; the statistics of the
    task hold for the whole shop only.
    """

    def __init__(self, seed: int, *, processes: int = 1, departments: int | None = None) -> None:
        if departments is not None and not 1 <= departments <= DEPARTMENTS:
            raise CorpusError(f"a shop with {departments:,} departments: there are 1 to {DEPARTMENTS}")
        self.seed = seed
        self.processes = processes
        self.departments = departments

    @property
    def name(self) -> str:
        """What a task's description calls it: enough to make the same text again, with the seed."""
        return f"{SYNTHETIC}{GENERATOR_VERSION}" + (f"/{self.departments}" if self.departments else "")

    @classmethod
    def named(cls, name: str, seed: int) -> "Generator":
        """The generator that a description tells of; text of another version cannot be made again."""
        found = re.fullmatch(rf"{SYNTHETIC}{GENERATOR_VERSION}(?:/([1-9][0-9]*))?", name)
        if not found:
            raise CorpusError(f"{name!r} cannot be made again: this is {SYNTHETIC}{GENERATOR_VERSION}")
        return cls(seed, departments=int(found[1]) if found[1] else None)

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        """(German, English) of the newspaper."""
        return islice(self._chunks(news_chunk, self.seed, self.departments), count)

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        """(German, English) of the shop, in the order served, with the task's share of repeats."""
        candidates = self._chunks(shop_chunk, self.seed, self.departments, _served(phase))
        return islice(Mixture(RandomStream(self.seed, phase, "mixture")).stream(candidates), count)

    def ceiling(self, phase: str, score: Callable[[str, str], float], sample: int = 1000) -> float:
        """The mean score of the best possible output when all is known but the editors' whims; see ``ceiling.py``."""
        return expected_best(
            _shop(self.departments, _served(phase)), RandomStream(self.seed, phase, "ceiling"), score, sample
        )

    def _chunks(self, make: Callable[..., list[T]], *address: object) -> Iterator[T]:
        """Chunks in order, made by this process or by several at once."""
        if self.processes <= 1:
            for index in naturals():
                yield from make(*address, index)
        with ProcessPoolExecutor(self.processes, mp_context=get_context("spawn")) as pool:
            indices = naturals()
            ahead: deque[Future[list[T]]] = deque()
            try:
                while True:
                    while len(ahead) < 2 * self.processes:
                        ahead.append(pool.submit(make, *address, next(indices)))
                    yield from ahead.popleft().result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
