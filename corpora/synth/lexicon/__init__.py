"""The words of the synthetic corpus, and which of them may be combined.

README.md in this directory describes the files.
"""

from functools import cache

from corpora.synth.lexicon.entries import GeneratorLexicon
from corpora.synth.lexicon.reader import LexiconReader


class LexiconError(ValueError):
    """The lexicon's files break the rules of their notation."""


@cache
def load() -> GeneratorLexicon:
    """Return the whole lexicon. It is read once per process."""
    reader = LexiconReader()
    lexicon = reader.read()
    if reader.mistakes:
        raise LexiconError(f"the lexicon has {len(reader.mistakes)} mistakes; the first is {reader.mistakes[0]}")
    return lexicon
