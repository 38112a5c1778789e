"""Recall of content words by how often they were confirmed before: R0, R1 and R0+1 (Simianer et al. 2019, section 2.2).

A translator corrects each translation before the next sentence is translated, so a system could have learned every word
of the earlier references. R0 is the recall of content words that no earlier reference has: a system must know them by
itself. R1 is the recall of those that exactly one earlier reference has: a system must learn them from one example.
R0+1 counts both together. Recall is of word types per sentence: neither alignment nor the number of occurrences counts.
"""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from importlib.metadata import version
from typing import NamedTuple

import stopwordsiso

from leaderboard.metrics.packing import pack_counts, unpack_counts

WordFilter = Callable[[str], bool]  # does a token count?


class UnknownLanguageError(ValueError):
    """A language for which there is no list of stop words; the message names the nearest that has one."""


class RecallCounts(NamedTuple):
    """Words found and words wanted, by the number of earlier references that have them: 0, 1, and so on.

    Counts of sentences add up to those of a corpus.
    """

    found: tuple[int, ...]
    wanted: tuple[int, ...]

    @classmethod
    def zero(cls, max_repetitions: int = 1) -> "RecallCounts":
        """Return the counts of no sentence."""
        return cls((0,) * (max_repetitions + 1), (0,) * (max_repetitions + 1))

    def plus(self, other: "RecallCounts") -> "RecallCounts":
        """Return the counts of both texts together (``+`` on a named tuple would concatenate)."""
        return RecallCounts(
            tuple(mine + theirs for mine, theirs in zip(self.found, other.found, strict=True)),
            tuple(mine + theirs for mine, theirs in zip(self.wanted, other.wanted, strict=True)),
        )

    def recall(self, *repetitions: int) -> float | None:
        """Return the recall in percent of words with these numbers of earlier references, counted together.

        ``recall(0)`` is R0, ``recall(1)`` R1, and ``recall(0, 1)`` R0+1.

        Returns:
            None where no word was wanted: that is neither a success nor a failure.
        """
        wanted = sum(self.wanted[number] for number in repetitions)
        return 100 * sum(self.found[number] for number in repetitions) / wanted if wanted else None

    def to_bytes(self) -> bytes:
        """Return one byte for each count that is below 128."""
        return pack_counts((*self.found, *self.wanted))

    @classmethod
    def from_bytes(cls, packed: bytes, max_repetitions: int = 1) -> "RecallCounts":
        """Return the counts that ``to_bytes`` packed; raise ValueError for anything else."""
        half = max_repetitions + 1
        counts = unpack_counts(packed, 2 * half, "recall counts")
        return cls(tuple(counts[:half]), tuple(counts[half:]))


class ConfirmedWords:
    """Which words the references so far have confirmed, and how often.

    Args:
        counts: Tells which tokens count; ``content_words(language)`` for words, ``every_token`` for subwords.
        max_repetitions: The highest number of earlier references with which a word counts.
        known: Words that do not count because the training text of the base model has them. With it, recall is of
            novel words only (Simianer et al. 2019, section 5.3).
    """

    def __init__(self, counts: WordFilter, *, max_repetitions: int = 1, known: Collection[str] = frozenset()) -> None:
        self._counts, self._max, self._known = counts, max_repetitions, known
        self._references: dict[str, int] = {}  # by word, the number of earlier references that have it

    def add(self, reference: str) -> list[list[str]]:
        """Return the words of a reference by the number of earlier references that have them, and remember it.

        The reference is split on whitespace. Words come in the order of the sentence.
        """
        wanted: list[list[str]] = [[] for _ in range(self._max + 1)]
        for word in dict.fromkeys(filter(self._counts, reference.split())):
            earlier = self._references.get(word, 0)
            self._references[word] = earlier + 1
            if earlier <= self._max and word not in self._known:
                wanted[earlier].append(word)
        return wanted


def count_recall(hypothesis: str, wanted: Sequence[Collection[str]]) -> RecallCounts:
    """Count the wanted words, by number of repetitions, that a hypothesis has."""
    shared_with = set(hypothesis.split()).intersection
    return RecallCounts(tuple([len(shared_with(each)) for each in wanted]), tuple(map(len, wanted)))


class RecallCounter:
    """Counts recall sentence by sentence, in the order in which they were translated; see ``ConfirmedWords``."""

    def __init__(self, counts: WordFilter, *, max_repetitions: int = 1, known: Collection[str] = frozenset()) -> None:
        self._confirmed = ConfirmedWords(counts, max_repetitions=max_repetitions, known=known)

    def add(self, hypothesis: str, reference: str) -> RecallCounts:
        """Count one sentence, split on whitespace, and remember its reference."""
        return count_recall(hypothesis, self._confirmed.add(reference))


def total_recall(many: Iterable[RecallCounts], max_repetitions: int = 1) -> RecallCounts:
    """Return the counts of a whole corpus."""
    found, wanted = [0] * (max_repetitions + 1), [0] * (max_repetitions + 1)
    for counts in many:
        for number in range(max_repetitions + 1):
            found[number] += counts.found[number]
            wanted[number] += counts.wanted[number]
    return RecallCounts(tuple(found), tuple(wanted))


def content_words(language: str) -> WordFilter:
    """Return a filter that keeps content words: tokens with a letter or digit that are not stop words.

    Stop words are recognised in any case, content words are compared as they are written.

    Raises:
        UnknownLanguageError: There is no list of stop words for this language.
    """
    if not has_stop_words(language):
        raise UnknownLanguageError(
            f"there are no stop words for language {language!r}{_suggestion(language)}; "
            f"docs/evaluation.md lists the {len(stopwordsiso.langs())} languages that have them"
        )
    stop_words = frozenset(stopwordsiso.stopwords(_base(language)))

    def is_content_word(token: str) -> bool:
        return token.lower() not in stop_words and any_word(token)

    return is_content_word


def has_stop_words(language: str) -> bool:
    """Return whether there is a list of stop words for a language."""
    return bool(stopwordsiso.has_lang(_base(language)))


def _suggestion(language: str) -> str:
    """Return a question that names the nearest language with stop words; nothing if none is near."""
    code, known = language.lower(), sorted(stopwordsiso.langs())
    near = [each for each in known if code.startswith(each)] or difflib.get_close_matches(code, known, 1, cutoff=0.4)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _base(language: str) -> str:
    """Return the language without its region or script: ``pt`` for ``pt-BR``."""
    return language.lower().split("-")[0]


def any_word(token: str) -> bool:
    """Keep every token with a letter or digit: for languages without a list of stop words."""
    return any(map(str.isalnum, token))


def every_token(token: str) -> bool:  # noqa: ARG001 (a filter that keeps everything)
    """Keep every token: for recall of subwords."""
    return True


def recall_signature(language: str | None, *, novel: bool = False, max_repetitions: int = 1) -> str:
    """Return what the numbers mean, in the manner of sacreBLEU.

    Args:
        language: Whose stop words do not count. If there is no list of them, every word counts; None for all tokens.
        novel: Whether only words count that the training text does not have.
        max_repetitions: The highest number of earlier references with which a word counts.
    """
    if language is None:
        words = "words:all"
    elif has_stop_words(language):
        words = f"words:content|stop:{language.lower()}/iso-{version('stopwordsiso')}"
    else:
        words = "words:any|stop:none"
    scope = "novel" if novel else "all"
    return f"R|k:0-{max_repetitions}|{words}|scope:{scope}|nrefs:1|case:mixed|tok:none|v:1"
