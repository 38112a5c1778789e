"""Recognises text in a script without spaces between words, which has to be segmented before it is scored.

A task scores translations by tokens, and whitespace separates tokens. In such text, a whole clause is one token.
"""

import re
from collections import Counter
from typing import NamedTuple

from corpora.task import Pair
from task.languages import LanguagePair

MIN_SHARE = 0.2  # of the characters of a text; the rest may be Latin names, digits and punctuation


class _Script(NamedTuple):
    """The characters of a script, and the mean length of their runs above which a run is a clause, not a word."""

    run: re.Pattern[str]
    max_mean_length: float


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_SCRIPTS = (
    _Script(re.compile(f"[{_HAN}{_KANA}]+"), 4.0),
    _Script(re.compile("[\u0e01-\u0edf]+"), 10.0),  # Thai and Lao
    _Script(re.compile("[\u1000-\u109f]+"), 12.0),  # Burmese
    _Script(re.compile("[\u1780-\u17dd]+"), 12.0),  # Khmer
)


class SegmentationCheck:
    """Looks at all pairs of a corpus before cleaning, and says which side is not segmented into words."""

    def __init__(self) -> None:
        self._sides = (_SideCounts(), _SideCounts())

    def add(self, pair: Pair) -> None:
        """Count the characters of a pair."""
        for side, text in zip(self._sides, pair[:2], strict=True):
            side.add(text)

    def warning(self, languages: LanguagePair) -> str | None:
        """Return one line for the user if a side needs segmentation, else None."""
        found = [code for code, side in zip(languages, self._sides, strict=True) if side.is_unsegmented]
        if not found:
            return None
        return (
            f"the text in {' and '.join(found)} has no spaces between words, but scores count tokens that spaces"
            " separate: segment it into words first, and import it with banditmt corpus import --tokenised"
        )


class _SideCounts:
    """The characters of one side, and its runs of characters of each script."""

    def __init__(self) -> None:
        self._characters = 0
        self._runs: Counter[_Script] = Counter()
        self._run_characters: Counter[_Script] = Counter()

    def add(self, text: str) -> None:
        self._characters += len(text)
        if text.isascii():
            return
        for script in _SCRIPTS:
            if runs := script.run.findall(text):
                self._runs[script] += len(runs)
                self._run_characters[script] += sum(map(len, runs))

    @property
    def is_unsegmented(self) -> bool:
        return any(
            characters > MIN_SHARE * self._characters and characters > script.max_mean_length * self._runs[script]
            for script, characters in self._run_characters.items()
        )
