"""A background system of a small text, trained once for all tests."""

from functools import cache

from learners.adaptation.statistical.model import Background
from tests.learners.tiny import sentences


@cache
def background() -> Background:
    return Background.train(sentences(120))
