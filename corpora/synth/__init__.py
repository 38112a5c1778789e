"""Generates German-English product text and news. The same seed gives the same bytes on every machine.

The rest of the package needs only ``CorpusGenerator``. Its text is tokenised and lowercased, so that cleaning does not
change it.
"""

from corpora.synth.generator import SYNTHETIC, CorpusGenerator

__all__ = ["SYNTHETIC", "CorpusGenerator"]
