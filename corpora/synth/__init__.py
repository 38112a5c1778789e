"""Synthetic German-English product text and news, the same bytes for the same seed on every machine.

``Generator`` is all that the rest of the room needs. Its text is tokenised and lowercased already, so that cleaning
changes nothing.
"""

from corpora.synth.generator import SYNTHETIC, Generator

__all__ = ["SYNTHETIC", "Generator"]
