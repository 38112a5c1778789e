"""The words of the synthetic corpus and what each may be combined with; README.md beside describes the files."""

from functools import cache

from corpora.synth.lexicon.entries import Lexicon
from corpora.synth.lexicon.reader import Reader


class LexiconError(ValueError):
    """The lexicon's files break their own rules."""


@cache
def load() -> Lexicon:
    """The whole lexicon, read once per process."""
    reader = Reader()
    lexicon = reader.read()
    if reader.mistakes:
        raise LexiconError(f"{len(reader.mistakes)} mistakes in the lexicon, the first: {reader.mistakes[0]}")
    return lexicon
