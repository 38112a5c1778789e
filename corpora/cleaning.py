"""The cleaning of the task paper (card A4), step by step, with a count of what each step did.

The order is the paper's: non-printing characters, Unicode punctuation, lowercase, pre-tokenisation, tokenisation (all
as the Moses scripts do it), then decimal points, and last the filters. Compounds are left whole.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from corpora.characters import drop_non_printing
from corpora.parallel import ordered_map
from corpora.task import Pair

if TYPE_CHECKING:
    from corpora.moses import FastNormalizer, FastTokenizer

MAX_CHARACTERS = 10_000  # no sentence of 150 tokens has more; spares the tokeniser what is no sentence
CHUNK = 1000  # pairs per message to another process

Sides = tuple[str, str]
Step = Callable[[str, str], Sides | None]  # None removes the pair


@dataclass(frozen=True, slots=True)
class Settings:
    """What cleaning has to know of a corpus."""

    source: str  # language codes
    target: str
    max_tokens: int


@dataclass(slots=True)
class Counts:
    """How many pairs went in, and how many each step changed and removed."""

    read: int = 0
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        return self.read - sum(self.removed.values())

    def add(self, other: "Counts") -> None:
        self.read += other.read
        for mine, theirs in ((self.changed, other.changed), (self.removed, other.removed)):
            for step, number in theirs.items():
                mine[step] = mine.get(step, 0) + number

    def as_record(self) -> dict[str, int]:
        """For ``task.json``: pairs read, and removed by each step that removes any."""
        return {"read": self.read, **self.removed}


_CONTRACTION = re.compile(r"([^\W\d_]') s\b")
_ELISION = re.compile(r"\b([^\W\d_]')\s+(?=[^\W\d_])")


def pretokenise(text: str, language: str) -> str:
    """Mend what earlier tools tore apart: ``it' s`` in English, ``l' homme`` in French."""
    if language == "en":
        return _CONTRACTION.sub(r"\1s", text)
    return _ELISION.sub(r"\1", text) if language == "fr" else text


_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")


def point_decimals(text: str) -> str:
    """``1,5`` becomes ``1.5``. A rule on commas cannot tell ``1,000`` from it: known harm, the same on both sides."""
    return _DECIMAL.sub(".", text)


def has_many_numerals(source: str) -> bool:
    """More than one token that is a number: mostly product codes and sizes, which nobody can learn."""
    return sum(1 for token in source.split() if _NUMERAL.fullmatch(token)) > 1


@cache
def _normaliser(language: str) -> "FastNormalizer":
    from corpora.moses import FastNormalizer  # sacremoses takes a second to load, which most commands can spare

    return FastNormalizer(language)


@cache
def _tokeniser(language: str) -> "FastTokenizer":
    from corpora.moses import FastTokenizer

    return FastTokenizer(language)


def normalise_punctuation(text: str, language: str) -> str:
    """Replace Unicode punctuation by its plain forms."""
    return _normaliser(language).normalize(text)


def tokenise(text: str, language: str) -> str:
    """Split off punctuation; characters are not escaped for XML, since nobody here reads XML."""
    return " ".join(_tokeniser(language).tokenize(text, escape=False))


def _on_both(transform: Callable[[str], str]) -> Step:
    return lambda source, target: (transform(source), transform(target))


def _by_language(transform: Callable[[str, str], str], settings: Settings) -> Step:
    return lambda source, target: (transform(source, settings.source), transform(target, settings.target))


def _filter(keep: Callable[[str, str], bool]) -> Step:
    return lambda source, target: (source, target) if keep(source, target) else None


def _is_short(source: str, target: str, max_tokens: int) -> bool:
    return max(len(source.split()), len(target.split())) <= max_tokens


def steps(settings: Settings) -> dict[str, Step]:
    """The steps in their order, by name."""
    return {
        f"more than {MAX_CHARACTERS:,} characters": _filter(lambda s, t: max(len(s), len(t)) <= MAX_CHARACTERS),
        "non-printing characters": _on_both(drop_non_printing),
        "punctuation": _by_language(normalise_punctuation, settings),
        "lowercase": _on_both(str.lower),
        "pre-tokenise": _by_language(pretokenise, settings),
        "tokenise": _by_language(tokenise, settings),
        "decimal points": _on_both(point_decimals),
        "empty side": _filter(lambda source, target: bool(source and target)),
        "several numerals": _filter(lambda source, _: not has_many_numerals(source)),
        f"more than {settings.max_tokens} tokens": _filter(partial(_is_short, max_tokens=settings.max_tokens)),
    }


class Cleaner:
    """Sends pairs through the steps and counts."""

    def __init__(self, settings: Settings) -> None:
        self._steps = list(steps(settings).items())
        self.counts = Counts()
        for name, _ in self._steps:
            self.counts.changed[name] = self.counts.removed[name] = 0

    def clean(self, pair: Pair) -> Pair | None:
        """The clean pair, or None if a step removed it."""
        self.counts.read += 1
        sides: Sides = (pair.source, pair.target)
        for name, step in self._steps:
            after = step(*sides)
            if after is None:
                self.counts.removed[name] += 1
                return None
            if after != sides:
                self.counts.changed[name] += 1
                sides = after
        return Pair(*sides, " ".join(drop_non_printing(pair.document).split()))


def _clean_chunk(settings: Settings, chunk: list[Pair]) -> tuple[list[Pair], Counts]:
    cleaner = Cleaner(settings)
    cleaned = [clean for pair in chunk if (clean := cleaner.clean(pair)) is not None]
    return cleaned, cleaner.counts


def clean_all(pairs: Iterable[Pair], settings: Settings, counts: Counts, *, processes: int = 1) -> Iterator[Pair]:
    """Clean a stream of pairs on several cores; the order stays, memory is bounded, and ``counts`` grows."""
    counts.add(Cleaner(settings).counts)  # names every step, also those that will do nothing
    stream = iter(pairs)
    chunks = iter(lambda: list(itertools.islice(stream, CHUNK)), [])
    for cleaned, chunk_counts in ordered_map(partial(_clean_chunk, settings), chunks, processes=processes):
        counts.add(chunk_counts)
        yield from cleaned
