"""The generator of the synthetic corpus: an in-domain shop and an out-of-domain newspaper."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import count as naturals
from itertools import islice
from typing import Literal, TypeVar, get_args

from corpora.errors import CorpusError
from corpora.synth import lexicon
from corpora.synth.ceiling import expected_best_score
from corpora.synth.lexicon.entries import GeneratorLexicon
from corpora.synth.news import Newspaper
from corpora.synth.random_stream import RandomStream
from corpora.synth.resampling import Resampler
from corpora.synth.retail_news import RetailNews
from corpora.synth.shop import ProductLine, Shop
from corpora.synth.topic_lexicon import topic_lexicons

GENERATOR_VERSION = "5"
SYNTHETIC = "synth "  # followed by the version and, unless the shop has all departments, by their number
CHUNK_SIZE = 2000  # lines from one random stream; another size would give another text
LINES_PER_PAGE = 20  # on average
DEPARTMENTS = 35  # one for each category of the lexicon

T = TypeVar("T")
PhaseName = Literal["mock", "dev", "training"]


def _phase_name(name: str) -> PhaseName:
    """Return the name of a phase. Raise ValueError if no phase has this name."""
    for phase in get_args(PhaseName):
        if name == phase:
            return phase
    raise ValueError(f"no phase is called {name!r}; the phases are {', '.join(get_args(PhaseName))}")


@cache
def _lexicon(departments: int | None) -> GeneratorLexicon:
    """Return the whole lexicon, or the part for this many departments and as many news topics."""
    words = lexicon.load()
    return replace(words, categories=words.categories[:departments], topics=words.topics[:departments])


@cache
def _newspaper(departments: int | None) -> Newspaper:
    words = _lexicon(departments)
    return Newspaper(topic_lexicons(words.topics, words.general), RetailNews(words))


@cache
def _shop(departments: int | None, phase: PhaseName) -> Shop:
    return Shop(_lexicon(departments), phase)


def news_chunk(seed: int, departments: int | None, index: int) -> list[tuple[str, str]]:
    """Return one chunk of out-of-domain pairs, which depends on nothing but the arguments."""
    rng, newspaper = RandomStream(seed, "news", index), _newspaper(departments)
    return [newspaper.pair(rng) for _ in range(CHUNK_SIZE)]


def shop_chunk(seed: int, departments: int | None, phase: PhaseName, index: int) -> list[ProductLine]:
    """Return one chunk of in-domain candidates, which depends on nothing but the arguments."""
    rng, shop = RandomStream(seed, phase, index), _shop(departments, phase)
    return [shop.line(rng) for _ in range(CHUNK_SIZE)]


class CorpusGenerator:
    """Generates the corpus of one seed.

    A shop with few ``departments`` has a vocabulary that is small enough for a model trained in a minute. Only with all
    departments does the corpus have the statistics of the task.
    """

    def __init__(self, seed: int, *, departments: int | None = None) -> None:
        if departments is not None and not 1 <= departments <= DEPARTMENTS:
            raise CorpusError(f"the shop cannot have {departments:,} departments; choose 1 to {DEPARTMENTS}")
        self.seed = seed
        self.departments = departments

    @property
    def name(self) -> str:
        """The generator's name in the description of a task. With the seed, it identifies the text."""
        return f"{SYNTHETIC}{GENERATOR_VERSION}" + (f"/{self.departments}" if self.departments else "")

    @classmethod
    def named(cls, name: str, seed: int) -> "CorpusGenerator":
        """Return the generator with this name. Raise CorpusError for another version, whose text differs."""
        found = re.fullmatch(rf"{SYNTHETIC}{GENERATOR_VERSION}(?:/([1-9][0-9]*))?", name)
        if not found:
            raise CorpusError(f"cannot generate the text of {name!r}: this is {SYNTHETIC}{GENERATOR_VERSION}")
        return cls(seed, departments=int(found[1]) if found[1] else None)

    def out_of_domain(self, count: int) -> Iterator[tuple[str, str]]:
        """Yield German and English lines of the newspaper."""
        return islice(_chained(news_chunk, self.seed, self.departments), count)

    def in_domain(self, phase: str, count: int) -> Iterator[tuple[str, str]]:
        """Yield German and English lines of the shop in the order of the phase, with the task's share of duplicates."""
        return ((line.german, line.english) for line in islice(self._shop_lines(phase), count))

    def in_domain_documents(self, phase: str, count: int) -> Iterator[tuple[str, str, str]]:
        """Yield the same lines in another order, with the document of each: a page of products of one category.

        The lines of a page stay in their order. Pages come in random order.
        """
        rng, lines = RandomStream(self.seed, phase, "pages"), islice(self._shop_lines(phase), count)
        for number in naturals():
            pages: dict[str, list[ProductLine]] = {}
            for line in islice(lines, LINES_PER_PAGE * (self.departments or DEPARTMENTS)):
                pages.setdefault(line.category, []).append(line)
            if not pages:
                return
            categories = sorted(pages)
            while categories:
                category = categories.pop(rng.below(len(categories)))
                for line in pages[category]:
                    yield line.german, line.english, f"{category} {number}"

    def _shop_lines(self, phase: str) -> Iterator[ProductLine]:
        candidates = _chained(shop_chunk, self.seed, self.departments, _phase_name(phase))
        return Resampler(RandomStream(self.seed, phase, "mixture")).stream(candidates)

    def ceiling(self, phase: str, score: Callable[[str, str], float], sample: int = 1000) -> float:
        """Return the expected score of the best possible output, estimated on ``sample`` lines; see ``ceiling.py``."""
        shop = _shop(self.departments, _phase_name(phase))
        return expected_best_score(shop, RandomStream(self.seed, phase, "ceiling"), score, sample)


def _chained(make_chunk: Callable[..., list[T]], *address: object) -> Iterator[T]:
    """Yield the lines of all chunks in order."""
    for index in naturals():
        yield from make_chunk(*address, index)
