"""The cleaning of Sokolov et al. 2017, section 2, step by step, with a count of what each step does.

The order is that of the paper: non-printing characters, Unicode punctuation, lowercase, pre-tokenisation, tokenisation
(all as in the Moses scripts), then decimal points, and last the filters. Compounds are not split. One step is ours:
character references such as ``&amp;`` are decoded first. Text that is tokenised already keeps its tokens.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from corpora.entities import decode_entities
from corpora.non_printing import drop_non_printing
from corpora.parallel import ordered_map
from corpora.task import Pair

if TYPE_CHECKING:
    from corpora.moses import FastNormalizer, FastTokenizer

MAX_CHARACTERS = 10_000  # no sentence of 150 tokens has more; longer text is not tokenised
CHUNK_SIZE = 1000  # pairs per message to another process

Sides = tuple[str, str]
CleaningStep = Callable[[str, str], Sides | None]  # returns None to remove the pair


@dataclass(frozen=True, slots=True)
class CleaningSettings:
    """The languages and the length limit of a corpus, and whether its text is tokenised already."""

    source: str  # language code
    target: str
    max_tokens: int
    tokenised: bool = False


@dataclass(slots=True)
class CleaningCounts:
    """The number of pairs read, and of pairs that each step changed and removed."""

    read: int = 0
    changed: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)

    @property
    def kept(self) -> int:
        """The number of pairs that no step removed."""
        return self.read - sum(self.removed.values())

    def add(self, other: "CleaningCounts") -> None:
        """Add the counts of other pairs."""
        self.read += other.read
        for mine, theirs in ((self.changed, other.changed), (self.removed, other.removed)):
            for step, number in theirs.items():
                mine[step] = mine.get(step, 0) + number

    def as_record(self) -> dict[str, int]:
        """Return the counts for ``task.json``: pairs read, and pairs removed by each step."""
        return {"read": self.read, **self.removed}


_CONTRACTION = re.compile(r"([^\W\d_]') s\b")
_ELISION = re.compile(r"\b([^\W\d_]')\s+(?=[^\W\d_])")


def pretokenise(text: str, language: str) -> str:
    """Rejoin what earlier tools split: ``it' s`` in English, ``l' homme`` in French."""
    if language == "en":
        return _CONTRACTION.sub(r"\1s", text)
    return _ELISION.sub(r"\1", text) if language == "fr" else text


_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_NUMERAL = re.compile(r"\d+(?:[.,]\d+)*")


def point_decimals(text: str) -> str:
    """Replace decimal commas by points: ``1,5`` becomes ``1.5``.

    So does ``1,000``, which the rule cannot distinguish. This is a known error, the same on both sides.
    """
    return _DECIMAL.sub(".", text)


def has_many_numerals(source: str) -> bool:
    """Return whether more than one token is a numeral: mostly product codes and sizes, which no system can learn."""
    return sum(1 for token in source.split() if _NUMERAL.fullmatch(token)) > 1


@cache
def _normaliser(language: str) -> "FastNormalizer":
    from corpora.moses import FastNormalizer  # sacremoses takes a second to load, and most commands do not need it

    return FastNormalizer(language)


@cache
def _tokeniser(language: str) -> "FastTokenizer":
    from corpora.moses import FastTokenizer

    return FastTokenizer(language)


def normalise_punctuation(text: str, language: str) -> str:
    """Replace Unicode punctuation by ASCII punctuation."""
    return _normaliser(language).normalize(text)


def tokenise(text: str, language: str) -> str:
    """Split off punctuation, without escaping characters for XML."""
    return " ".join(_tokeniser(language).tokenize(text, escape=False))


def separate_by_single_spaces(text: str) -> str:
    """Replace every run of whitespace by one space, and remove it at both ends."""
    return " ".join(text.split())


def _on_both(transform: Callable[[str], str]) -> CleaningStep:
    return lambda source, target: (transform(source), transform(target))


def _by_language(transform: Callable[[str, str], str], settings: CleaningSettings) -> CleaningStep:
    return lambda source, target: (transform(source, settings.source), transform(target, settings.target))


def _filter(keep: Callable[[str, str], bool]) -> CleaningStep:
    return lambda source, target: (source, target) if keep(source, target) else None


def _is_short(source: str, target: str, max_tokens: int) -> bool:
    return max(len(source.split()), len(target.split())) <= max_tokens


def cleaning_steps(settings: CleaningSettings) -> dict[str, CleaningStep]:
    """Return the steps by name, in their order.

    The Moses scripts are not idempotent: tokenised once more, ``it 's`` becomes ``it ' s``. So text that is tokenised
    already keeps its punctuation, its tokens and its decimal commas.
    """
    return {
        f"more than {MAX_CHARACTERS:,} characters": _filter(lambda s, t: max(len(s), len(t)) <= MAX_CHARACTERS),
        "non-printing characters": _on_both(drop_non_printing),
        "entities": _on_both(decode_entities),
        **(_steps_for_tokenised_text() if settings.tokenised else _steps_for_raw_text(settings)),
        "empty side": _filter(lambda source, target: bool(source and target)),
        "several numerals": _filter(lambda source, _: not has_many_numerals(source)),
        f"more than {settings.max_tokens} tokens": _filter(partial(_is_short, max_tokens=settings.max_tokens)),
    }


def _steps_for_raw_text(settings: CleaningSettings) -> dict[str, CleaningStep]:
    return {
        "punctuation": _by_language(normalise_punctuation, settings),
        "lowercase": _on_both(str.lower),
        "pre-tokenise": _by_language(pretokenise, settings),
        "tokenise": _by_language(tokenise, settings),
        "decimal points": _on_both(point_decimals),
    }


def _steps_for_tokenised_text() -> dict[str, CleaningStep]:
    return {"lowercase": _on_both(str.lower), "single spaces": _on_both(separate_by_single_spaces)}


class Cleaner:
    """Applies the steps to pairs, and counts what they do."""

    def __init__(self, settings: CleaningSettings) -> None:
        self._steps = list(cleaning_steps(settings).items())
        self.counts = CleaningCounts()
        for name, _ in self._steps:
            self.counts.changed[name] = self.counts.removed[name] = 0

    def clean(self, pair: Pair) -> Pair | None:
        """Return the clean pair, or None if a step removes it."""
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


def _clean_chunk(settings: CleaningSettings, chunk: list[Pair]) -> tuple[list[Pair], CleaningCounts]:
    cleaner = Cleaner(settings)
    cleaned = [clean for pair in chunk if (clean := cleaner.clean(pair)) is not None]
    return cleaned, cleaner.counts


def clean_all(
    pairs: Iterable[Pair], settings: CleaningSettings, counts: CleaningCounts, *, processes: int = 1
) -> Iterator[Pair]:
    """Yield clean pairs in order and in bounded memory, and add to ``counts``."""
    counts.add(Cleaner(settings).counts)  # so that steps which do nothing are listed as well
    stream = iter(pairs)
    chunks = iter(lambda: list(itertools.islice(stream, CHUNK_SIZE)), [])
    for cleaned, chunk_counts in ordered_map(partial(_clean_chunk, settings), chunks, processes=processes):
        counts.add(chunk_counts)
        yield from cleaned
